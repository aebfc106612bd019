/**
 * Config objects that a service no longer compiles to, but that a pod may still be started with.
 *
 * Until a rollout is complete, ReplicaSets of the old version replace pods that are lost, and a container that restarts reads its Secrets
 * again; Flagger's primary is of the old version until it is promoted. ReplicaSets are read only when there is something to delete.
 */
import { ok, type Result } from "#base";
import type { CacheReader, ReadRuntime } from "#controller-runtime";
import type { LatticeService } from "#crds";
import {
  configMaps,
  describeObject,
  externalSecrets,
  fieldAt,
  formatSelector,
  isJsonObject,
  replicaSets,
  requirementsOf,
  secretsByMetadata,
  type Deployment,
  type KubeObject,
  type ReplicaSet,
} from "#kube";
import { ownedObjects } from "./owned-objects.ts";
import type { ServiceWorkload } from "./rollout.ts";

export type RetainedConfig = {
  /** `Secret shop/api-secrets`. */
  readonly object: string;
  /** `ReplicaSet api-5d8f`: the object that may start pods with it. */
  readonly by: string;
};

/** An object that may start pods, with the config objects that its pods read: `Secret api-secrets`. */
export type PodSource = { readonly name: string; readonly references: ReadonlySet<string> };

/** `unread`: the Deployment whose ReplicaSets could not be read, and may use any object. */
export type PodSources = { readonly sources: readonly PodSource[]; readonly unread?: string };

/** Config objects in the namespace of the service's pods that it no longer compiles to. `wanted`: the objects that it compiles to now. */
export function staleConfig(
  service: LatticeService,
  { wanted, workload }: { readonly wanted: readonly KubeObject[]; readonly workload: ServiceWorkload },
  cache: CacheReader,
): readonly KubeObject[] {
  const [running] = runningIn(workload);
  if (running === undefined) return [];
  const names = new Set(wanted.map(describeObject));
  return ownedObjects(service, cache, [configMaps, secretsByMetadata, externalSecrets])
    .map(({ object }) => object)
    .filter((object) => !names.has(describeObject(object)) && object.metadata.namespace === running.metadata.namespace);
}

/** Those that pods may still be started with. */
export function retainedBy(stale: readonly KubeObject[], { sources, unread }: PodSources): readonly RetainedConfig[] {
  if (unread !== undefined) return stale.map((object) => ({ object: describeObject(object), by: unread }));
  return stale.flatMap((object) => {
    const by = sources.find(({ references }) => references.has(referenceTo(object)))?.name;
    return by === undefined ? [] : [{ object: describeObject(object), by }];
  });
}

/** All objects that may start pods of the service. */
export async function podSourcesOf(workload: ServiceWorkload, runtime: Pick<ReadRuntime, "client" | "signal">): Promise<PodSources> {
  const found: PodSource[] = [];
  for (const deployment of runningIn(workload)) {
    const sources = await sourcesIn(deployment, runtime);
    if (!sources.ok) return { sources: found, unread: `Deployment ${deployment.metadata.name}` };
    found.push(...sources.value);
  }
  return { sources: found };
}

function runningIn({ deployment, target, copies = [] }: ServiceWorkload): readonly Deployment[] {
  return [deployment, target, ...copies].flatMap((one) => one ?? []);
}

/** An ExternalSecret creates a Secret, which is deleted with it. */
function referenceTo({ kind, metadata, ...object }: KubeObject): string {
  if (kind !== externalSecrets.kind) return `${kind} ${metadata.name}`;
  const target = fieldAt(object, "spec", "target", "name");
  return `Secret ${typeof target === "string" ? target : metadata.name}`;
}

/** A Deployment has one per version, and keeps ten old ones unless its revisionHistoryLimit says otherwise. */
const MAX_REPLICA_SETS = 100;

/** The template of the Deployment, and its ReplicaSets that have pods or want some. */
async function sourcesIn(
  deployment: Deployment,
  { client, signal }: Pick<ReadRuntime, "client" | "signal">,
): Promise<Result<readonly PodSource[], undefined>> {
  const { namespace, name, uid } = deployment.metadata;
  const labelSelector = formatSelector(requirementsOf(deployment.spec?.selector ?? {}));
  const found = await client.list(replicaSets, { namespace, labelSelector, limit: MAX_REPLICA_SETS }, { signal });
  if (!found.ok || (found.value.metadata?.continue ?? "") !== "") return { ok: false, error: undefined };
  const active = found.value.items.filter(
    (one) => isActive(one) && one.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true,
  );
  const own: PodSource = { name: `Deployment ${name}`, references: referencesIn(deployment.spec?.template) };
  return ok([...active.map((one) => ({ name: `ReplicaSet ${one.metadata.name}`, references: referencesIn(one.spec?.template) })), own]);
}

function isActive({ spec, status }: ReplicaSet): boolean {
  return (spec?.replicas ?? 1) > 0 || (status?.replicas ?? 0) > 0;
}

/** Fields of a pod that name a ConfigMap or a Secret, in `name` or `secretName`. */
const REFERENCES: ReadonlyMap<string, string> = new Map([
  ["configMapRef", "ConfigMap"],
  ["configMapKeyRef", "ConfigMap"],
  ["configMap", "ConfigMap"],
  ["secretRef", "Secret"],
  ["secretKeyRef", "Secret"],
  ["secret", "Secret"],
]);

/** `Secret api-secrets`, for everything that the pod template names. */
function referencesIn(template: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const open: unknown[] = [template];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) open.push(...(value as readonly unknown[]));
    if (!isJsonObject(value)) continue;
    for (const [field, inner] of Object.entries(value)) {
      const kind = REFERENCES.get(field);
      const name = kind === undefined ? undefined : (fieldAt(inner, "name") ?? fieldAt(inner, "secretName"));
      if (typeof name === "string") found.add(`${kind} ${name}`);
      open.push(inner);
    }
  }
  return found;
}
