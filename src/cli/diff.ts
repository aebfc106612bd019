/**
 * `lattice diff`: what would change. Against other files, or compiled objects, the two are compared as they are; against a cluster, the files
 * are taken to be applied over what it has.
 *
 * Exit code 0: nothing differs, 1: something does, 2: it could not be found out.
 */
import { ok, type Result } from "#base";
import { compileAll, diffObjects, formatDiff, isCompiled, isSame, type CompiledWorld, type DiffOptions, type WorldDiff } from "#compile";
import type { KubeObject } from "#kube";
import type { ClusterFlags } from "./cluster.ts";
import { allProblems, tellProblems } from "./compile.ts";
import { misunderstood, type CliIo, type ExitCode } from "./io.ts";
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
    return misunderstood(io, "compare with --against FILES or with a cluster (--kubeconfig, --context), not with both");
  // a value that nobody gave is marked, and counts as unchanged
  const marking = { ...flags, placeholderSecrets: true };
  const found = against === undefined ? await diffWithCluster(io, marking) : await againstFiles(io, marking, against);
  if (!found.ok) return misunderstood(io, found.error);
  if (found.value === undefined) return 2;
  io.stdout(flags.output === "json" ? `${JSON.stringify(found.value, undefined, 2)}\n` : formatDiff(found.value));
  return isSame(found.value) ? 0 : 1;
}

/** undefined: what is wrong has been told. */
type Found = Result<WorldDiff | undefined, string>;

async function againstFiles(io: CliIo, flags: DiffFlags, against: readonly string[]): Promise<Found> {
  const before = await readSide(io, against, flags);
  if (!before.ok || before.value === undefined) return before.ok ? ok(undefined) : before;
  const after = await readSide(io, flags.filename, flags);
  if (!after.ok || after.value === undefined) return after.ok ? ok(undefined) : after;
  const { world } = after.value;
  const options: DiffOptions = { bookkeeping: BOOKKEEPING, trustDomain: (namespace) => world.trustDomainOf(namespace) };
  return ok(diffObjects(before.value.objects, after.value.objects, options));
}

type Side = { readonly objects: readonly KubeObject[]; readonly world: FilesWorld["world"] };

/** Compiled objects among the files are taken as they are: the output of an earlier `lattice compile` is a side as good as any. */
async function readSide(io: CliIo, paths: readonly string[], flags: DiffFlags): Promise<Result<Side | undefined, string>> {
  const loaded = await readWorld(io, paths, flags);
  if (!loaded.ok) return loaded;
  const { world, leftOut } = loaded.value;
  const compiled = compileAll(world);
  if (toldProblems(io, loaded.value, compiled)) return ok(undefined);
  const given = leftOut.map(({ object }) => object).filter(isCompiled);
  return ok({ world, objects: [...compiled.namespaces, ...compiled.objects, ...given] });
}

function toldProblems(io: CliIo, loaded: FilesWorld, compiled: Pick<CompiledWorld, "errors">): boolean {
  const problems = allProblems(loaded, compiled);
  if (problems.length > 0) tellProblems(io, problems);
  return problems.length > 0;
}
