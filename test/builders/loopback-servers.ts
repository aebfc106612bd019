/**
 * Real servers on loopback for tests of HTTP clients, with certificates generated at start.
 *
 * `stopAll` closes everything that a test has started; it waits for ever if a test leaves a connection open.
 */
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { connect as connectSocket, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { expectOk, reveal, type Result } from "#base";
import { createCertificateAuthority, issueCertificate, type CertificateAuthority } from "#pki";
import { parseServerUrl, staticCredentials, type ClusterConfig, type KubeError, type TransportResponse } from "#kube-client";

const HOUR = 3_600_000;
// OpenSSL reads the system's clock
const valid = { notBefore: new Date(Date.now() - HOUR), notAfter: new Date(Date.now() + HOUR) };

export const authority = newAuthority("test root");
export const clientIdentity = issue(authority, "alice", "client");

export function newAuthority(commonName: string): CertificateAuthority {
  return expectOk(createCertificateAuthority({ commonName, ...valid }));
}

export function issue(ca: CertificateAuthority, commonName: string, usage: "server" | "client") {
  const names = usage === "server" ? { dnsNames: ["localhost", "api.test"], ipAddresses: ["127.0.0.1"] } : {};
  return expectOk(issueCertificate(ca, { commonName, usages: [usage], ...names, ...valid }));
}

const serverIdentity = issue(authority, "server", "server");
const tls = { cert: serverIdentity.certificate, key: reveal(serverIdentity.key), ca: authority.certificate };

const stops: (() => Promise<void>)[] = [];

export async function stopAll(): Promise<void> {
  await Promise.all(stops.splice(0).map((stop) => stop()));
}

/** Sockets that the server still has open. */
export type TestServer = { readonly port: number; readonly sockets: ReadonlySet<Socket>; connections: number };

async function listen(server: Server): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const state = { port: 0, sockets, connections: 0 };
  server.on("connection", (socket: Socket) => {
    state.connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  state.port = (server.address() as AddressInfo).port;
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return state;
}

export type Http2Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;
export type Http2Options = {
  readonly onSession?: (session: ServerHttp2Session) => void;
  readonly requestCert?: boolean;
  readonly maxConcurrentStreams?: number;
};

export async function http2Server(handler: Http2Handler, options: Http2Options = {}) {
  const settings = options.maxConcurrentStreams === undefined ? {} : { settings: { maxConcurrentStreams: options.maxConcurrentStreams } };
  const mutual = options.requestCert === true ? { requestCert: true, rejectUnauthorized: true } : {};
  const server: Http2SecureServer = createSecureServer({ ...tls, ...settings, ...mutual, minVersion: "TLSv1.3" }, handler);
  const sessions: ServerHttp2Session[] = [];
  server.on("session", (session) => {
    sessions.push(session);
    options.onSession?.(session);
    session.on("error", () => {});
  });
  server.on("sessionError", () => {});
  const state = await listen(server);
  return Object.assign(state, { sessions });
}

export function http1Server(handler: RequestListener): Promise<TestServer> {
  return listen(createHttpsServer({ ...tls, ALPNProtocols: ["http/1.1"] }, handler));
}

export function plainServer(handler: RequestListener): Promise<TestServer> {
  return listen(createHttpServer(handler));
}

/** Forwards bytes until it is cut, then drops them, like a half-open connection. */
export async function cuttableProxy(target: number) {
  const control = { drop: false };
  const server = createTcpServer((near) => {
    const far = connectSocket(target, "127.0.0.1");
    const pass = (from: Socket, to: Socket) => {
      from.on("data", (data) => control.drop || to.write(data));
      from.on("close", () => control.drop || to.destroy());
      from.on("error", () => {});
    };
    pass(near, far);
    pass(far, near);
    stops.push(async () => void far.destroy());
  });
  const state = await listen(server);
  return Object.assign(state, { control });
}

export function configFor(port: number, more: Partial<ClusterConfig> = {}): ClusterConfig {
  return {
    server: expectOk(parseServerUrl(`https://127.0.0.1:${port}`)),
    certificateAuthority: authority.certificate,
    credentials: staticCredentials({}),
    ...more,
  };
}

/** The whole response, or the received part and the error. */
export async function readResponse(
  answer: Result<TransportResponse, KubeError>,
): Promise<{ code: number; text: string; error?: KubeError }> {
  if (!answer.ok) return { code: 0, text: "", error: answer.error };
  let text = "";
  for await (const piece of answer.value.body) {
    if (!piece.ok) return { code: answer.value.code, text, error: piece.error };
    text += Buffer.from(piece.value).toString();
  }
  return { code: answer.value.code, text };
}

/** Waits for a condition; the test's own time limit is the only one. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Responds with the request that the server received. */
export const echo: Http2Handler = (request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text: string) => (body += text));
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
  });
};

/** Sends the head and a part of the body, and then nothing more. */
export function stalls(response: { writeHead(code: number): unknown; write(text: string): unknown }): void {
  response.writeHead(200);
  response.write("some");
}
