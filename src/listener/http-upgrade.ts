/**
 * Upgrades of HTTP/1.1 connections to another protocol, such as WebSocket.
 *
 * An upgraded connection is still one of the listener's: it counts as a connection, is closed when its client does not read, and ends with the
 * listener. Node removes its own error handlers from such a socket, so that a reset by the client would end the process without the one here.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";

export type UpgradeHeaders = readonly (readonly [name: string, value: string])[];

/** Sends 101 with these headers; from then on the connection is a stream of bytes. Names and values must be valid: they are sent as they are. */
export type AcceptUpgrade = (headers: UpgradeHeaders) => Duplex;

/** Either calls `accept`, or writes a response; the connection is closed after the response. */
export type UpgradeHandler = (request: IncomingMessage, response: ServerResponse, accept: AcceptUpgrade) => void;

/** Without a handler Node ignores the header `Upgrade`, and the request is an ordinary one. */
export async function handleUpgrades(server: Server, handler: UpgradeHandler | undefined): Promise<void> {
  if (handler === undefined) return;
  const { ServerResponse } = await import("node:http");
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Uint8Array) => {
    socket.on("error", () => socket.destroy());
    if (head.byteLength > 0) socket.unshift(head);
    const response = new ServerResponse(request);
    const release = attach(response, request, socket);
    handler(request, response, (headers) => {
      release();
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
      return socket;
    });
  });
}

/** A response on a socket that Node's server has given up: what the server does for others is done here. */
function attach(response: ServerResponse, { socket }: IncomingMessage, stream: Duplex): () => void {
  const onDrain = () => response.emit("drain");
  const onFinish = () => stream.end();
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  stream.on("drain", onDrain);
  response.once("finish", onFinish);
  return () => {
    stream.off("drain", onDrain);
    response.off("finish", onFinish);
    response.detachSocket(socket);
  };
}
