/** Reads what a pass over a LatticeCluster needs: caches, the access record, and the running cell. */
import { map, ok, type Result } from "#base";
import { capiNamespace, CLUSTER_NAME_LABEL, controlPlaneName, DEFAULT_POOL, tokenSecretName } from "#cluster-compiler";
import type { FailureCause, ReadRuntime } from "#controller-runtime";
import { parseLatticeCluster, type LatticeCluster } from "#crds";
import {
  capiClusters,
  capiMachineDeployments,
  capiMachines,
  fieldAt,
  isJsonObject,
  kubeadmControlPlanes,
  namespaces,
  secrets,
  secretsByMetadata,
  isBeingDeleted,
  type KubeObject,
} from "#kube";
import { describeErrors } from "../acceptance/conditions.ts";
import { adoptedCluster } from "./adoption.ts";
import { capiViewOf, type CapiView } from "./capi-view.ts";
import { hasRegistered } from "./child-ownership.ts";
import { kubeconfigDigest, KUBECONFIG_ANNOTATION } from "./child-secrets.ts";
import { compileChild } from "./compile-child.ts";
import { LINK_IS_NEW_MS } from "./deadlines.ts";
import { existingObjects, keptObjects } from "./existing-objects.ts";
import { identityOf, type OwnIdentity } from "./identity.ts";
import { kubeconfigSecretOf } from "./names.ts";
import type { CellView, ChildObjects, ClusterProblem, ObservedChild, ObservedCluster } from "./observed.ts";
import type { OwnApiServer } from "./own-kubeconfig.ts";
import { observeOwn } from "./observe-own.ts";
import { observeOwnership, type ObservedOwnership } from "./observe-ownership.ts";
import { childKinds } from "./owned-kinds.ts";
import type { CellSlot, RunningCell } from "./ports.ts";
import {
  cellClosing,
  cellDeleting,
  cellNotOwner,
  endpointsRemoved,
  missingCredentials,
  missingProvider,
  notACell,
  otherCell,
  terminatingNamespace,
} from "./refusals.ts";
import type { UplinkSlot } from "./uplink.ts";

/** State that all passes share. */
export type ClusterShared = {
  /** The operator's namespace. */
  readonly home: string;
  readonly cell: CellSlot;
  readonly uplink: UplinkSlot;
  /** The API server of this cluster; absent: the operator does not know its address, and writes no kubeconfig for Cluster API. */
  readonly apiServer?: OwnApiServer | undefined;
};

export type ObserveContext = ReadRuntime & ClusterShared;

export async function observeCluster(raw: LatticeCluster, context: ObserveContext): Promise<Result<ObservedCluster, FailureCause>> {
  const identity = identityOf(context.cache, context.home);
  const { name } = raw.metadata;
  if (name === identity.name) return observeOwn(raw, observeCapi(raw, context), context);
  // one state of the cell for the whole pass: a cell that starts meanwhile has records that the ownership was not decided with
  const { running } = context.cell;
  const owned = await observeOwnership(raw, { ...context, running });
  if (!owned.ok) return owned;
  const child = observeChild(raw, identity, { ...context, ...owned.value, running });
  const { cell } = child;
  const needsSecrets = child.objects !== undefined || (isBeingDeleted(raw) && child.ownership !== "parent");
  const place = cell === undefined || !needsSecrets ? undefined : { name, namespace: capiNamespace(name), cell };
  const found =
    place === undefined ? ok({ hasNamespace: false, hasToken: false, hasKubeconfig: false }) : await findSecrets(place, context);
  return map(found, (has) => ({ ...child, ...has }));
}

type CacheChild = Omit<ObservedChild, "hasNamespace" | "hasToken" | "hasKubeconfig">;

type ChildContext = ObserveContext & ObservedOwnership & { readonly running: RunningCell | undefined };

function observeChild(raw: LatticeCluster, identity: OwnIdentity, context: ChildContext): CacheChild {
  const { cache, clock, home, running, ownership, exists, resume } = context;
  const { name } = raw.metadata;
  const now = clock.now();
  const parsed = parseLatticeCluster(raw);
  const cached = observeCapi(raw, context);
  // what the server was asked for is newer than the cache
  const capi = { ...cached, exists: ownership === "parent" ? exists : cached.exists && exists };
  const agent = running?.link.agents().get(name);
  const linkIsNew = running === undefined || now - running.since < LINK_IS_NEW_MS;
  const pivot = running?.pivots.view(name);
  const common = { kind: "child" as const, now, capi, agent, access: running?.access.read(name), linkIsNew, ownership, resume, pivot };
  const refused = { ...common, cluster: raw, cell: undefined, errors: [], objects: undefined };
  const leaf = notACell(identity, home);
  const view = cellView(identity, running?.trustBundle());
  if (ownership !== "parent" && view !== undefined) {
    const isNew = adoptedCluster(raw) !== undefined && !hasRegistered(common.access) && !isBeingDeleted(raw);
    return { ...refused, cluster: parsed.ok ? parsed.value : raw, cell: view, problem: isNew ? cellClosing(identity, cache) : undefined };
  }
  // before the spec, which may be of a newer schema: only a cell knows whether a child has registered
  if (view === undefined && (ownership !== "parent" || isBeingDeleted(raw))) {
    return { ...refused, cluster: parsed.ok ? parsed.value : raw, problem: leaf ?? CELL_STARTING };
  }
  if (!parsed.ok) {
    const problem = { reason: "InvalidSpec" as const, message: describeErrors(parsed.error), terminal: true };
    return { ...refused, errors: parsed.error, problem };
  }
  if (view === undefined) return { ...refused, problem: leaf ?? CELL_STARTING };
  const cluster = parsed.value;
  const withCell = { ...refused, cluster, cell: view };
  const isNew = !capi.exists && common.access === undefined;
  const refusal =
    (isNew ? (cellDeleting(identity) ?? endpointsRemoved(identity) ?? cellNotOwner(identity, cache)) : undefined) ??
    otherCell(cluster, view.name);
  const waits = refusal ?? missingCredentials(cluster, cache) ?? terminatingNamespace(capiNamespace(name), cache);
  if (waits !== undefined) return { ...withCell, problem: waits };
  const objects = compiledObjects(cluster, view, context);
  return "terminal" in objects ? { ...withCell, problem: objects } : { ...withCell, problem: undefined, objects };
}

