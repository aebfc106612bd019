/**
 * Node's servers with the limits of a listener: plain HTTP/1.1, or TLS with HTTP/2 and HTTP/1.1.
 *
 * They are imported when a listener is opened: most embedded clusters have no socket, and the modules take long to load.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Server } from "node:net";
import { describeThrown, err, fromThrowing, reveal, type Clock, type Result, type Sensitive } from "#base";
import { handleUpgrades, type UpgradeHandler } from "./http-upgrade.ts";
import type { ListenerLimits } from "./limits.ts";
import { guardSession } from "./session-guard.ts";
import type { StalledWrites } from "./stalled-writes.ts";

/** HTTP/1.1 and HTTP/2 have the same interface for a handler. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => void;

export type ListenerTls = {
  /** PEM. */
  readonly certificate: string;
  readonly key: Sensitive<string>;
};

export type HttpServerOptions = {
  readonly certificate?: ListenerTls | undefined;
  readonly clientAuthority?: string | undefined;
  readonly upgrade?: UpgradeHandler | undefined;
  readonly clock: Clock;
  readonly limits: ListenerLimits;
  readonly stalled: StalledWrites;
};

export async function createHttpServer(options: HttpServerOptions, handler: HttpHandler): Promise<Server> {
  const { certificate } = options;
  const server = await (certificate === undefined ? createPlainServer(options, handler) : createTlsServer(options, certificate, handler));
  await handleUpgrades(server, options.upgrade);
  return server;
}

async function createPlainServer({ limits, stalled }: HttpServerOptions, handler: HttpHandler): Promise<Server> {
  const { createServer } = await import("node:http");
  const server = createServer(nodeLimits(limits), handler);
  server.on("connection", (socket) => stalled.add(socket, () => socket.destroy()));
  return server;
}

async function createTlsServer(
  { clientAuthority, clock, limits, stalled }: HttpServerOptions,
  { certificate, key }: ListenerTls,
  handler: HttpHandler,
): Promise<Server> {
  const { constants, createSecureServer } = await import("node:http2");
  const settings = {
    ...nodeLimits(limits),
    allowHTTP1: true,
    handshakeTimeout: limits.headersMs,
    cert: certificate,
    key: reveal(key),
    minVersion: "TLSv1.2" as const,
    // a client without a valid certificate is not disconnected: it may have a token, or it gets a 401
    ...(clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: clientAuthority }),
    settings: { maxConcurrentStreams: limits.streamsPerConnection, maxHeaderListSize: limits.headerBytes },
  };
  const server = createSecureServer(settings, handler);
  server.on("secureConnection", (socket) => stalled.add(socket, () => socket.destroy()));
  server.on("session", (session) => {
    guardSession(session, limits, clock);
    session.on("stream", (stream) => stalled.add(stream, () => stream.close(constants.NGHTTP2_CANCEL)));
  });
  return server;
}

/** The rest of the settings is as it was. */
export function reloadCertificate(
  server: Server,
  tls: ListenerTls,
  { clientAuthority }: Pick<HttpServerOptions, "clientAuthority">,
): Result<void, string> {
  if (!("setSecureContext" in server) || typeof server.setSecureContext !== "function") return err("the listener has no TLS");
  const authority = clientAuthority === undefined ? {} : { ca: clientAuthority };
  const replace = server.setSecureContext.bind(server);
  return fromThrowing(
    () => void replace({ cert: tls.certificate, key: reveal(tls.key), minVersion: "TLSv1.2", ...authority }),
    (thrown) => describeThrown(thrown),
  );
}

function nodeLimits(limits: ListenerLimits) {
  return {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    maxHeaderSize: limits.headerBytes,
    connectionsCheckingInterval: limits.checkMs,
    // TCP probes for clients that have vanished
    keepAlive: true,
    keepAliveInitialDelay: limits.pingMs,
  };
}
