/** `lattice graph`: every declared edge, and whether it is open; as text, JSON, Mermaid, an SVG picture, or for Graphviz. */
import { ok } from "#base";
import { drawGraph, formatGraph, type GraphFormat } from "#compile";
import { terminalTable } from "./terminal/terminal-table.ts";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { describeProblems, readSource, type SourceFlags } from "./world-source.ts";

export type GraphFlags = SourceFlags & { readonly output: GraphFormat | "svg" };

export async function printGraph(io: CliIo, flags: GraphFlags): Promise<ExitCode> {
  const source = await readSource(io, flags);
  if (!source.ok) return reportFailure(io, source.error);
  const { world, problems, notes, namespace } = source.value;
  if (problems.length > 0) return reportFailure(io, describeProblems(problems));
  for (const note of notes) io.stderr(`warning: ${note}\n`);
  const part = { namespace, table: terminalTable(io) };
  const text = flags.output === "svg" ? drawGraph(world, part) : ok(formatGraph(world, flags.output, part));
  if (!text.ok) return reportFailure(io, text.error);
  io.stdout(text.value);
  return 0;
}
