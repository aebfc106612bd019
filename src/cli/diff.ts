/**
 * `lattice diff`: what would change. Against other files, or compiled objects, the two are compared as they are; against a cluster, the files
 * are taken to be applied over what it has.
 *
 * Exit code 0: nothing differs, 1: something does, 2: it could not be found out.
 */
import { ok, type Result } from "#base";
import {
  compileAll,
  diffObjects,
  formatDiff,
  isCompiled,
  isSame,
  loadWorld,
  type CompiledWorld,
  type DiffOptions,
  type WorldDiff,
} from "#compile";
import { APPLIED_ANNOTATION, FIELD_MANAGER, OWNER_ANNOTATION, OWNER_LABEL } from "#controller-runtime";
import { describeObject, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { atFirst } from "#service-compiler";
import type { ClusterFlags } from "./cluster.ts";
import { allProblems, tellProblems } from "./compile.ts";
import { misunderstood, type CliIo, type ExitCode } from "./io.ts";
import { readCompiled, readLatticeResources, readSecretObjects, readShareable, withCluster, type Live } from "./live-world.ts";
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
  const found = against === undefined ? await againstCluster(io, marking) : await againstFiles(io, marking, against);
  if (!found.ok) return misunderstood(io, found.error);
  if (found.value === undefined) return 2;
  io.stdout(flags.output === "json" ? `${JSON.stringify(found.value, undefined, 2)}\n` : formatDiff(found.value));
  return isSame(found.value) ? 0 : 1;
}

/** What the operator puts on objects to know them again. */
const BOOKKEEPING: ReadonlySet<string> = new Set([OWNER_LABEL, OWNER_ANNOTATION, APPLIED_ANNOTATION]);

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

function againstCluster(io: CliIo, flags: DiffFlags): Promise<Found> {
  return withCluster(io, flags, async (client) => {
    const live = await readLive(client, io.signal);
    if (!live.ok) return live;
    for (const note of live.value.notes) io.stderr(`warning: ${note}\n`);
    const { documents, objects } = live.value.value;
    const loaded = await readWorld(io, flags.filename, flags, documents);
    if (!loaded.ok) return loaded;
    const compiled = compileAll(loaded.value.world);
    const [own, others] = splitErrors(loaded.value, compiled);
    if (toldProblems(io, loaded.value, { errors: own })) return ok(undefined);
    for (const key of others.keys()) io.stderr(`warning: ${key} is in the cluster and cannot be compiled here; it is left out\n`);
    const { world } = loaded.value;
    const kept = objects.filter(
      (object) =>
        !belongsToAny(
          object,
          [...others.keys()].map((key) => world.idOf(key) ?? key),
        ),
    );
    const options: DiffOptions = {
      liveManager: FIELD_MANAGER,
      bookkeeping: BOOKKEEPING,
      trustDomain: (namespace) => world.trustDomainOf(namespace),
    };
    return ok(diffObjects(kept, wantedIn(compiled, kept), options));
  });
}

type LiveSide = { readonly documents: Parameters<typeof loadWorld>[0]; readonly objects: readonly KubeObject[] };

async function readLive(client: KubeClient, signal: AbortSignal): Promise<Result<Live<LiveSide>, string>> {
  const resources = await readLatticeResources(client, signal);
  if (!resources.ok) return resources;
  const secrets = await readSecretObjects(client, signal);
  if (!secrets.ok) return secrets;
  const shareable = await readShareable(client, signal);
  if (!shareable.ok) return shareable;
  const objects = await readCompiled(client, signal);
  if (!objects.ok) return objects;
  const documents = [...resources.value.value, ...secrets.value.value, ...shareable.value.value];
  const notes = [...new Set([resources, secrets, shareable, objects].flatMap(({ value }) => value.notes))];
  return ok({ value: { documents, objects: objects.value.value }, notes });
}

type Errors = CompiledWorld["errors"];

/** What is wrong with a service of the files stops the question; what is wrong with another in the cluster does not. */
function splitErrors({ places }: FilesWorld, { errors }: CompiledWorld): readonly [Errors, Errors] {
  const isOwn = ([key]: readonly [string, unknown]) => places.has(key);
  return [new Map([...errors].filter(isOwn)), new Map([...errors].filter((entry) => !isOwn(entry)))];
}

function belongsToAny({ metadata }: KubeObject, ids: readonly string[]): boolean {
  return ids.includes(`${metadata.namespace ?? ""}/${metadata.labels?.["app.kubernetes.io/name"] ?? ""}`);
}

/** Fields that are written once count only for an object that is not there yet. */
function wantedIn({ namespaces, compiled }: CompiledWorld, live: readonly KubeObject[]): readonly KubeObject[] {
  const there = new Set(live.map(describeObject));
  return [...namespaces, ...compiled.map((one) => (there.has(describeObject(one.object)) ? one.object : atFirst(one)))];
}
