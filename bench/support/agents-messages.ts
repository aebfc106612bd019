/** What the processes of the bench `agents` send to each other. */

/** Of one child: what its first node gets. */
export type ChildToken = { readonly cluster: string; readonly csrToken: string };

export type CellAddress = {
  /** The name of the cell. */
  readonly cell: string;
  readonly grpcPort: number;
  readonly bootstrapPort: number;
  /** PEM. */
  readonly trustBundle: string;
};

export type ApiServerRequest =
  | { readonly kind: "start"; readonly agents: number; readonly kubeconfig: string }
  | { readonly kind: "count"; readonly connectedSince: number }
  | { readonly kind: "change"; readonly cluster: string; readonly workers: number }
  | { readonly kind: "requests" };

export type ApiServerReply =
  | { readonly kind: "serving"; readonly address: CellAddress; readonly tokens: readonly ChildToken[]; readonly signedPerSecond: number }
  | { readonly kind: "counted"; readonly statusWrites: number; readonly connected: number }
  | { readonly kind: "changed" }
  /** Of all clients, without watches, leases and paths that are no resources. */
  | { readonly kind: "requested"; readonly requests: number };

export type AgentsRequest =
  | { readonly kind: "certify"; readonly address: CellAddress; readonly tokens: readonly ChildToken[] }
  | { readonly kind: "connect" };

export type AgentsReply = { readonly kind: "certified"; readonly seconds: number } | { readonly kind: "started" };
