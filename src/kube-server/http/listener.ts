/**
 * The socket side: plain HTTP/1.1 on loopback, or TLS with HTTP/2 and HTTP/1.1. `close` ends everything: no request, watch or idle
 * connection outlives it.
 */
import { createServer } from "node:http";
import { createSecureServer, type ServerHttp2Session } from "node:http2";
import type { Server, Socket } from "node:net";
import { describeThrown, err, fromPromise, ok, reveal, type Result } from "#base";
import type { KeyPairPem } from "#pki";
import { answerHttp, type Exchange, type HttpRequest, type HttpResponse } from "./answer-http.ts";
import { LIMITS } from "./limits.ts";

export type ListenOptions = {
  readonly host: string;
  /** 0 takes any. */
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly certificate?: KeyPairPem | undefined;
};

export type Listener = { readonly host: string; readonly port: number; readonly close: () => Promise<void> };

export async function listen(options: ListenOptions, exchange: Exchange): Promise<Result<Listener, string>> {
  const onRequest = (request: HttpRequest, response: HttpResponse) => void answerHttp(request, response, exchange);
  const server = serverOf(options, onRequest);
  const sockets = trackSockets(server);
  const bound = await fromPromise(
    bind(server, options),
    (thrown) => `cannot listen on ${options.host}:${options.port}: ${describeThrown(thrown)}`,
  );
  if (!bound.ok) return bound;
  const address = server.address();
  if (address === null || typeof address === "string") return err(`cannot listen on ${options.host}:${options.port}`);
  return ok({ host: options.host, port: address.port, close: () => closeAll(server, sockets) });
}

function serverOf(options: ListenOptions, onRequest: (request: HttpRequest, response: HttpResponse) => void): Server {
  const times = {
    headersTimeout: LIMITS.headersMs,
    requestTimeout: LIMITS.requestMs,
    keepAliveTimeout: LIMITS.idleMs,
    maxHeaderSize: LIMITS.headerBytes,
    // how often Node looks for those that are late; its own interval is three times the limit on headers
    connectionsCheckingInterval: 1_000,
  };
  const { certificate } = options;
  if (certificate === undefined) {
    const plain = createServer(times, onRequest);
    plain.maxConnections = LIMITS.connections;
    return plain;
  }
  const secure = createSecureServer(
    {
      ...times,
      allowHTTP1: true,
      handshakeTimeout: LIMITS.headersMs,
      cert: certificate.certificate,
      key: reveal(certificate.key),
      minVersion: "TLSv1.2",
      settings: { maxConcurrentStreams: LIMITS.streamsPerConnection, maxHeaderListSize: LIMITS.headerBytes },
    },
    onRequest,
  );
  secure.maxConnections = LIMITS.connections;
  secure.on("session", closeWhenIdle);
  return secure;
}

/** A connection that nobody speaks on costs something and gives nothing; one with a watch on it is not idle. */
function closeWhenIdle(session: ServerHttp2Session): void {
  let open = 0;
  session.on("stream", (stream) => {
    open += 1;
    stream.once("close", () => {
      open -= 1;
    });
  });
  session.setTimeout(LIMITS.idleMs, () => {
    if (open === 0) session.close();
  });
}

function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
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

async function closeAll(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}
