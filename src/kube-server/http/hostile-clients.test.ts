/** Clients that hold on to what they do not use, with limits of a fraction of a second: each is cut off, and others are answered. */
import { EventEmitter } from "node:events";
import { connect as connectHttp2, createSecureServer, type ServerHttp2Session } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, FakeClock, ok, reveal, seededRandom, silentLogger, systemClock, type Clock } from "#base";
import { builtinKinds } from "../kinds.ts";
import { createApiServer, type ApiServer } from "../rest/api-server.ts";
import type { ApiResponse } from "../protocol/request.ts";
import { createMemoryStore } from "../store/index.ts";
import { certificateFor, serveHttp } from "./index.ts";
import { LIMITS, StalledWrites, watchSession, type Limits } from "#listener";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const QUICK: Partial<Limits> = { headersMs: 100, requestMs: 150, lookMs: 20, idleMs: 100, stallMs: 100, lingerMs: 20 };

async function open(
  limits: Partial<Limits>,
  secure = false,
): Promise<{ readonly port: number; readonly stillAnswers: () => Promise<void> }> {
  const store = createMemoryStore();
  const server = createApiServer({ store, types: builtinKinds(store), clock: systemClock, random: seededRandom(1) });
  const certificate = secure ? expectOk(certificateFor("127.0.0.1", systemClock)) : undefined;
  const place = { host: "127.0.0.1", port: 0, certificate: certificate?.server, limits };
  const user = { name: "a", uid: "", groups: [] };
  const listener = expectOk(
    await serveHttp(place, { server, authenticate: () => user, anonymous: user, logger: silentLogger, clock: systemClock }),
  );
  closing.push(
    () => listener.close(),
    () => server.close(),
  );
  const ca = certificate?.authority ?? "";
  const stillAnswers = async () => {
    const status = secure
      ? await statusOf(`https://127.0.0.1:${listener.port}`, ca)
      : (await fetch(`http://127.0.0.1:${listener.port}/livez`)).status;
    expect(status).toBe(200);
  };
  return { port: listener.port, stillAnswers };
}

function statusOf(url: string, ca: string): Promise<unknown> {
  const session = connectHttp2(url, { ca });
  const stream = session.request({ ":path": "/livez" });
  return new Promise<unknown>((resolve, reject) =>
    stream.once("response", (head) => resolve(head[":status"])).once("error", reject),
  ).finally(() => session.destroy());
}

async function untilHungUp(socket: Socket, text = ""): Promise<string> {
  let said = "";
  socket.on("data", (chunk: Buffer) => (said += chunk.toString()));
  socket.on("error", () => {}); // a reset is one way to hang up
  socket.write(text);
  await new Promise((resolve) => socket.once("close", resolve));
  return said;
}

const DROP_MS = 5;
const HEAD = "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: x\r\n";

test.each([
  { name: "says nothing", text: "" },
  { name: "stops inside a header", text: "GET /livez HTTP/1.1\r\nhost: x\r\naccept: " },
  { name: "stops before the empty line", text: HEAD },
  { name: "never ends its body", text: `${HEAD}content-length: 100\r\n\r\n{"metadata":` },
  { name: "has asked, and asks nothing more", text: "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n" },
])("a client that $name is cut off, on plain HTTP and on TLS", async ({ text }) => {
  const plain = await open(QUICK);
  await untilHungUp(connect(plain.port, "127.0.0.1"), text);
  await plain.stillAnswers();
  const secure = await open(QUICK, true);
  await untilHungUp(connectTls({ port: secure.port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] }), text);
  await secure.stillAnswers();
});

/** Every drop is a sign of life, and none of them counts. */
async function dripping(socket: Socket, drops: string, first = ""): Promise<void> {
  const timer = setInterval(() => socket.writable && socket.write(drops), DROP_MS);
  await untilHungUp(socket, first).finally(() => clearInterval(timer));
}

test.each([
  { name: "its headers", first: HEAD, drops: "x: y\r\n" },
  { name: "a header", first: `${HEAD}x: `, drops: "y" },
  { name: "its body", first: `${HEAD}content-length: 100000\r\n\r\n`, drops: " " },
  { name: "its chunks", first: `${HEAD}transfer-encoding: chunked\r\n\r\n`, drops: "1\r\n \r\n" },
])("a client that sends $name drop by drop is cut off, on plain HTTP and on TLS", async ({ first, drops }) => {
  const plain = await open(QUICK);
  await dripping(connect(plain.port, "127.0.0.1"), drops, first);
  await plain.stillAnswers();
  const secure = await open(QUICK, true);
  await dripping(
    connectTls({ port: secure.port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] }),
    drops,
    first,
  );
  await secure.stillAnswers();
});

