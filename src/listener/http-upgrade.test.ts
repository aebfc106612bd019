/** Upgrades of connections, on plain HTTP and on TLS. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { authority, issue } from "../../test/builders/loopback-servers.ts";
import { connectTlsTo, untilClosed } from "../../test/builders/sockets.ts";
import { listen, writeHead, type Listener, type ListenerOptions, type UpgradeHandler } from "./index.ts";

let listener: Listener | undefined;
afterEach(() => listener?.close());

const certificate = issue(authority, "server", "server");
const UPGRADE = "GET /raw HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n";
const HEADERS = [["upgrade", "echo"] as const, ["connection", "Upgrade"] as const];

const echo: UpgradeHandler = (_request, _response, accept) => {
  const stream = accept(HEADERS);
  stream.pipe(stream);
};

async function open(upgrade: UpgradeHandler | undefined, options: Partial<ListenerOptions> = {}): Promise<Listener> {
  const all = { host: "127.0.0.1", port: 0, clock: systemClock, upgrade, ...options };
  return (listener = expectOk(await listen(all, (_request, response) => void response.end("ordinary"))));
}

async function receive(socket: Socket, last: string): Promise<string> {
  let received = "";
  while (!received.endsWith(last)) received += String(await once(socket, "data"));
  return received;
}

describe.each([
  { name: "plain HTTP", options: {}, dial: (port: number): Socket => connect(port, "127.0.0.1") },
  { name: "TLS", options: { certificate }, dial: (port: number): Socket => connectTlsTo(port) },
])("on $name", ({ name, options, dial }) => {
  test("an accepted upgrade passes bytes both ways, those sent with the request included", async () => {
    const { port } = await open(echo, options);
    const socket = dial(port);
    socket.write(`${UPGRADE}early `);
    expect(await receive(socket, "early ")).toBe("HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: Upgrade\r\n\r\nearly ");
    socket.write("later");
    expect(await receive(socket, "later")).toBe("later");
    socket.end();
    await once(socket, "close");
  });

  test("a refused upgrade gets its response, and the connection is closed", async () => {
    const { port } = await open((_request, response) => {
      writeHead(response, 403, { "content-type": "text/plain" });
      response.end("no");
    }, options);
    const received = await untilClosed(dial(port), `${UPGRADE}${UPGRADE}`);
    expect(received).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[^]*connection: close\r\n[^]*no\r\n0\r\n\r\n$/i);
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test("a large refusal waits for its client", async () => {
    const { port } = await open((_request, response) => {
      writeHead(response, 403, { "content-type": "text/plain" });
      if (!response.write("x".repeat(5_000_000))) response.once("drain", () => response.end("y"));
    }, options);
    expect(await untilClosed(dial(port), UPGRADE)).toMatch(/xy|y\r\n0\r\n\r\n$/);
  });

  test("without a handler the request is an ordinary one", async () => {
    const { port } = await open(undefined, options);
    const socket = dial(port);
    socket.write(UPGRADE);
    expect(await receive(socket, "ordinary")).toContain("HTTP/1.1 200 OK");
    socket.destroy();
  });

  test("close ends upgraded connections", async () => {
    const server = await open(echo, options);
    const socket = dial(server.port);
    socket.write(UPGRADE);
    await receive(socket, "\r\n\r\n");
    const closed = untilClosed(socket);
    await server.close();
    expect(await closed).toBe("");
  });

  test("a client of an upgraded connection that does not read is disconnected", async () => {
    const ended = Promise.withResolvers<void>();
    const { port } = await open(
      (_request, _response, accept) => {
        accept(HEADERS)
          .once("close", ended.resolve)
          .write("x".repeat(30 * 2 ** 20));
      },
      { ...options, limits: { checkMs: 20, stallMs: 200 } },
    );
    const socket = dial(port);
    socket.on("error", () => {});
    socket.write(UPGRADE);
    socket.pause();
    await ended.promise;
    socket.destroy();
  });

  test("upgraded connections count against the limit of connections", async () => {
    const { port } = await open(echo, { ...options, limits: { connections: 1 } });
    const first = dial(port);
    first.write(UPGRADE);
    await receive(first, "\r\n\r\n");
    expect(await untilClosed(dial(port), UPGRADE)).toBe("");
    first.write("still open");
    expect(await receive(first, "still open")).toBe("still open");
    first.destroy();
  });

  test("a reset by the client ends only its own connection", async () => {
    const streams: Duplex[] = [];
    const { port } = await open((_request, _response, accept) => void streams.push(accept(HEADERS)), options);
    const socket = dial(port);
    socket.write(UPGRADE);
    await receive(socket, "\r\n\r\n");
    const closed = new Promise((resolve) => streams[0]?.once("close", resolve));
    if (name === "TLS") socket.destroy();
    else socket.resetAndDestroy();
    streams[0]?.write("x".repeat(1_000_000));
    await closed;
    const second = dial(port);
    second.write(UPGRADE);
    expect(await receive(second, "\r\n\r\n")).toContain("101");
    second.destroy();
  });
});
