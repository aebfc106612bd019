/** What the processes of the bench `agents` send to each other. */
export type CellRequest = { readonly kind: "start"; readonly agents: number } | { readonly kind: "restart" };

/** `handshake`: what agents need to connect. The key of the authority is of this bench only. */
export type CellReply =
  | {
      readonly kind: "listening";
      readonly port: number;
      readonly healthPort: number;
      readonly authority: string;
      readonly authorityKey: string;
    }
  | { readonly kind: "state"; readonly connected: number; readonly changes: number; readonly heartbeats: number };

export type AgentsRequest = {
  readonly kind: "connect";
  readonly port: number;
  readonly first: number;
  readonly count: number;
  readonly authority: string;
  readonly authorityKey: string;
};

export type AgentsReply = { readonly kind: "started"; readonly signedPerSecond: number };
