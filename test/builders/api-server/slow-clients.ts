/**
 * Clients that keep a connection open without using it: they send byte by byte, stop in the middle, send nothing, or disappear without
 * closing. Each resolves when the server closes the connection.
 */
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export type SlowClientPorts = {
  readonly plain: number;
  readonly secure: number;
  /** Forwards to the secure port until it stops. */ readonly relay: number;
};
type SlowClient = (ports: SlowClientPorts) => Promise<void>;

const HEAD = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: x\r\n";
const DROP_MS = 20;

const ofPlain = ({ plain }: SlowClientPorts): Socket => connect(plain, "127.0.0.1");
const ofTls = ({ secure }: SlowClientPorts, protocol = "http/1.1"): Socket =>
  connectTls({ port: secure, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: [protocol] });

/** By name, so that a report can name the clients that are still connected. */
export const SLOW_CLIENTS: ReadonlyMap<string, SlowClient> = new Map<string, SlowClient>([
  ["sends nothing", (ports) => untilClosed(ofPlain(ports))],
  ["sends nothing on TLS", (ports) => untilClosed(ofTls(ports))],
  ["never starts the TLS handshake", ({ secure }) => untilClosed(connect(secure, "127.0.0.1"))],
  ["sends the TLS handshake byte by byte", ({ secure }) => dripping(connect(secure, "127.0.0.1"), "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc")],
  ["sends headers byte by byte", (ports) => dripping(ofPlain(ports), `${HEAD}x: ${"y".repeat(10_000)}`)],
  ["sends headers byte by byte on TLS", (ports) => dripping(ofTls(ports), `${HEAD}x: ${"y".repeat(10_000)}`)],
  ["sends a body byte by byte", (ports) => dripping(ofPlain(ports), " ".repeat(10_000), `${HEAD}content-length: 10000\r\n\r\n`)],
  ["sends a body byte by byte on TLS", (ports) => dripping(ofTls(ports), " ".repeat(10_000), `${HEAD}content-length: 10000\r\n\r\n`)],
  ["sends chunks byte by byte", (ports) => dripping(ofPlain(ports), "1\r\n \r\n".repeat(2_000), `${HEAD}transfer-encoding: chunked\r\n\r\n`)],
  ["sends one request and stays idle", (ports) => untilClosed(ofPlain(ports), "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")],
  ["sends one request and stays idle on TLS", (ports) => untilClosed(ofTls(ports), "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")],
  ["never sends the HTTP/2 preface", (ports) => untilClosed(ofTls(ports, "h2"))],
  ["has an idle HTTP/2 connection", ({ secure }) => closed(sessionTo(secure))],
  ["sends an HTTP/2 body byte by byte", ({ secure }) => streamCut(sessionTo(secure))],
  ["watches, and disappears without closing", ({ relay }) => watchingUntilCut(relay)],
]); // prettier-ignore

function untilClosed(socket: Socket, text = ""): Promise<void> {
  socket.on("error", () => {}).resume(); // a reset also closes the connection
  socket.write(text);
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

async function dripping(socket: Socket, drops: string, first = ""): Promise<void> {
  let at = 0;
  const timer = setInterval(() => socket.writable && socket.write(Buffer.from(drops[at++ % drops.length] ?? " ", "latin1")), DROP_MS);
  await untilClosed(socket, first);
  clearInterval(timer);
}

function sessionTo(port: number): ClientHttp2Session {
  return connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on("error", () => {});
}

function closed(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => session.once("close", () => resolve()));
}

async function streamCut(session: ClientHttp2Session): Promise<void> {
  const stream = session.request({ ":method": "POST", ":path": "/api/v1/namespaces/default/configmaps" }).on("error", () => {});
  const timer = setInterval(() => stream.writable && stream.write(" "), DROP_MS);
  await new Promise((resolve) => stream.once("close", resolve));
  clearInterval(timer);
  session.destroy();
}

/** The relay stops forwarding; the server's ping gets no response, and it closes the connection. */
async function watchingUntilCut(relay: number): Promise<void> {
  const session = sessionTo(relay);
  session.request({ ":path": "/api/v1/namespaces/default/configmaps?watch=1" }).on("error", () => {}).resume(); // prettier-ignore
  await closed(session);
}

/** Forwards bytes until `dropAfterMs`, then drops them, like a cut cable. When the server closes its connection, both sides are closed. */
export async function startRelay(port: number, dropAfterMs: number): Promise<{ readonly port: number; readonly close: () => void }> {
  const sockets = new Set<Socket>();
  const relay: Server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    let isCut = false;
    const timer = setTimeout(() => (isCut = true), dropAfterMs);
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}));
    near.on("data", (chunk) => isCut || far.write(chunk));
    far.on("data", (chunk) => isCut || near.write(chunk));
    near.once("close", () => far.destroy());
    far.once("close", () => {
      clearTimeout(timer);
      near.destroy();
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const address = relay.address();
  const close = () => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: typeof address === "object" && address !== null ? address.port : 0, close };
}
