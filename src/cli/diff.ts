/**
 * `lattice diff`: shows what would change. Other files, or compiled objects, are compared as they are; for a cluster, the files are
 * compared as if they were applied to it.
 *
 * Exit code 0: no differences, 1: differences, 2: the comparison failed.
 */
import { ok, type Result } from "#base";
import { compileAll, diffObjects, formatDiff, isCompiled, isSame, type CompiledWorld, type DiffOptions, type WorldDiff } from "#compile";
import type { KubeObject } from "#kube";
import type { ClusterFlags } from "./cluster.ts";
import { allProblems, printProblems } from "./compile.ts";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { BOOKKEEPING, diffWithCluster } from "./live-diff.ts";
import { readWorld, type FilesWorld, type SecretFlags, type WorldFlags } from "./world-files.ts";

export type DiffFlags = WorldFlags &
  SecretFlags &
  ClusterFlags & {
    readonly filename: readonly string[];
    readonly against?: readonly string[];
    readonly output: "text" | "json";
  };

export async function diff(io: CliIo, flags: DiffFlags): Promise<ExitCode> {
  const { against, kubeconfig, context } = flags;
  if (against !== undefined && (kubeconfig !== undefined || context !== undefined))
    return reportFailure(io, "compare with --against FILES or with a cluster (--kubeconfig, --context), not with both");
  // secret values that are not given are placeholders, and count as unchanged
  const marking = { ...flags, placeholderSecrets: true };
  const found = against === undefined ? await diffWithCluster(io, marking) : await againstFiles(io, marking, against);
  if (!found.ok) return reportFailure(io, found.error);
  if (found.value === undefined) return 2;
  io.stdout(flags.output === "json" ? `${JSON.stringify(found.value, undefined, 2)}\n` : formatDiff(found.value));
  return isSame(found.value) ? 0 : 1;
}

/** undefined: the errors were printed. */
type Found = Result<WorldDiff | undefined, string>;

async function againstFiles(io: CliIo, flags: DiffFlags, against: readonly string[]): Promise<Found> {
  const before = await readSide(io, against, flags);
  if (!before.ok || before.value === undefined) return before.ok ? ok(undefined) : before;
  const after = await readSide(io, flags.filename, flags);
  if (!after.ok || after.value === undefined) return after.ok ? ok(undefined) : after;
  const { world } = after.value;
  const patched = { before: before.value.patched, after: after.value.patched };
  const options: DiffOptions = { bookkeeping: BOOKKEEPING, trustDomain: (namespace) => world.trustDomainOf(namespace), patched };
  return ok(diffObjects(before.value.objects, after.value.objects, options));
}

type Side = { readonly objects: readonly KubeObject[]; readonly patched: readonly KubeObject[]; readonly world: FilesWorld["world"] };

/** Compiled objects among the files are compared as they are: either side may be the output of an earlier `lattice compile`. */
async function readSide(io: CliIo, paths: readonly string[], flags: DiffFlags): Promise<Result<Side | undefined, string>> {
  const loaded = await readWorld(io, paths, flags);
  if (!loaded.ok) return loaded;
  const { world, leftOut } = loaded.value;
  const compiled = compileAll(world);
  if (reportProblems(io, loaded.value, compiled)) return ok(undefined);
  const given = leftOut.map(({ object }) => object).filter(isCompiled);
  return ok({ world, objects: [...compiled.namespaces, ...compiled.objects, ...given], patched: compiled.patched });
}

function reportProblems(io: CliIo, loaded: FilesWorld, compiled: Pick<CompiledWorld, "errors">): boolean {
  const problems = allProblems(loaded, compiled);
  if (problems.length > 0) printProblems(io, problems);
  return problems.length > 0;
}
