/** Binds an address and passes every request to a handler. `close` ends everything: no request or connection outlives it. */
import type { Server, Socket } from "node:net";
import type { Server as TlsServer } from "node:tls";
import { describeThrown, err, fromPromise, fromThrowing, ok, type Clock, type Result } from "#base";
import { createHttpServer, secureContextOf, type HttpHandler, type ListenerTls, type TlsVersion } from "./http-server.ts";
import type { UpgradeHandler } from "./http-upgrade.ts";
import { LISTENER_LIMITS, type ListenerLimits } from "./limits.ts";
import { StalledWrites } from "./stalled-writes.ts";

export type ListenerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Tried in this order while `port` is in use. Default: none. */
  readonly otherPorts?: Iterable<number> | undefined;
  /** Absent: plain HTTP/1.1. */
  readonly certificate?: ListenerTls | undefined;
  /** Default: TLS 1.2. */
  readonly minTlsVersion?: TlsVersion | undefined;
  /** PEM of the authority whose certificates identify clients. Client certificates are optional. */
  readonly clientAuthority?: string | undefined;
  /** For HTTP/1.1 requests with the header `Upgrade`. Absent: the header is ignored. */
  readonly upgrade?: UpgradeHandler | undefined;
  /** Instead of the defaults in `LISTENER_LIMITS`. */
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** Which connection is closed when there are too many. Default: the newest. */
  readonly overflow?: "close-newest" | "close-oldest" | undefined;
  readonly clock: Clock;
};

export type Listener = {
  /** The IP address that is bound. */
  readonly address: string;
  readonly port: number;
  /** Another certificate for connections from now on; open ones continue. After an error the previous one is still used. */
  readonly reloadCertificate: (certificate: ListenerTls) => Result<void, string>;
  readonly close: () => Promise<void>;
};

/** The error is the reason; the caller knows the address and what it listens for. */
export async function listen(options: ListenerOptions, handler: HttpHandler): Promise<Result<Listener, string>> {
  const limits: ListenerLimits = { ...LISTENER_LIMITS, ...options.limits };
  const stalled = new StalledWrites(limits, options.clock);
  const server = await createHttpServer({ ...options, limits, stalled }, handler);
  const sockets = trackSockets(server);
  if (options.overflow === "close-oldest") closeOldest(server, sockets, limits.connections);
  else server.maxConnections = limits.connections;
  const bound = await bindOneOf(server, options);
  if (!bound.ok) return err(describeThrown(bound.error));
  const address = server.address();
  if (address === null || typeof address === "string") return err("the address is not an IP address");
  return ok({
    address: address.address,
    port: address.port,
    reloadCertificate: (certificate) => reload(server, options, certificate),
    close: () => closeAll(server, sockets, stalled),
  });
}

function reload(server: Server, options: ListenerOptions, certificate: ListenerTls): Result<void, string> {
  if (!hasTls(server)) return err("this listener has no TLS");
  return fromThrowing(() => server.setSecureContext(secureContextOf(options, certificate)), describeThrown);
}

/** Not by its class: the module would be loaded for servers without TLS too. */
function hasTls(server: Server): server is TlsServer {
  return "setSecureContext" in server;
}

async function bindOneOf(server: Server, { host, port, otherPorts = [] }: ListenerOptions): Promise<Result<void, unknown>> {
  const first = await fromPromise(bind(server, host, port), (thrown) => thrown);
  if (first.ok || !isInUse(first.error)) return first;
  for (const other of otherPorts) {
    const bound = await fromPromise(bind(server, host, other), (thrown) => thrown);
    if (bound.ok || !isInUse(bound.error)) return bound;
  }
  return first;
}

function isInUse(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EADDRINUSE";
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    // a client that resets its connection has gone, and gets no response
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

/** For servers whose clients are not authenticated: connections that send nothing must not keep a new client from its response. */
function closeOldest(server: Server, sockets: ReadonlySet<Socket>, most: number): void {
  server.on("connection", () => {
    const [oldest] = sockets;
    if (sockets.size > most) oldest?.destroy();
  });
}

async function closeAll(server: Server, sockets: ReadonlySet<Socket>, stalled: StalledWrites): Promise<void> {
  stalled.close();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
