/** Reads the state of the operator's own cluster: its nodes, its parent, the Service in front of its cell, and its Cluster API objects once it owns them. */
import { map, type Result } from "#base";
import { DEFAULT_POOL, POOL_LABEL } from "#cluster-compiler";
import type { FailureCause } from "#controller-runtime";
import { latticeClusters, parseLatticeCluster, type LatticeCluster } from "#crds";
import { nodes as nodeKind, secretsByMetadata, services, type Node } from "#kube";
import type { CapiView } from "./capi-view.ts";
import { cellAddressProblem } from "./cell-address.ts";
import { LINK_IS_NEW_MS } from "./deadlines.ts";
import { identityOf } from "./identity.ts";
import { CELL_SERVICE, PARENT_CONFIG_SECRET } from "./names.ts";
import type { CellAddresses, ObservedOwn, OwnNodes } from "./observed.ts";
import { observeManagement, type ManagementContext } from "./own-management.ts";
import type { CellSlot } from "./ports.ts";
import { childrenWithFormerAddress, type ServedEndpoints } from "./served-endpoints.ts";
import type { UplinkSlot } from "./uplink.ts";

type OwnContext = ManagementContext & { readonly home: string; readonly uplink: UplinkSlot; readonly cell: CellSlot };

export async function observeOwn(raw: LatticeCluster, capi: CapiView, context: OwnContext): Promise<Result<ObservedOwn, FailureCause>> {
  const { cache, clock, home, uplink } = context;
  const parsed = parseLatticeCluster(raw);
  const cluster = parsed.ok ? parsed.value : raw;
  const nodes = cache.list(nodeKind);
  const { endpoints } = identityOf(cache, home);
  const service = cache.get(services, { namespace: home, name: CELL_SERVICE });
  const { name } = raw.metadata;
  const names = cache.list(latticeClusters).map(({ metadata }) => metadata.name);
  const children = names.filter((other) => other !== name).toSorted();
  const management = await observeManagement(name, parsed.ok ? parsed.value : undefined, context);
  return map(management, (observed) => ({
    kind: "own",
    now: clock.now(),
    cluster,
    errors: parsed.ok ? [] : parsed.error,
    nodes: ownNodes(nodes),
    capi,
    hasParent: cache.get(secretsByMetadata, { namespace: home, name: PARENT_CONFIG_SECRET }) !== undefined,
    parent: uplink.current?.parent,
    uplink: uplink.current,
    parentAwayMs: uplink.awaySince === undefined ? undefined : clock.monotonic() - uplink.awaySince,
    cellProblem: endpoints === undefined ? undefined : cellAddressProblem(endpoints.current, service, nodes),
    management: observed,
    addresses: endpoints === undefined ? undefined : cellAddresses(endpoints, children, context),
    children,
  }));
}

function cellAddresses(
  served: ServedEndpoints,
  children: readonly string[],
  { cell: { running }, clock }: Pick<OwnContext, "cell" | "clock">,
): CellAddresses {
  const linkIsNew = running === undefined || clock.now() - running.since < LINK_IS_NEW_MS;
  if (served.isRemoved) return { served, children, linkIsNew };
  return { served, children: served.former.length === 0 ? [] : childrenWithFormerAddress(children, served, running?.link), linkIsNew };
}

const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

function ownNodes(nodes: readonly Node[]): OwnNodes {
  const byPool = new Map<string, { readonly total: number; readonly ready: number }>();
  for (const node of nodes) {
    const labels = node.metadata.labels ?? {};
    if (Object.hasOwn(labels, CONTROL_PLANE_LABEL)) continue;
    const pool = labels[POOL_LABEL] ?? DEFAULT_POOL;
    const { total, ready } = byPool.get(pool) ?? { total: 0, ready: 0 };
    byPool.set(pool, { total: total + 1, ready: ready + (isReady(node) ? 1 : 0) });
  }
  const versions = nodes
    .flatMap(({ status }) => status?.nodeInfo?.["kubeletVersion"] ?? [])
    .filter((version) => typeof version === "string");
  return { ready: nodes.filter(isReady).length, total: nodes.length, kubernetesVersion: versions.toSorted()[0], byPool };
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}
