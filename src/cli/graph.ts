/** `lattice graph`: every edge that somebody declared, and whether it is open; as text, for Graphviz, or as JSON. */
import { formatGraph, type GraphFormat } from "#compile";
import { misunderstood, type CliIo, type ExitCode } from "./io.ts";
import { describeProblems, readSource, type SourceFlags } from "./world-source.ts";

export async function printGraph(io: CliIo, flags: SourceFlags & { readonly output: GraphFormat }): Promise<ExitCode> {
  const source = await readSource(io, flags);
  if (!source.ok) return misunderstood(io, source.error);
  const { world, problems, notes } = source.value;
  if (problems.length > 0) return misunderstood(io, describeProblems(problems));
  for (const note of notes) io.stderr(`warning: ${note}\n`);
  io.stdout(formatGraph(world, flags.output));
  return 0;
}
