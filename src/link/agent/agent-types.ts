/** What an agent offers to the rest of the program, and what it needs. */
import type { Clock, Logger, Result, Sensitive } from "#base";
import type { AgentHealth } from "../protocol/agent-messages.ts";
import type { AgentStateName } from "../protocol/agent-states.ts";
import type { AgentMessage, CellCommand } from "../protocol/generated/agent_pb.ts";
import type { MessageStream } from "../protocol/message-stream.ts";
import type { TunnelFrames, TunnelTarget } from "../tunnel/tunnel-types.ts";

export type AgentCredentials = {
  readonly certificate: string;
  readonly key: Sensitive<string>;
  /** PEM: the authorities of the cell. */
  readonly trustBundle: string;
};

export type AgentReport = { readonly state: AgentStateName; readonly health: AgentHealth };

/** What a command caused, one line each, or why it failed. */
export type OrderResult = Result<readonly string[], string>;

/** The cluster that is to own itself, and the namespace of its Cluster API objects. */
export type PivotOrder = { readonly cluster: string; readonly namespace: string };

export type AgentRenewal = {
  /** Whether two thirds of the certificate's life have passed. */
  due(now: number): boolean;
  /** A new key, and a request signed with it. */
  request(): Result<{ readonly csr: string; readonly key: Sensitive<string> }, string>;
};

export type AgentLinkOptions = {
  /** `host:port` of the cell. */
  readonly endpoint: string;
  readonly cell: string;
  readonly cluster: string;
  /** Read for every connection. */
  credentials(): AgentCredentials;
  readonly renewal: AgentRenewal;
  /** Stores the renewed credentials. The next connection reads them with `credentials`. */
  onRenewed(credentials: AgentCredentials): Promise<Result<void, string>>;
  /** Stores the authorities that the cell sent, when they differ from the stored ones. */
  onTrustBundle(trustBundle: string): Promise<Result<void, string>>;
  report(): Promise<AgentReport>;
  onBootstrap(manifests: Uint8Array): Promise<OrderResult>;
  onReconcile(): Promise<OrderResult>;
  /** Prepares this cluster for its own Cluster API objects; safe to repeat. Absent: a pivot is refused. */
  readonly onPivot?: ((pivot: PivotOrder) => Promise<OrderResult>) | undefined;
  readonly apiServer: TunnelTarget;
  /** The agent's half of a tunnel; resolves when it has ended. */
  serveTunnel(frames: TunnelFrames, target: TunnelTarget): Promise<void>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly version: string;
  /** Should grow with every start of the program; the link itself makes it grow with every connection. */
  generation(): bigint;
  /** Default: gRPC over TLS 1.3. */
  readonly transport?: AgentTransport | undefined;
};

export type AgentLinkStatus = {
  readonly connected: boolean;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly protocol?: number;
  /** Why the last connection ended, or could not be opened. */
  readonly lastCloseReason?: string;
};

export type AgentLink = {
  status(): AgentLinkStatus;
  /** Sends the report now if it has changed, and the request for a new certificate if one is due. */
  reportChanged(): void;
  /** `credentials` returns others than before: connects with them now instead of after a wait. */
  credentialsChanged(): void;
  close(): Promise<void>;
};

/** One connection of an agent. */
export type AgentChannel = {
  readonly control: MessageStream<CellCommand, AgentMessage>;
  /** Opens a tunnel; its first frame is sent by the caller. `closed` is called once. */
  openTunnel(closed: () => void): TunnelFrames;
  /** No new streams; open tunnels end by themselves. */
  close(): void;
};

export type AgentTransport = { open(credentials: AgentCredentials): Result<AgentChannel, string> };
