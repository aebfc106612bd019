/** Raw clients for tests of servers: they send bytes that no HTTP library would send, and return the response. */
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** All bytes that the server sent before it closed the connection. A reset counts as closed. */
export async function untilClosed(socket: Socket, text = ""): Promise<string> {
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
  socket.on("error", () => {});
  socket.write(text);
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}

/** `protocol`: for ALPN. */
export function connectTlsTo(port: number, protocol: "h2" | "http/1.1" = "http/1.1"): Socket {
  return connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: [protocol] });
}

const DRIP_MS = 5;

/** Sends `first`, then `drops` repeatedly until the server closes the connection. */
export async function untilClosedWhileSending(socket: Socket, drops: string, first = ""): Promise<void> {
  const timer = setInterval(() => socket.writable && socket.write(drops), DRIP_MS);
  await untilClosed(socket, first).finally(() => clearInterval(timer));
}

/** Sends a request and reads nothing. Empty lines, which HTTP ignores, show the client that the connection is closed. */
export async function untilClosedWithoutReading(socket: Socket, request: string): Promise<void> {
  socket.on("error", () => {}).pause();
  socket.write(request);
  const timer = setInterval(() => socket.writable && socket.write("\r\n"), DRIP_MS);
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(timer);
}
