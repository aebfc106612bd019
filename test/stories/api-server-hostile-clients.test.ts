/**
 * Clients that hold on to what they do not use, over real sockets: each is cut off, and the server goes on answering the others.
 *
 * Only the limit on headers is waited for in real time, because Node itself keeps it; it is ten seconds.
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

/** What the server said until it hung up. */
async function untilHungUp(socket: Socket): Promise<string> {
  let said = "";
  socket.on("data", (chunk: Buffer) => (said += chunk.toString()));
  socket.on("error", () => {}); // a reset is one way to hang up
  await new Promise((resolve) => socket.once("close", resolve));
  return said;
}

const stillAnswers = async () => {
  const answer = await fetch(`${plain.url}/api/v1/namespaces/default`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(answer.status).toBe(200);
};

/** At once: each of them takes the whole limit. */
const UNFINISHED = ["", "GET /api HTTP/1.1\r\nhost: x\r\naccept: ", head("content-length: 10\r\n")];

describe.concurrent("a client that never finishes is cut off", () => {
  const transports = [
    { name: "on plain HTTP", open: () => connect(portOf(plain), "127.0.0.1") },
    {
      name: "on TLS with HTTP/1.1",
      open: () => connectTls({ port: portOf(secure), host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] }),
    },
  ];

  test.each(transports)(
    "$name: it says nothing, stops inside a header, or before the last empty line",
    { timeout: 60_000 },
    async ({ open }) => {
      const ends = UNFINISHED.map((text) => {
        const socket = open();
        socket.write(text);
        return untilHungUp(socket);
      });
      await Promise.all(ends);
      await stillAnswers();
    },
  );

  test("on TLS: it never shakes hands", { timeout: 60_000 }, async () => {
    await untilHungUp(connect(portOf(secure), "127.0.0.1"));
  });
});

describe("a client that sends too much", () => {
  test("by its own account is told 413 before it has sent it", async () => {
    const socket = connect(portOf(plain), "127.0.0.1");
    const said = untilHungUp(socket);
    socket.write(`${head(`connection: close\r\ncontent-length: ${200 * 2 ** 20}\r\n`)}\r\n`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    expect(await said).toMatch(/^HTTP\/1\.1 413 /);
    await stillAnswers();
  });

  test("bit by bit is told 413 while it sends, and what it sent is not kept", async () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let client = 0; client < 8; client += 1) {
      const socket = connect(portOf(plain), "127.0.0.1");
      const said = untilHungUp(socket);
      const chunk = Buffer.alloc(1024 * 1024, "x");
      let told = false;
      socket.once("data", () => (told = true));
      socket.write(`${head("transfer-encoding: chunked\r\n")}\r\n`);
      for (let sent = 0; sent < 40 && !told && !socket.destroyed; sent += 1) {
        socket.write(`${chunk.length.toString(16)}\r\n`);
        socket.write(chunk);
        await new Promise<void>((resolve) => socket.write("\r\n", () => resolve()));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await clock.advance(2_000); // it has had its answer, and goes on all the same
      expect(await said).toMatch(/^HTTP\/1\.1 413 /);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 2 ** 20);
    await stillAnswers();
  });

  test("on HTTP/2 is told 413, and only its stream ends", async () => {
    const session = connectHttp2(secure.url, { rejectUnauthorized: false });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const stream = session.request({ ...headers, ":method": "POST", ":path": "/api/v1/namespaces/default/configmaps" });
    stream.on("error", () => {}); // what it still wanted to send
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

  test("of headers is told 431", async () => {
    const socket = connect(portOf(plain), "127.0.0.1");
    socket.write(`GET /api HTTP/1.1\r\nhost: x\r\nx-much: ${"x".repeat(100_000)}\r\n\r\n`);
    expect(await untilHungUp(socket)).toMatch(/^HTTP\/1\.1 431 /);
    await stillAnswers();
  });
});

describe("a client that goes away", () => {
  test("in the middle of a body, an answer or a watch leaves nothing running", async () => {
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
      await stillAnswers();
    }
  });
});