const CELL_STARTING: ClusterProblem = { reason: "CellStarting", message: "the listeners of this cell are being started", terminal: false };

function cellView({ own, endpoints }: OwnIdentity, trustBundle: string | undefined): CellView | undefined {
  if (own === undefined || endpoints === undefined || trustBundle === undefined) return undefined;
  const { host, grpcPort, bootstrapPort, proxyPort } = endpoints.current;
  return { name: own.metadata.name, host, grpcPort, bootstrapPort, proxyPort, trustBundle };
}

function compiledObjects(cluster: LatticeCluster, cell: CellView, { cache }: ObserveContext): ChildObjects | ClusterProblem {
  const { name } = cluster.metadata;
  const namespace = capiNamespace(name);
  const { controlPlane, ...existing } = existingObjects(cache, name);
  const compiled = compileChild(cluster, { cell, controlPlane, existing });
  if (!compiled.ok) return { reason: "CompileError", message: compiled.error, terminal: true };
  const { first, rest, upgrade, later } = compiled.value;
  const planned = [...first, ...rest].map((wanted) => ("once" in wanted ? wanted.object : wanted));
  const missing = missingProvider(planned, cluster.spec.provider.type, { kinds: childKinds, cache });
  if (missing !== undefined) return missing;
  return { namespace, first, rest, usedTemplates: keptObjects(cache, namespace, later), upgrade };
}

function observeCapi(raw: LatticeCluster, { cache }: Pick<ReadRuntime, "cache">): CapiView {
  const { name } = raw.metadata;
  const namespace = capiNamespace(name);
  const controlPlane = cache.get(kubeadmControlPlanes, { namespace, name: controlPlaneName(name) });
  return capiViewOf(
    { name, pools: declaredNames(raw) },
    {
      cluster: cache.get(capiClusters, { namespace, name }),
      controlPlane,
      machineDeployments: ofCluster(cache.list(capiMachineDeployments, namespace), name),
      machines: ofCluster(cache.list(capiMachines, namespace), name),
    },
  );
}

/** Also of an invalid spec, which may be older than the schema. */
function declaredNames({ spec }: LatticeCluster): readonly string[] {
  const pools = fieldAt(spec, "nodes", "workerPools");
  return [DEFAULT_POOL, ...(isJsonObject(pools) ? Object.keys(pools) : [])];
}

function ofCluster(objects: readonly KubeObject[], name: string): readonly KubeObject[] {
  return objects.filter(({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === name);
}

type FoundSecrets = Pick<ObservedChild, "hasNamespace" | "hasToken" | "hasKubeconfig">;

/** The server is asked only for a Secret that the cache lacks: it may have been written by this pass. */
async function findSecrets(
  place: Parameters<typeof kubeconfigDigest>[0],
  { cache, client, signal }: ObserveContext,
): Promise<Result<FoundSecrets, FailureCause>> {
  const { name, namespace } = place;
  const hasNamespace =
    cache.get(namespaces, { name: namespace }) !== undefined || (await client.get(namespaces, { name: namespace }, { signal })).ok;
  if (!hasNamespace) return ok({ hasNamespace, hasToken: false, hasKubeconfig: false });
  const digest = kubeconfigDigest(place);
  const isCurrent = ({ metadata }: KubeObject) => metadata.annotations?.[KUBECONFIG_ANNOTATION] === digest;
  const find = async (secret: string, matches: (object: KubeObject) => boolean): Promise<Result<boolean, FailureCause>> => {
    const key = { namespace, name: secret };
    const cached = cache.get(secretsByMetadata, key);
    if (cached !== undefined && matches(cached)) return ok(true);
    const live = await client.get<KubeObject>(secrets, key, { signal });
    if (live.ok) return ok(matches(live.value));
    return live.error.kind === "not-found" ? ok(false) : live;
  };
  const token = await find(tokenSecretName(name), () => true);
  if (!token.ok) return token;
  return map(await find(kubeconfigSecretOf(name), isCurrent), (hasKubeconfig) => ({ hasNamespace, hasToken: token.value, hasKubeconfig }));
}
