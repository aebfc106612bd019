/** Reads the state of the operator's own cluster: its nodes, its parent, and the Service in front of its cell. */
import { ok, type Ok } from "#base";
import { DEFAULT_POOL, POOL_LABEL } from "#cluster-compiler";
import type { ReadRuntime } from "#controller-runtime";
import { parseLatticeCluster, type LatticeCluster } from "#crds";
import { nodes as nodeKind, secretsByMetadata, services, type Node } from "#kube";
import type { CapiView } from "./capi-view.ts";
import { cellAddressProblem } from "./cell-address.ts";
import { CELL_SERVICE, PARENT_CONFIG_SECRET } from "./names.ts";
import type { ObservedOwn, OwnNodes } from "./observed.ts";
import type { UplinkSlot } from "./uplink.ts";

type OwnContext = Pick<ReadRuntime, "cache" | "clock"> & { readonly home: string; readonly uplink: UplinkSlot };

export function observeOwn(raw: LatticeCluster, capi: CapiView, { cache, clock, home, uplink }: OwnContext): Ok<ObservedOwn> {
  const parsed = parseLatticeCluster(raw);
  const cluster = parsed.ok ? parsed.value : raw;
  const nodes = cache.list(nodeKind);
  const endpoints = parsed.ok ? parsed.value.spec.endpoints : undefined;
  const service = cache.get(services, { namespace: home, name: CELL_SERVICE });
  return ok({
    kind: "own",
    now: clock.now(),
    cluster,
    errors: parsed.ok ? [] : parsed.error,
    nodes: ownNodes(nodes),
    capi,
    hasParent: cache.get(secretsByMetadata, { namespace: home, name: PARENT_CONFIG_SECRET }) !== undefined,
    parent: uplink.current?.parent,
    uplink: uplink.current,
    cellProblem: endpoints === undefined ? undefined : cellAddressProblem(endpoints, service, nodes),
  });
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
