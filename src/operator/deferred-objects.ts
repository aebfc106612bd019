/**
 * Applies the objects that the manifests of a new cluster contain as data, because their kinds are defined by the same manifests: ConfigMap
 * lattice-deferred-objects. Each waits until the API server serves its kind.
 *
 * They are applied once for each content of the ConfigMap, which an annotation records: later changes belong to others, such as
 * `clusterctl upgrade`, which writes new versions into the inventory.
 */
import { err, ok, sha256Hex, sleep, type Result } from "#base";
import { DEFERRED_OBJECTS, parseDeferredObjects } from "#bundle";
import { bindLeaderService, FIELD_MANAGER, type LeaderService, type LeaderServiceContext, startLoop } from "#controller-runtime";
import { canonicalJson, configMaps, describeObject, field, parseJson, type ConfigMap, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";

export type DeferredObjectsShared = {
  /** The operator's namespace. */
  readonly home: string;
};

const APPLIED_OBJECTS_ANNOTATION = "lattice.dev/applied-objects";
/** The ConfigMap is there before the operator, and changes only when the manifests are applied again. */
const LOOK_MS = 30_000;
/** While an object cannot be applied. */
const RETRY_MS = 2_000;

/** Also the declaration for RBAC. The role for the objects themselves comes with the ConfigMap. */
export const deferredObjectsService: LeaderService<DeferredObjectsShared> = {
  name: "deferred-objects",
  reads: [configMaps],
  homePermissions: [{ resource: configMaps, verbs: ["patch"] }],
  start: (context) => Promise.resolve(ok(startLoop(context.signal, (signal) => follow(context, signal)))),
};

export const bindDeferredObjects = (shared: DeferredObjectsShared) => bindLeaderService(deferredObjectsService, shared);

type ServiceContext = LeaderServiceContext & DeferredObjectsShared;

async function follow(context: ServiceContext, signal: AbortSignal): Promise<Result<void, string>> {
  const { cache, clock, home, logger } = context;
  let logged: string | undefined;
  for (;;) {
    const map = cache.get(configMaps, { namespace: home, name: DEFERRED_OBJECTS });
    const applied = map === undefined || isApplied(map) ? ok(0) : await applyDeferred(context.client, map, signal);
    if (!applied.ok && applied.error !== logged && !signal.aborted)
      logger.warn("objects of the cluster's manifests cannot be applied yet", { reason: applied.error });
    if (applied.ok && applied.value > 0) logger.info("objects of the cluster's manifests were applied", { objects: applied.value });
    logged = applied.ok ? undefined : applied.error;
    if (!(await sleep(clock, applied.ok ? LOOK_MS : RETRY_MS, signal))) return ok(undefined);
  }
}

function digestOf({ data = {} }: ConfigMap): string {
  return sha256Hex(canonicalJson(data)).slice(0, 32);
}

function isApplied(map: ConfigMap): boolean {
  return map.metadata.annotations?.[APPLIED_OBJECTS_ANNOTATION] === digestOf(map);
}

/** How many; the annotation last. */
async function applyDeferred(client: KubeClient, map: ConfigMap, signal: AbortSignal): Promise<Result<number, string>> {
  const objects = parseDeferredObjects(map);
  if (!objects.ok) return objects;
  for (const object of objects.value) {
    const resource = await servedResource(client, object, signal);
    if (!resource.ok) return resource;
    const answer = await client.apply(resource.value, object, { fieldManager: FIELD_MANAGER, force: true, signal });
    if (!answer.ok) return err(`${describeObject(object)}: ${answer.error.message}`);
  }
  const { name, namespace } = map.metadata;
  const patch = { metadata: { annotations: { [APPLIED_OBJECTS_ANNOTATION]: digestOf(map) } } };
  const marked = await client.patch(configMaps, { name, namespace }, { type: "merge", patch }, { fieldManager: FIELD_MANAGER, signal });
  return marked.ok ? ok(objects.value.length) : err(`ConfigMap ${name}: ${marked.error.message}`);
}

/** By discovery: a definition is established before it is listed there. */
async function servedResource(client: KubeClient, object: KubeObject, signal: AbortSignal): Promise<Result<Resource, string>> {
  const { apiVersion, kind } = object;
  const answer = await client.raw(apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`, { signal });
  if (!answer.ok && answer.error.kind !== "not-found") return err(answer.error.message);
  const listed = answer.ok ? parseJson(answer.value) : undefined;
  const resources = listed?.ok === true ? field(listed.value, "resources") : undefined;
  for (const entry of Array.isArray(resources) ? resources : []) {
    const plural = field(entry, "name");
    if (typeof plural !== "string" || plural.includes("/") || field(entry, "kind") !== kind) continue;
    const [version = "", group = ""] = apiVersion.split("/").toReversed();
    return ok({ group, version, kind, plural, namespaced: field(entry, "namespaced") === true });
  }
  return err(`${describeObject(object)}: the API server does not serve ${kind} of ${apiVersion} yet`);
}