test("a client that shakes hands, or greets in HTTP/2, drop by drop is cut off", async () => {
  const { port, stillAnswers } = await open(QUICK, true);
  await dripping(connect(port, "127.0.0.1"), "\u0001", "\u0016\u0003\u0001\u0040\u0000");
  await dripping(connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"] }), "P");
  await stillAnswers();
});

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

test("a client that says the first words of HTTP/2 and nothing more is cut off", async () => {
  const { port, stillAnswers } = await open(QUICK, true);
  await untilHungUp(connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"] }), PREFACE);
  await stillAnswers();
});

test("a client with many streams whose bodies never end loses all of them", async () => {
  const { port, stillAnswers } = await open({ ...QUICK, streamsPerConnection: 20 }, true);
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on("error", () => {});
  const statuses: unknown[] = [];
  const streams = Array.from({ length: 60 }, () => {
    const stream = session.request({ ":method": "POST", ":path": "/api/v1/namespaces/default/configmaps" }).on("error", () => {});
    stream.on("response", (head) => statuses.push(head[":status"])).write("{");
    return new Promise((resolve) => stream.once("close", resolve));
  });
  await Promise.all(streams);
  expect(statuses).toEqual([]);
  session.destroy();
  await stillAnswers();
});

test("a client that never shakes hands, or never greets in HTTP/2, is cut off", async () => {
  const { port, stillAnswers } = await open(QUICK, true);
  await untilHungUp(connect(port, "127.0.0.1"));
  await untilHungUp(connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"] }));
  await stillAnswers();
});

test("an HTTP/2 connection without a request is closed; one with a body that never ends loses its stream", async () => {
  const { port, stillAnswers } = await open(QUICK, true);
  const idle = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  idle.on("error", () => {});
  await new Promise((resolve) => idle.once("close", resolve));
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  const stream = session.request({ ":method": "POST", ":path": "/api/v1/namespaces/default/configmaps" });
  stream.on("error", () => {});
  stream.write("{");
  await new Promise((resolve) => stream.once("close", resolve));
  session.destroy();
  await stillAnswers();
});

test.each(["GET", "POST"])("a mistake of the server's own while it answers a %s is a 500, and no silence", async (method) => {
  const handle = () => Promise.reject(new Error("a bug"));
  const server = { handle, authorize: () => ok(handle) } as unknown as ApiServer;
  const user = { name: "a", uid: "", groups: [] };
  const exchange = { server, authenticate: () => user, anonymous: user, logger: silentLogger, clock: systemClock };
  const { port, close } = expectOk(await serveHttp({ host: "127.0.0.1", port: 0 }, exchange));
  closing.push(close);
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/configmaps`, { method, ...(method === "POST" ? { body: "{}" } : {}) });
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({ kind: "Status", reason: "InternalError" });
});

test("how many streams and how large headers may be is told, and headers that are larger are a 431", async () => {
  const { port, stillAnswers } = await open({ streamsPerConnection: 2 }, true);
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  expect(session.remoteSettings).toMatchObject({ maxConcurrentStreams: 2, maxHeaderListSize: LIMITS.headerBytes });
  session.destroy();
  const plain = await open({ headerBytes: 1_024 });
  const said = await untilHungUp(connect(plain.port, "127.0.0.1"), `GET /livez HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(5_000)}\r\n\r\n`);
  expect(said).toMatch(/^HTTP\/1\.1 431 /);
  await stillAnswers();
});

/** More than the buffers of a connection hold. */
const MUCH = {
  answer: (): ApiResponse["body"] => ({ kind: "text", text: "x".repeat(30 * 2 ** 20) }),
  watch: (): ApiResponse["body"] => ({ kind: "stream", chunks: endless() }),
};

async function* endless(): AsyncGenerator<string, void> {
  for (;;) yield "x".repeat(2 ** 20);
}

/** The port of a server that has only that to say. */
async function saying(body: () => ApiResponse["body"], secure: boolean): Promise<number> {
  const user = { name: "a", uid: "", groups: [] };
  const server = { handle: () => Promise.resolve({ status: 200, headers: {}, warnings: [], body: body() }) } as unknown as ApiServer;
  const certificate = secure ? expectOk(certificateFor("127.0.0.1", systemClock)).server : undefined;
  const exchange = { server, authenticate: () => user, anonymous: user, logger: silentLogger, clock: systemClock };
  const listener = expectOk(await serveHttp({ host: "127.0.0.1", port: 0, certificate, limits: QUICK }, exchange));
  closing.push(() => listener.close());
  return listener.port;
}

/** It does not read, so only its own words tell it that nobody listens any more; empty lines mean nothing. */
async function asksAndDoesNotRead(socket: Socket): Promise<void> {
  socket.on("error", () => {}).pause();
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const timer = setInterval(() => socket.writable && socket.write("\r\n"), DROP_MS);
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(timer);
}

describe.each(["answer", "watch"] as const)("a client that does not read its %s is cut off", (what) => {
  test("on plain HTTP", async () => {
    await asksAndDoesNotRead(connect(await saying(MUCH[what], false), "127.0.0.1"));
  });

  test("on TLS", async () => {
    const port = await saying(MUCH[what], true);
    await asksAndDoesNotRead(connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] }));
  });

  test("on HTTP/2, though it answers when it is asked whether it is there", async () => {
    const session = connectHttp2(`https://127.0.0.1:${await saying(MUCH[what], true)}`, { rejectUnauthorized: false });
    const stream = session.on("error", () => {}).request({ ":path": "/" });
    stream.on("error", () => {}).pause();
    await new Promise((resolve) => stream.once("close", resolve));
    session.destroy();
  });
});

