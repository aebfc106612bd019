/** What a cell offers to the rest of the program, and what it needs. */
import type { Clock, Logger, Metrics, Result, Sensitive } from "#base";
import type { AgentHealth } from "../protocol/agent-messages.ts";
import type { AgentStateName } from "../protocol/agent-states.ts";
import type { CellOrder } from "../protocol/cell-messages.ts";
import type { OpenTunnel } from "../tunnel/tunnel-types.ts";

/** From the SPIFFE name of a client certificate. */
export type LinkIdentity = {
  readonly cell: string;
  readonly cluster: string;
  readonly serial: string;
  /** Of the certificate, in milliseconds since 1970. */
  readonly notBefore?: number | undefined;
};

export type AgentView = {
  readonly cluster: string;
  readonly connected: boolean;
  readonly state: AgentStateName;
  readonly agentVersion: string;
  readonly protocol: number;
  readonly kubernetesVersion: string;
  /** Milliseconds since 1970, as `lastHeartbeat`. */
  readonly connectedSince?: number;
  readonly lastHeartbeat?: number;
  readonly health?: AgentHealth;
  readonly bootstrapComplete: boolean;
  readonly lastCloseReason?: string;
};

export type CellCommandInput = CellOrder;
export type CommandResult = { readonly effects: readonly string[] };

export type LinkError = {
  /** "failed": the agent carried the command out and reports an error. */
  readonly kind: "not-connected" | "busy" | "timeout" | "failed" | "aborted" | "too-large";
  readonly message: string;
};

export type CellTls = { readonly certificate: string; readonly key: Sensitive<string>; readonly trustBundle: string };

export type RenewedCertificate = { readonly certificate: string; readonly trustBundle: string };

export type CellLink = {
  readonly port: number;
  /** Every agent that connected since the start; the map is live. */
  agents(): ReadonlyMap<string, AgentView>;
  /** Called after a user-visible value of an agent changed; a heartbeat alone is no change. */
  subscribe(listener: (cluster: string) => void): () => void;
  /** Waits for the acknowledgement, also across a reconnect of the agent. */
  send(cluster: string, command: CellCommandInput, signal: AbortSignal): Promise<Result<CommandResult, LinkError>>;
  /** Ends the agent's connection with all of its tunnels. It may connect again, if `authenticate` accepts it. */
  disconnect(cluster: string, reason: string): void;
  /** Disconnects, and removes the agent from `agents`. */
  forget(cluster: string, reason: string): void;
  readonly openTunnel: OpenTunnel;
  /** New connections use it; open ones stay. Connected agents get the new trust bundle. An error: the old one stays in use. */
  reloadTls(tls: CellTls): Result<void, string>;
  close(): Promise<void>;
};

export type SessionServices = {
  readonly cell: string;
  /** Refuses with a reason, for example a revoked certificate. Asked whenever a stream opens. */
  authenticate(identity: LinkIdentity): Result<void, string>;
  renew(cluster: string, csrPem: string): Promise<Result<RenewedCertificate, string>>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly version: string;
};

export type CellLinkOptions = SessionServices & {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: CellTls;
  /** The identity in a certificate that the trust bundle verified. */
  identify(certificateDer: Uint8Array): Result<LinkIdentity, string>;
  /** Instead of the defaults in CONNECTION_LIMITS. */
  readonly limits?: Partial<ConnectionLimits> | undefined;
};

export const CONNECTION_LIMITS = {
  connections: 10_000,
  /** TLS handshakes that are not complete, in all and per address. Most of them wait: few are started in one turn of the event loop. */
  handshakes: 2_048,
  handshakesPerAddress: 1_024,
  /** New connections of one address: so many at once, and so many per second after that. */
  burstPerAddress: 2_000,
  ratePerAddress: 200,
  handshakeMs: 10_000,
  firstMessageMs: 10_000,
} as const;

export type ConnectionLimits = { readonly [name in keyof typeof CONNECTION_LIMITS]: number };
