/** WebSocket and SPDY through proxy and tunnel: after the 101 both are bytes, which an echo server returns. */
import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { reveal } from "#base";
import { startProxy, targetOf, type ProxyWorld } from "../../../test/builders/api-proxy.ts";
import { authority, issue, until } from "../../../test/builders/loopback-servers.ts";
import { untilClosed } from "../../../test/builders/sockets.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Upgraded = (request: IncomingMessage, socket: Duplex) => void;

/** An HTTPS server that hands every Upgrade to the function; other requests get 200. */
async function open(upgraded: Upgraded): Promise<ProxyWorld> {
  const { certificate, key } = issue(authority, "server", "server");
  const server = createHttpsServer({ cert: certificate, key: reveal(key) }, (_request, response) => void response.end("ordinary"));
  server.on("upgrade", (request, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    socket.unshift(head);
    upgraded(request, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const world = await startProxy(targetOf(typeof address === "object" ? (address?.port ?? 0) : 0));
  closing.push(
    () => world.close(),
    () => server.closeAllConnections(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  return world;
}

function dial({ proxy }: ProxyWorld): Socket {
  const socket = connect({ port: proxy.port, host: "127.0.0.1", ca: authority.certificate, ALPNProtocols: ["http/1.1"] });
  closing.push(() => socket.destroy());
  return socket.on("error", () => {});
}

const head = (protocol: string, more = "", token = "token-of-a") =>
  `GET /clusters/a/api/v1/namespaces/x/pods/etcd/portforward?ports=2379 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
  `connection: Upgrade\r\nupgrade: ${protocol}\r\n${more}\r\n`;

async function receive(socket: Socket, count: number): Promise<Buffer> {
  let received = Buffer.alloc(0);
  while (received.byteLength < count) received = Buffer.concat([received, ...((await once(socket, "data")) as Buffer[])]);
  return received;
}

async function receiveHead(socket: Socket): Promise<string> {
  let received = "";
  while (!received.includes("\r\n\r\n")) received += String(await once(socket, "data"));
  return received;
}

const accept =
  (protocol: string, headers = ""): Upgraded =>
  (_request, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n${headers}\r\n`);
    socket.pipe(socket);
  };

describe.each([
  {
    protocol: "websocket",
    more: "sec-websocket-key: dGVzdA==\r\nsec-websocket-protocol: v5.channel.k8s.io\r\n",
    answer: "sec-websocket-accept: x\r\n",
  },
  {
    protocol: "SPDY/3.1",
    more: "x-stream-protocol-version: portforward.k8s.io\r\n",
    answer: "x-stream-protocol-version: portforward.k8s.io\r\n",
  },
])("$protocol", ({ protocol, more, answer }) => {
  test("passes both ways, byte for byte", async () => {
    let seen: IncomingMessage | undefined;
    const world = await open((request, socket) => {
      seen = request;
      accept(protocol, answer)(request, socket);
    });
    const socket = dial(world);
    socket.write(head(protocol, more));
    const received = await receiveHead(socket);
    expect(received).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(received).toContain(answer);
    expect(received.toLowerCase()).toContain(`upgrade: ${protocol.toLowerCase()}\r\n`);
    expect(seen?.headers).toMatchObject({ authorization: "Bearer agent", connection: "Upgrade", upgrade: protocol });
    expect(seen?.url).toBe("/api/v1/namespaces/x/pods/etcd/portforward?ports=2379");
    const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, at) => at % 256));
    socket.write(bytes);
    expect((await receive(socket, bytes.byteLength)).equals(bytes)).toBe(true);
    expect(world.pairs[0]?.most()).toBeLessThanOrEqual(5);
    socket.end();
    await once(socket, "close");
    await until(() => world.openTunnels.size === 0 && world.audit.length === 1);
    expect(world.audit[0]).toMatchObject({
      cluster: "a",
      status: 101,
      upgrade: protocol,
      path: "/api/v1/namespaces/x/pods/etcd/portforward?ports=***",
    });
  });

  test("a refused upgrade gets the response of the API server, and the connection is closed", async () => {
    const world = await open((_request, socket) => void socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno"));
    const received = await untilClosed(dial(world), head(protocol, more) + head(protocol, more));
    expect(received).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[^]*\r\n\r\nno$/);
    expect(received.toLowerCase()).toContain("connection: close\r\n");
    await until(() => world.openTunnels.size === 0);
  });
});

test("a wrong token gets 401, and nothing is sent to the cluster", async () => {
  const world = await open(accept("websocket"));
  expect(await untilClosed(dial(world), head("websocket", "", "token-of-b"))).toMatch(
    /^HTTP\/1\.1 401 Unauthorized\r\n[^]*"reason":"Unauthorized"/,
  );
  expect(world.pairs).toEqual([]);
});

test("an unknown protocol is ignored: the request is an ordinary one", async () => {
  expect(await untilClosed(dial(await open(accept("h2c"))), head("h2c"))).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*ordinary/);
});

test("an upgrade with a body is refused", async () => {
  expect(await untilClosed(dial(await open(accept("websocket"))), head("websocket", "content-length: 1\r\n"))).toMatch(/^HTTP\/1\.1 400 /);
});

test("a change to another protocol than the requested one is an error", async () => {
  expect(await untilClosed(dial(await open(accept("SPDY/3.1"))), head("websocket"))).toMatch(/^HTTP\/1\.1 503 [^]*changes the protocol/);
});

test("a client that vanishes ends the connection at the API server, and the reverse", async () => {
  const sockets: Duplex[] = [];
  const world = await open((request, socket) => {
    sockets.push(socket);
    accept("websocket")(request, socket);
  });
  const first = dial(world);
  first.write(head("websocket"));
  await receiveHead(first);
  first.destroy();
  await until(() => sockets[0]?.destroyed === true && world.openTunnels.size === 0);
  const second = dial(world);
  second.write(head("websocket"));
  await receiveHead(second);
  const closed = untilClosed(second);
  sockets[1]?.destroy();
  await closed;
  await until(() => world.openTunnels.size === 0);
});

test("a client that reads slowly makes the API server wait, and delays no other", async () => {
  let written = 0;
  const world = await open((request, socket) => {
    if (request.url?.includes("etcd") === true) {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n");
      const fill = () => {
        while (!socket.destroyed && written < 64 * 2 ** 20) {
          written += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) return void socket.once("drain", fill);
        }
      };
      fill();
    }
  });
  const slow = dial(world);
  slow.write(head("websocket"));
  await receiveHead(slow);
  slow.pause();
  let before = -1;
  while (before !== written) {
    before = written;
    for (let wait = 0; wait < 100; wait += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(written).toBeLessThan(48 * 2 ** 20);
  expect(await untilClosed(dial(world), head("h2c", "connection: close\r\n"))).toContain("ordinary");
  slow.destroy();
  await until(() => world.openTunnels.size === 0);
});
