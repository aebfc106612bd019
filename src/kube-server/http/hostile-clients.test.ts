/** Clients that hold on to what they do not use, with limits of a fraction of a second: each is cut off, and others are answered. */
import { connect as connectHttp2, createSecureServer, type ServerHttp2Session } from "node:http2";
import { connect, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { expectOk, FakeClock, reveal, seededRandom, silentLogger, systemClock, type Clock } from "#base";
import { builtinKinds } from "../kinds.ts";
import { createApiServer } from "../rest/api-server.ts";
import { certificateFor } from "../server.ts";
import { createMemoryStore } from "../store/index.ts";
import { listen, LIMITS, type Limits } from "./index.ts";
import { watchSession } from "./watch-session.ts";

const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const QUICK: Partial<Limits> = { headersMs: 100, requestMs: 150, lookMs: 20, idleMs: 100, lingerMs: 20 };

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
    await listen(place, { server, authenticate: () => user, anonymous: user, logger: silentLogger, clock: systemClock }),
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
