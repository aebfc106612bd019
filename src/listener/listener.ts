/**
 * The socket side: plain HTTP/1.1 on loopback, or TLS with HTTP/2 and HTTP/1.1. `close` ends everything: no request, watch or idle
 * connection outlives it.
 */
import type { Server, Socket } from "node:net";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { describeThrown, err, fromPromise, ok, reveal, type Clock, type Result, type Sensitive } from "#base";
import { LIMITS, type Limits } from "./limits.ts";
import { StalledWrites } from "./stalled-writes.ts";
import { watchSession } from "./watch-session.ts";

/** HTTP/1.1 and HTTP/2 look alike to a handler. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;

export type ListenerOptions = {
  readonly host: string;
  /** 0 takes any. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly certificate?: { readonly certificate: string; readonly key: Sensitive<string> } | undefined;
  /** PEM of the authority whose certificates identify clients. Client certificates are optional. */
  readonly clientAuthority?: string | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly clock: Clock;
};

export type Listener = { readonly host: string; readonly port: number; readonly close: () => Promise<void> };

export async function listen(options: ListenerOptions, onRequest: HttpHandler): Promise<Result<Listener, string>> {
  const limits: Limits = { ...LIMITS, ...options.limits };
  const stalled = new StalledWrites(limits, options.clock);
  const server = await serverOf(options, { limits, stalled }, onRequest);
  const sockets = trackSockets(server);
  const bound = await fromPromise(
    bind(server, options),
    (thrown) => `cannot listen on ${options.host}:${options.port}: ${describeThrown(thrown)}`,
  );
  if (!bound.ok) return bound;
  const address = server.address();
  if (address === null || typeof address === "string") return err(`cannot listen on ${options.host}:${options.port}`);
  return ok({ host: options.host, port: address.port, close: () => closeAll(server, sockets, stalled) });
}

/** Of RFC 9113. */
const CANCEL = 8;

type Guards = { readonly limits: Limits; readonly stalled: StalledWrites };

/** Node's servers are imported when somebody listens: a cluster in one's own process mostly has no socket, and they take long to load. */
async function serverOf(options: ListenerOptions, { limits, stalled }: Guards, onRequest: HttpHandler): Promise<Server> {
  const times = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    maxHeaderSize: limits.headerBytes,
    connectionsCheckingInterval: limits.lookMs,
    // the other end may be gone without a word: the system asks it
    keepAlive: true,
    keepAliveInitialDelay: limits.pingMs,
  };
  const { certificate, clientAuthority, clock } = options;
  if (certificate === undefined) {
    const { createServer } = await import("node:http");
    const plain = createServer(times, onRequest);
    plain.maxConnections = limits.connections;
    plain.on("connection", (socket) => stalled.add(socket, () => socket.destroy()));
    return plain;
  }
  const { createSecureServer } = await import("node:http2");
  const secure = createSecureServer(
    {
      ...times,
      allowHTTP1: true,
      handshakeTimeout: limits.headersMs,
      cert: certificate.certificate,
      key: reveal(certificate.key),
      minVersion: "TLSv1.2",
      // who has no certificate, or a bad one, is heard: a token may tell who he is, and the answer what is wrong
      ...(clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: clientAuthority }),
      settings: { maxConcurrentStreams: limits.streamsPerConnection, maxHeaderListSize: limits.headerBytes },
    },
    onRequest,
  );
  secure.maxConnections = limits.connections;
  secure.on("secureConnection", (socket) => stalled.add(socket, () => socket.destroy()));
  secure.on("session", (session) => {
    watchSession(session, limits, clock);
    session.on("stream", (stream) => stalled.add(stream, () => stream.close(CANCEL)));
  });
  return secure;
}

function bind(server: Server, { host, port }: ListenerOptions): Promise<void> {
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
    // whoever resets a connection has gone; there is nobody to tell
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function closeAll(server: Server, sockets: ReadonlySet<Socket>, stalled: StalledWrites): Promise<void> {
  stalled.close();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
