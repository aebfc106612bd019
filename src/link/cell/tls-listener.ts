/**
 * The TLS listener of a cell: TLS 1.3 with client certificates only. Connections go to gRPC after the handshake.
 *
 * grpc-js' own TLS has no minimum version and fixed roots. Sessions are never resumed (no tickets): a resumed one would skip the check against a trust
 * bundle that was replaced meanwhile.
 */
import { constants } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { createSecureContext, createServer as createTlsServer, type SecureContextOptions, type TLSSocket } from "node:tls";
import { describeThrown, err, fromPromise, fromThrowing, map, ok, reveal, type Clock, type Logger, type Metrics, type Result } from "#base";
import type { CellTls, ConnectionLimits, LinkIdentity } from "./cell-types.ts";
import { ConnectionGate } from "./connection-gate.ts";
import { PacedHandshakes } from "./event-loop-turns.ts";

/** A connection whose client certificate is verified. */
export type AgentConnection = {
  readonly socket: TLSSocket;
  readonly identity: Result<LinkIdentity, string>;
  /** There are more connections than the limit. */
  readonly isAboveLimit: boolean;
};

export type TlsListenerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: CellTls;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  identify(certificateDer: Uint8Array): Result<LinkIdentity, string>;
  onConnection(connection: AgentConnection): void;
};

export type TlsListener = {
  readonly port: number;
  reload(tls: CellTls): Result<void, string>;
  /** No new connections; open ones stay. */
  stop(): void;
  close(): Promise<void>;
};

/** With P-384, each takes about three milliseconds of processor time. Thousands of agents connect at once when their cell was restarted. */
const PACE = { perTurn: 16, fresh: 64, freshMs: 250 } as const;

export async function startTlsListener(options: TlsListenerOptions): Promise<Result<TlsListener, string>> {
  const context = contextOf(options.tls);
  const checked = checkContext(context);
  if (!checked.ok) return checked;
  const sockets = new Set<Socket>();
  const gate = new ConnectionGate(options.limits, options.clock);
  const ended = new Map<string, () => void>();
  const secured = createTlsServer({
    ...context,
    requestCert: true,
    rejectUnauthorized: true,
    ALPNProtocols: ["h2"],
    handshakeTimeout: options.limits.handshakeMs,
  });
  secured.on("secureConnection", (socket) => {
    ended.get(peerKey(socket))?.();
    const certificate = socket.getPeerX509Certificate();
    const identity = certificate === undefined ? err("there is no client certificate") : options.identify(certificate.raw);
    options.onConnection({ socket, identity, isAboveLimit: gate.isFull });
  });
  const failures = options.metrics.counter("lattice_link_handshakes_failed_total", "TLS handshakes that failed or were refused.");
  secured.on("tlsClientError", (error, socket) => {
    failures.add(1);
    options.logger.debug("handshake failed", { peer: peerKey(socket), error: error.message });
    socket.destroy();
  });
  const handshakes = new PacedHandshakes<Socket>((socket) => void secured.emit("connection", socket), PACE, options.clock);
  const server = createServer({ noDelay: true }, (socket) => {
    const pass = gate.enter(socket.remoteAddress ?? "");
    if (pass === undefined) {
      failures.add(1);
      return void socket.destroy();
    }
    const key = peerKey(socket);
    sockets.add(socket);
    ended.set(key, () => {
      pass.handshakeEnded();
      handshakes.ended(socket);
    });
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      ended.delete(key);
      pass.closed();
      handshakes.ended(socket);
    });
    handshakes.add(socket);
  });
  const onError = (error: Error) =>
    options.logger.error("the listener of the cell failed to accept a connection", { error: error.message });
  const bound = await fromPromise(bind(server, options.host, options.port), describeThrown);
  if (!bound.ok) return bound;
  server.on("error", onError); // without a listener, a lack of file descriptors would end the process
  secured.on("error", onError);
  return ok({
    port: bound.value,
    reload: (tls) => map(checkContext(contextOf(tls)), () => secured.setSecureContext(contextOf(tls))),
    stop: () => void server.close(),
    close: () => closeAll(server, sockets),
  });
}

/** As `getPeer()` of a gRPC call: address and port of the client. */
export function peerKey({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress ?? ""}:${remotePort ?? ""}`;
}

function contextOf({ certificate, key, trustBundle }: CellTls): SecureContextOptions {
  return {
    cert: certificate,
    key: reveal(key),
    ca: trustBundle,
    minVersion: "TLSv1.3",
    maxVersion: "TLSv1.3",
    ecdhCurve: "P-256:P-384",
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** OpenSSL's message could contain a part of the key. */
function checkContext(context: SecureContextOptions): Result<void, string> {
  return fromThrowing(
    () => void createSecureContext(context),
    () => "the certificate, key or trust bundle of the cell is not readable PEM, or they do not belong together",
  );
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

async function closeAll(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve()); // also after a first call
    for (const socket of sockets) socket.destroy();
  });
}
