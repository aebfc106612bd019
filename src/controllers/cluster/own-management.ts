/**
 * Whether this cluster drives its own Cluster API objects, and those that it applies then.
 *
 * It is observed in every pass and never remembered. The traces of a move are read from the server and not only from the cache: a move away from here may
 * have begun since, and from then on nothing is applied.
 */
import { ok, type Result } from "#base";
import { capiNamespace } from "#cluster-compiler";
import type { CacheReader, FailureCause, ReadRuntime } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import { capiClusters, configMaps, secretsByMetadata, type KubeObject } from "#kube";
import type { KubeReader } from "#kube-client";
import { MOVE_JOURNAL, MOVE_RECORD, moveToResume, ownershipOf } from "#pivot";
import { compileOwn } from "./compile-child.ts";
import { existingObjects, keptObjects } from "./existing-objects.ts";
import { kubeconfigSecretOf } from "./names.ts";
import type { ClusterProblem, OwnClusterObjects, OwnManagement } from "./observed.ts";
import { isKubeconfigDue, type OwnApiServer } from "./own-kubeconfig.ts";
import { tracesIn, type MoveTraces } from "./move-traces.ts";
import { missingCredentials } from "./refusals.ts";

export type ManagementContext = Pick<ReadRuntime, "cache" | "client" | "clock" | "signal"> & {
  readonly apiServer?: OwnApiServer | undefined;
};

/** `cluster`: undefined if its spec is invalid. */
export async function observeManagement(
  name: string,
  cluster: LatticeCluster | undefined,
  context: ManagementContext,
): Promise<Result<OwnManagement, FailureCause>> {
  const { cache, clock, apiServer } = context;
  const namespace = capiNamespace(name);
  const cached = tracesIn(cache, namespace);
  if (ownershipOf(cached).state === "never-moved") return ok({ state: "never-moved" });
  const live = await readTraces(namespace, context);
  if (!live.ok) return live;
  const ownership = ownershipOf(live.value);
  if (ownership.state === "moving") return ok({ state: "moving", direction: live.value.hasJournal ? "out" : "in" });
  if (ownership.state === "never-moved") return ok(ownership);
  const secret = cache.get(secretsByMetadata, { namespace, name: kubeconfigSecretOf(name) });
  const isDue = apiServer !== undefined && isKubeconfigDue(secret, apiServer, clock.now());
  const resume = moveToResume(ownership, cache.isServed(capiClusters) ? cache.get(capiClusters, { namespace, name }) : undefined);
  const { state, epoch } = ownership;
  return ok({ state, epoch, objects: ownObjects(name, cluster, cache), kubeconfig: isDue ? apiServer : undefined, resume });
}

type Reading = { readonly client: KubeReader; readonly signal: AbortSignal };

async function readTraces(namespace: string, { client, signal }: Reading): Promise<Result<MoveTraces, FailureCause>> {
  const record = await client.get<KubeObject>(configMaps, { namespace, name: MOVE_RECORD }, { signal });
  if (!record.ok && record.error.kind !== "not-found") return record;
  const journal = await client.get<KubeObject>(secretsByMetadata, { namespace, name: MOVE_JOURNAL }, { signal });
  if (!journal.ok && journal.error.kind !== "not-found") return journal;
  return ok({ record: record.ok ? record.value : undefined, hasJournal: journal.ok });
}

function ownObjects(name: string, cluster: LatticeCluster | undefined, cache: CacheReader): OwnClusterObjects | ClusterProblem {
  const namespace = capiNamespace(name);
  const existing = existingObjects(cache, name);
  const { controlPlane } = existing;
  // compiled without it, a new control plane would be made in a cluster that has one
  if (controlPlane === undefined) return missing(name, namespace);
  if (cluster === undefined) return { reason: "InvalidSpec", message: "the spec is invalid", terminal: true };
  const credentials = missingCredentials(cluster, cache);
  if (credentials !== undefined) return credentials;
  const compiled = compileOwn(cluster, { ...existing, controlPlane });
  if (!compiled.ok) return { reason: "CompileError", message: compiled.error, terminal: true };
  const { objects: all, upgrade, later } = compiled.value;
  return { namespace, all, upgrade, usedTemplates: keptObjects(cache, namespace, later) };
}

function missing(name: string, namespace: string): ClusterProblem {
  const message = `this cluster owns itself, and namespace ${namespace} has no KubeadmControlPlane of ${name}; nothing is applied until its Cluster API objects are restored`;
  return { reason: "ClusterApiMissing", message, terminal: false };
}
