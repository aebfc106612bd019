/**
 * Compares files with a cluster, as if they were applied to it.
 *
 * Everything is compiled twice, with the files and without them. An object is compared when it belongs to a service of the files, or when
 * the two compilations differ in it; all others are taken from the cluster. So a service that is not in the files is never reported for
 * unrelated reasons: that it failed, is not applied yet, or has only its claims left.
 */
import { ok, type Result } from "#base";
import { compileAll, describeServiceError, diffObjects, type CompiledWorld, type WorldDiff, type WorldDocument } from "#compile";
import { APPLIED_ANNOTATION, FIELD_MANAGER, KEPT_KINDS, OWNER_ANNOTATION, OWNER_LABEL, PRUNE_ANNOTATION } from "#controller-runtime";
import { namespaceLabels } from "#controllers";
import { canonicalJson, describeObject, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { atFirst } from "#service-compiler";
import type { DiffFlags } from "./diff.ts";
import { allProblems, printProblems } from "./compile.ts";
import type { CliIo } from "./io.ts";
import { readCompiled, readLatticeResources, readSecretObjects, readShareable, withCluster, type Live } from "./live-world.ts";
import { readWorld, type FilesWorld } from "./world-files.ts";

/** Annotations and labels by which the operator recognizes its objects. */
export const BOOKKEEPING: ReadonlySet<string> = new Set([OWNER_LABEL, OWNER_ANNOTATION, APPLIED_ANNOTATION]);

/** undefined: the files have errors, which were printed on stderr. */
export function diffWithCluster(io: CliIo, given: DiffFlags): Promise<Result<WorldDiff | undefined, string>> {
  return withCluster(io, given, async (client, { namespace }) => {
    const flags = namespace === undefined ? given : { ...given, fallbackNamespace: namespace };
    const read = await readLive(client, io.signal);
    if (!read.ok) return read;
    for (const note of read.value.notes) io.stderr(`warning: ${note}\n`);
    const { documents, objects } = read.value.value;
    const loaded = await readWorld(io, flags.filename, flags, documents);
    if (!loaded.ok) return loaded;
    const without = await readWorld(io, [], flags, documents);
    if (!without.ok) return without;
    const sides = { loaded: loaded.value, before: compileAll(without.value.world), after: compileAll(loaded.value.world) };
    const problems = allProblems(loaded.value, { errors: ofFiles(sides) });
    if (problems.length > 0) printProblems(io, problems);
    if (problems.length > 0) return ok(undefined);
    for (const warning of brokenByFiles(sides)) io.stderr(`warning: ${warning}\n`);
    const { world } = loaded.value;
    const trustDomain = (namespace: string) => world.trustDomainOf(namespace);
    const patched = { before: sides.before.patched, after: sides.after.patched };
    const options = { liveManager: FIELD_MANAGER, bookkeeping: BOOKKEEPING, trustDomain, patched };
    const names = { ids: idsOf(loaded.value, without.value), failed: new Set(failedIn(sides).map((key) => world.idOf(key) ?? key)) };
    return ok(diffObjects(objects, applied(objects, sides, names), options));
  });
}

type LiveSide = { readonly documents: readonly WorldDocument[]; readonly objects: readonly KubeObject[] };

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

/** The cluster's own resources compiled without and with the files. */
type Sides = { readonly loaded: FilesWorld; readonly before: CompiledWorld; readonly after: CompiledWorld };

function ofFiles({ loaded: { places }, after }: Sides): CompiledWorld["errors"] {
  return new Map([...after.errors].filter(([key]) => places.has(key)));
}

/** Services of the cluster that cannot be compiled, with the files or without them. */
function failedIn({ loaded: { places }, after }: Sides): readonly string[] {
  return [...after.errors.keys()].filter((key) => !places.has(key));
}

/** Services of the cluster that could be compiled without the files. */
function brokenByFiles(sides: Sides): readonly string[] {
  return failedIn(sides).flatMap((key) => {
    if (sides.before.errors.has(key)) return [];
    const [first] = sides.after.errors.get(key) ?? [];
    const why = first === undefined ? "" : `: ${describeServiceError(first).replaceAll("\n", "; ")}`;
    return [`${key}, which is in the cluster, cannot be compiled with these files${why}; its objects are not changed`];
  });
}

/** The namespaces where the services of the files run, and where they ran before. */
function idsOf({ places, world }: FilesWorld, without: FilesWorld): ReadonlySet<string> {
  return new Set([...places.keys()].flatMap((key) => [world.idOf(key), without.world.idOf(key)].filter((id) => id !== undefined)));
}

type Names = { /** Of the files. */ readonly ids: ReadonlySet<string>; readonly failed: ReadonlySet<string> };
type Named = ReadonlyMap<string, KubeObject>;

/** The objects of the cluster after the files are applied: those that the files determine as compiled, all others unchanged. */
function applied(live: readonly KubeObject[], { before, after }: Sides, { ids, failed }: Names): readonly KubeObject[] {
  const [there, old] = [byName(live), byName([...before.namespaces, ...before.objects])];
  const wanted = wantedOver(there, after);
  const namespaces = new Set([...ids].map((id) => id.slice(0, id.indexOf("/"))));
  const closing = new Set(after.namespaces.map(describeObject));
  const made = byName([...after.namespaces, ...after.objects]);
  const isDecided = (name: string, object: KubeObject) =>
    !failed.has(serviceOf(object)) &&
    (ids.has(serviceOf(object)) || (closing.has(name) && namespaces.has(namespaceOf(object))) || !isSame(old.get(name), made.get(name)));
  const names = [...new Set([...there.keys(), ...wanted.keys()])];
  return names.flatMap((name) => {
    const [has, gets] = [there.get(name), wanted.get(name)];
    const object = has ?? gets;
    const decided = object !== undefined && isDecided(name, object);
    const result = decided ? (gets ?? (has !== undefined && isKept(has) ? has : undefined)) : has;
    return result === undefined ? [] : [result];
  });
}

function byName(objects: readonly KubeObject[]): Named {
  return new Map(objects.map((object) => [describeObject(object), object]));
}

function isSame(one: KubeObject | undefined, other: KubeObject | undefined): boolean {
  return one === undefined || other === undefined ? one === other : canonicalJson(one) === canonicalJson(other);
}

/** Fields that are written once are compared only for new objects. */
function wantedOver(there: Named, { namespaces, compiled }: CompiledWorld): Named {
  const labelled = namespaces.map((object) => withLabelsOfOthers(object, there.get(describeObject(object))));
  return byName([...labelled, ...compiled.map((one) => (there.has(describeObject(one.object)) ? one.object : atFirst(one)))]);
}

/** Labels of a namespace that another client set, and that the operator does not change. */
function withLabelsOfOthers(wanted: KubeObject, live: KubeObject | undefined): KubeObject {
  if (wanted.kind !== "Namespace" || live === undefined) return wanted;
  return { ...wanted, metadata: { ...wanted.metadata, labels: namespaceLabels(live, wanted) } };
}

function serviceOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ""}/${metadata.labels?.["app.kubernetes.io/name"] ?? ""}`;
}

function namespaceOf({ kind, metadata }: KubeObject): string {
  return kind === "Namespace" ? metadata.name : (metadata.namespace ?? "");
}

/** The operator does not delete it. */
function isKept({ kind, metadata }: KubeObject): boolean {
  return KEPT_KINDS.has(kind) || metadata.annotations?.[PRUNE_ANNOTATION] === "never";
}
