/**
 * Node's servers with the limits of a listener: plain HTTP/1.1, or TLS with HTTP/2 and HTTP/1.1.
 *
 * They are imported when a listener is opened: most embedded clusters have no socket, and the modules take long to load.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Server } from "node:net";
import { reveal, type Clock, type Sensitive } from "#base";
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

export type TlsVersion = "TLSv1.2" | "TLSv1.3";

export type HttpServerOptions = {
  readonly certificate?: ListenerTls | undefined;
  readonly minTlsVersion?: TlsVersion | undefined;
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

async function createTlsServer(options: HttpServerOptions, certificate: ListenerTls, handler: HttpHandler): Promise<Server> {
  const { clientAuthority, clock, limits, stalled } = options;
  const { constants, createSecureServer } = await import("node:http2");
  const settings = {
    ...nodeLimits(limits),
    allowHTTP1: true,
    handshakeTimeout: limits.headersMs,
    ...secureContextOf(options, certificate),
    // a client without a valid certificate is not disconnected: it may have a token, or it gets a 401
    ...(clientAuthority === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
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

/** For the start of a server and for a later change of its certificate: `setSecureContext` replaces all of it, the lowest version included. */
export function secureContextOf(
  { clientAuthority, minTlsVersion = "TLSv1.2" }: Pick<HttpServerOptions, "clientAuthority" | "minTlsVersion">,
  { certificate, key }: ListenerTls,
) {
  return {
    cert: certificate,
    key: reveal(key),
    minVersion: minTlsVersion,
    ...(clientAuthority === undefined ? {} : { ca: clientAuthority }),
  };
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