test("a HEAD of a watch is answered to its end: the watch is over, and the next request on the connection has its turn", async () => {
  const ends: Promise<unknown>[] = [];
  const handle: ApiServer["handle"] = (_request, signal) => {
    ends.push(new Promise((resolve) => signal.addEventListener("abort", resolve)));
    return Promise.resolve({ status: 200, headers: {}, warnings: [], body: MUCH.watch() });
  };
  const user = { name: "a", uid: "", groups: [] };
  const server = { handle } as unknown as ApiServer;
  const exchange = { server, authenticate: () => user, anonymous: user, logger: silentLogger, clock: systemClock };
  const { port, close } = expectOk(await serveHttp({ host: "127.0.0.1", port: 0 }, exchange));
  closing.push(close);
  const head = "HEAD /api/v1/watch/pods HTTP/1.1\r\nhost: x\r\n";
  const said = await untilHungUp(connect(port, "127.0.0.1"), `${head}\r\n${head}connection: close\r\n\r\n`);
  expect(said.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  await Promise.all(ends);
});

test("who reads slowly, but reads, is not cut off", async () => {
  const clock = new FakeClock();
  const stalled = new StalledWrites(LIMITS, clock);
  const reader = Object.assign(new EventEmitter(), { writableLength: 1_000_000 });
  let cuts = 0;
  stalled.add(reader, () => (cuts += 1));
  const looks = 3 * (LIMITS.stallMs / LIMITS.lookMs);
  for (let look = 0; look < looks; look += 1) {
    if (look % 50 === 0) reader.writableLength -= 1;
    await clock.advance(LIMITS.lookMs);
  }
  expect(cuts).toBe(0);
  await clock.advance(2 * LIMITS.stallMs);
  expect(cuts).toBeGreaterThan(0);
  reader.emit("close");
  await clock.advance(LIMITS.lookMs);
  expect(clock.pending).toBe(0);
});

/** A bare HTTP/2 server; `clock` says when its clients are asked. */
async function sessionOn(clock: Clock): Promise<{ readonly port: number; readonly session: Promise<ServerHttp2Session> }> {
  const { server: pair } = expectOk(certificateFor("127.0.0.1", systemClock));
  const secure = createSecureServer({ cert: pair.certificate, key: reveal(pair.key) });
  secure.on("stream", (stream) => stream.on("error", () => {}).respond({ ":status": 200 }));
  const session = new Promise<ServerHttp2Session>((resolve) => {
    secure.once("session", (one) => {
      watchSession(one, LIMITS, clock);
      resolve(one);
    });
  });
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  closing.push(() => void secure.close());
  const address = secure.address();
  return { session, port: typeof address === "object" && address !== null ? address.port : 0 };
}

test("whoever has a request open is asked whether he is there, and is let go when he does not answer", async () => {
  const clock = new FakeClock();
  const { port, session } = await sessionOn(clock);
  const relay = await relayTo(port);
  const client = connectHttp2(`https://127.0.0.1:${relay.port}`, { rejectUnauthorized: false });
  client.on("error", () => {});
  const stream = client.request({ ":path": "/" });
  stream.on("error", () => {});
  await new Promise((resolve) => stream.once("response", resolve));
  const server = await session;
  await clock.advance(LIMITS.headersMs + 1_000); // it has greeted: this limit is over
  const pinged = new Promise((resolve) => client.once("ping", resolve));
  await clock.advance(LIMITS.pingMs);
  await pinged;
  await new Promise((resolve) => client.ping(resolve)); // its answer has arrived by now
  await clock.advance(LIMITS.pingMs);
  expect(server.destroyed).toBe(false);
  relay.cut();
  await clock.advance(2 * LIMITS.pingMs);
  expect(server.destroyed).toBe(true);
  client.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.pending).toBe(0);
});

/** Passes everything on until it is cut: then the other end is gone without a word. */
async function relayTo(port: number): Promise<{ readonly port: number; readonly cut: () => void }> {
  let open = true;
  const relay: Server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.on("data", (chunk) => open && far.write(chunk)).on("error", () => {});
    far.on("data", (chunk) => open && near.write(chunk)).on("error", () => {});
    closing.push(
      () => void near.destroy(),
      () => void far.destroy(),
    );
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  closing.push(() => void relay.close());
  const address = relay.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, cut: () => (open = false) };
}
