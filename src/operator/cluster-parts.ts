/**
 * The parts of an operator that are about clusters: the cluster controller, deferred objects and certificates of webhooks, which always run, and the roles cell, agent and
 * self-manager.
 */
import type { Metrics, Result } from "#base";
import type { Bundle } from "#bundle";
import { bindController, type PartDeclaration } from "#controller-runtime";
import { CellSlot, clusterController, selfManagerController, UplinkSlot, type ClusterShared } from "#controllers";
import type { Deployment, KubeObject } from "#kube";
import type { TunnelTarget } from "#link";
import { agentService, bindAgentService } from "./agent/agent-service.ts";
import { bindCellService, cellService } from "./cell/cell-service.ts";
import { bindDeferredObjects, deferredObjectsService } from "./deferred-objects.ts";
import type { OperatorPart } from "./parts.ts";
import { bindWebhookRenewal, webhookRenewalService } from "./webhooks/webhook-renewal-service.ts";

export type ClusterPartsOptions = {
  readonly shared: ClusterShared;
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly metrics: Metrics;
  readonly childOperator: { readonly rbac: readonly KubeObject[]; readonly deployment: Deployment };
  readonly bundle: Bundle | undefined;
  readonly apiServer: Result<TunnelTarget, string> | undefined;
  /** Of the Lease of a move of Cluster API objects. */
  readonly leaseMs: number;
};

/** What the controller and the roles share. */
export function clusterState(home: string, apiServer?: ClusterPartsOptions["apiServer"]): ClusterShared {
  const server = apiServer?.ok === true ? { apiServer: { url: apiServer.value.url, ca: apiServer.value.ca } } : {};
  return { home, cell: new CellSlot(), uplink: new UplinkSlot(), ...server };
}

export const clusterDeclarations: readonly PartDeclaration[] = [
  clusterController,
  selfManagerController,
  cellService,
  agentService,
  deferredObjectsService,
  webhookRenewalService,
];

/** Those with a role are stopped until the cluster has what they need. */
export function clusterRoles({ shared, ...options }: ClusterPartsOptions): readonly OperatorPart[] {
  const { home, cell: slot, uplink } = shared;
  return [
    { name: "deferred-objects", services: [bindDeferredObjects({ home })] },
    { name: "webhook-renewal", services: [bindWebhookRenewal({ home })] },
    { name: "cell", role: "stopped", services: [bindCellService({ ...options, home, slot })] },
    { name: "agent", role: "stopped", services: [bindAgentService({ ...options, home, uplink })] },
    { name: "self-manager", role: "stopped", controllers: [bindController(selfManagerController, { home, cell: slot })] },
  ];
}
