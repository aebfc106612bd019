/**
 * Clients over real sockets that keep connections open without using them: each is disconnected, and the server responds to the others.
 *
 * Only the time limit for headers runs in real time, because Node enforces it; it is ten seconds.
 */
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeClock } from "#base";
import { serveCluster, type ServedCluster } from "../builders/api-server/served-cluster.ts";

const TOKEN = "test-token";
const clock = new FakeClock();
let plain: ServedCluster;
let secure: ServedCluster;

beforeAll(async () => {
  const tokens = `${TOKEN},admin,admin,"system:masters"\n`;
  plain = await serveCluster({ tokens, clock });
  secure = await serveCluster({ tokens, secure: true });
});

afterAll(async () => {
  await plain.close();
  await secure.close();
});

const portOf = ({ url }: ServedCluster) => Number(new URL(url).port);
const head = (rest: string) =>
  `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\n${rest}`;

/** All bytes that the server sent before it closed the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
  socket.on("error", () => {}); // a reset also closes the connection
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}

const expectResponsive = async () => {
  const answer = await fetch(`${plain.url}/api/v1/namespaces/default`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(answer.status).toBe(200);
};

/** Sent concurrently: each takes the whole time limit. */
const UNFINISHED = ["", "GET /api HTTP/1.1\r\nhost: x\r\naccept: ", head("content-length: 10\r\n")];

describe.concurrent("a client that never finishes its request is disconnected", () => {
  const transports = [
    { name: "on plain HTTP", open: () => connect(portOf(plain), "127.0.0.1") },
    {
      name: "on TLS with HTTP/1.1",
      open: () => connectTls({ port: portOf(secure), host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] }),
    },
  ];

  test.each(transports)(
    "$name: it sends nothing, stops inside a header, or before the last empty line",
    { timeout: 60_000 },
    async ({ open }) => {
      const ends = UNFINISHED.map((text) => {
        const socket = open();
        socket.write(text);
        return untilClosed(socket);
      });
      await Promise.all(ends);
      await expectResponsive();
    },
  );

  test("on TLS: it never starts the handshake", { timeout: 60_000 }, async () => {
    await untilClosed(connect(portOf(secure), "127.0.0.1"));
  });
});

describe("a client that sends too much", () => {
  test("according to its content-length gets 413 before it has sent the body", async () => {
    const socket = connect(portOf(plain), "127.0.0.1");
    const received = untilClosed(socket);
    socket.write(`${head(`connection: close\r\ncontent-length: ${200 * 2 ** 20}\r\n`)}\r\n`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    expect(await received).toMatch(/^HTTP\/1\.1 413 /);
    await expectResponsive();
  });

  test("in chunks gets 413 while it sends, and the server does not buffer the body", async () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let client = 0; client < 8; client += 1) {
      const socket = connect(portOf(plain), "127.0.0.1");
      const received = untilClosed(socket);
      const chunk = Buffer.alloc(1024 * 1024, "x");
      let responded = false;
      socket.once("data", () => (responded = true));
      socket.write(`${head("transfer-encoding: chunked\r\n")}\r\n`);
      for (let sent = 0; sent < 40 && !responded && !socket.destroyed; sent += 1) {
        socket.write(`${chunk.length.toString(16)}\r\n`);
        socket.write(chunk);
        await new Promise<void>((resolve) => socket.write("\r\n", () => resolve()));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await clock.advance(2_000); // the client goes on sending after the response
      expect(await received).toMatch(/^HTTP\/1\.1 413 /);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20);
    await expectResponsive();
  });

  test("on HTTP/2 gets 413, and only its stream ends", async () => {
    const session = connectHttp2(secure.url, { rejectUnauthorized: false });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const stream = session.request({ ...headers, ":method": "POST", ":path": "/api/v1/namespaces/default/configmaps" });
    stream.on("error", () => {}); // the rest of the body
    const ended = new Promise((resolve) => stream.once("close", resolve));
    const status = new Promise((resolve) => stream.once("response", (answer) => resolve(answer[":status"])));
    stream.resume();
    stream.write(Buffer.alloc(5 * 2 ** 20, "x"));
    expect(await status).toBe(413);
    await ended;
    const next = session.request({ ...headers, ":path": "/api/v1/namespaces/default" });
    expect(await new Promise((resolve) => next.once("response", (answer) => resolve(answer[":status"])))).toBe(200);
    session.destroy();
  });

  test("of headers gets 431", async () => {
    const socket = connect(portOf(plain), "127.0.0.1");
    socket.write(`GET /api HTTP/1.1\r\nhost: x\r\nx-much: ${"x".repeat(100_000)}\r\n\r\n`);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 431 /);
    await expectResponsive();
  });
});

describe("a client that disconnects", () => {
  test("in the middle of a body, a response or a watch leaves no connection open", async () => {
    const watch = "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nhost: x\r\n";
    const leaving = [
      `${head("content-length: 100\r\n")}\r\n{`,
      `${watch}authorization: Bearer ${TOKEN}\r\n\r\n`,
      "GARBAGE\r\n\r\n",
      "\u0016\u0003\u0001",
    ];
    for (const given of leaving) {
      const socket = connect(portOf(plain), "127.0.0.1");
      socket.on("error", () => {});
      await new Promise<void>((resolve) => socket.write(given, () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
      socket.resetAndDestroy();
      await expectResponsive();
    }
  });
});
