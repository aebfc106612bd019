/**
 * Clients that hold connections without using them, against a server of a few lines. The limits are fractions of a second: each client is
 * disconnected, and others get a response.
 */
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { authority, issue } from "../../test/builders/loopback-servers.ts";
import { connectTlsTo, untilClosed, untilClosedWhileSending, untilClosedWithoutReading } from "../../test/builders/sockets.ts";
import {
  abortResponse,
  discardBody,
  LISTENER_LIMITS,
  listen,
  pacedWriter,
  readBody,
  writeHead,
  type HttpRequest,
  type HttpResponse,
  type ListenerLimits,
} from "./index.ts";

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** Long enough for a well-behaved client on a busy machine. */
const QUICK: Partial<ListenerLimits> = { headersMs: 1_000, requestMs: 1_400, checkMs: 20, idleMs: 1_000, stallMs: 200, lingerMs: 20 };
const certificate = issue(authority, "server", "server");

type Opened = { readonly port: number; readonly checkOthers: () => Promise<void> };

async function open(limits: Partial<ListenerLimits>, secure = false): Promise<Opened> {
  const all = { ...LISTENER_LIMITS, ...limits };
  const options = { host: "127.0.0.1", port: 0, limits, clock: systemClock, certificate: secure ? certificate : undefined };
  const { port, close } = expectOk(await listen(options, (request, response) => void serve(request, response, all)));
  closing.push(close);
  const status = async () => (secure ? statusOf(port) : (await fetch(`http://127.0.0.1:${port}/`)).status);
  return { port, checkOthers: async () => expect(await status()).toBe(200) };
}

/** Reads every body and responds with its size; the response of `/endless` never ends, that of `/large` exceeds the buffers of a connection. */
async function serve(request: HttpRequest, response: HttpResponse, limits: ListenerLimits): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const body = await readBody(request, { limits, clock: systemClock });
  if (!body.ok && body.error === "disconnected") return abortResponse(response);
  if (!body.ok) discardBody(request, { limits, clock: systemClock });
  writeHead(response, body.ok ? 200 : 413, { "content-type": "text/plain" });
  if (request.url === "/large") return void response.end("x".repeat(30 * 2 ** 20));
  const write = pacedWriter(response, { encoding: "utf8", signal: gone.signal, ahead: 0 });
  while (request.url === "/endless" && !gone.signal.aborted) await write("x".repeat(2 ** 20));
  response.end(body.ok ? String(body.value.byteLength) : "too large");
}

const sessionTo = (port: number) => connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on("error", () => {});

function statusOf(port: number): Promise<unknown> {
  const session = sessionTo(port);
  const stream = session.request({ ":path": "/" });
  return new Promise<unknown>((resolve, reject) =>
    stream.once("response", (head) => resolve(head[":status"])).once("error", reject),
  ).finally(() => session.destroy());
}

const HEAD = "POST / HTTP/1.1\r\nhost: x\r\n";

describe.concurrent("a client of HTTP/1.1 is disconnected, on plain HTTP and on TLS", () => {
  test.each([
    { name: "sends nothing", text: "" },
    { name: "stops inside a header", text: "GET / HTTP/1.1\r\nhost: x\r\naccept: " },
    { name: "stops before the empty line", text: HEAD },
    { name: "never completes its body", text: `${HEAD}content-length: 100\r\n\r\n{"metadata":` },
    { name: "sends no second request", text: "GET / HTTP/1.1\r\nhost: x\r\n\r\n" },
  ])("when it $name", async ({ text }) => {
    const [plain, secure] = [await open(QUICK), await open(QUICK, true)];
    await untilClosed(connect(plain.port, "127.0.0.1"), text);
    await plain.checkOthers();
    await untilClosed(connectTlsTo(secure.port), text);
    await secure.checkOthers();
  });

  test.each([
    { name: "its headers", first: HEAD, drops: "x: y\r\n" },
    { name: "a header", first: `${HEAD}x: `, drops: "y" },
    { name: "its body", first: `${HEAD}content-length: 100000\r\n\r\n`, drops: " " },
    { name: "its chunks", first: `${HEAD}transfer-encoding: chunked\r\n\r\n`, drops: "1\r\n \r\n" },
  ])("when it sends $name byte by byte", async ({ first, drops }) => {
    const [plain, secure] = [await open(QUICK), await open(QUICK, true)];
    await untilClosedWhileSending(connect(plain.port, "127.0.0.1"), drops, first);
    await plain.checkOthers();
    await untilClosedWhileSending(connectTlsTo(secure.port), drops, first);
    await secure.checkOthers();
  });
});

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

describe.concurrent("a client of TLS and HTTP/2 is disconnected", () => {
  test("when it never completes the handshake, or sends it byte by byte", async () => {
    const { port, checkOthers } = await open(QUICK, true);
    await untilClosed(connect(port, "127.0.0.1"));
    await untilClosedWhileSending(connect(port, "127.0.0.1"), "\u0001", "\u0016\u0003\u0001\u0040\u0000");
    await checkOthers();
  });

  test.each([
    { name: "sends no preface", send: "" },
    { name: "sends the preface and no settings", send: PREFACE },
  ])("when it $name", async ({ send }) => {
    const { port, checkOthers } = await open(QUICK, true);
    await untilClosed(connectTlsTo(port, "h2"), send);
    await checkOthers();
  });

  test("when it sends the preface byte by byte", async () => {
    const { port, checkOthers } = await open(QUICK, true);
    await untilClosedWhileSending(connectTlsTo(port, "h2"), "P");
    await checkOthers();
  });

  test("when it has no request", async () => {
    const { port, checkOthers } = await open(QUICK, true);
    const idle = sessionTo(port);
    await new Promise((resolve) => idle.once("close", resolve));
    await checkOthers();
  });
});

test("streams whose bodies never end are all closed", async () => {
  const { port, checkOthers } = await open({ ...QUICK, streamsPerConnection: 20 }, true);
  const session = sessionTo(port);
  const statuses: unknown[] = [];
  const streams = Array.from({ length: 60 }, () => {
    const stream = session.request({ ":method": "POST", ":path": "/" }).on("error", () => {});
    stream.on("response", (head) => statuses.push(head[":status"])).write("{");
    return new Promise((resolve) => stream.once("close", resolve));
  });
  await Promise.all(streams);
  expect(statuses).toEqual([]);
  session.destroy();
  await checkOthers();
});

describe.concurrent.each(["/large", "/endless"])("a client that does not read %s is disconnected", (path) => {
  const request = `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

  test("on plain HTTP", async () => {
    const { port } = await open(QUICK);
    await untilClosedWithoutReading(connect(port, "127.0.0.1"), request);
  });

  test("on TLS", async () => {
    const { port } = await open(QUICK, true);
    await untilClosedWithoutReading(connectTlsTo(port), request);
  });

  test("on HTTP/2, even when it replies to pings", async () => {
    const { port } = await open(QUICK, true);
    const session = sessionTo(port);
    const stream = session.request({ ":path": path });
    stream.on("error", () => {}).pause();
    await new Promise((resolve) => stream.once("close", resolve));
    session.destroy();
  });
});

test("a body that is too large gets a 413, with and without a declared length", async () => {
  const { port, checkOthers } = await open({ bodyBytes: 1_000 });
  const send = (body: string | ReadableStream<Uint8Array>) => fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, duplex: "half" });
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < 3; at += 1) controller.enqueue(new Uint8Array(500));
      controller.close();
    },
  });
  expect((await send("x".repeat(1_001))).status).toBe(413);
  expect((await send(chunks)).status).toBe(413);
  const fits = await send("x".repeat(1_000));
  expect([fits.status, await fits.text()]).toEqual([200, "1000"]);
  await checkOthers();
});

test("settings announce the limits on streams and headers, and larger headers get a 431", async () => {
  const { port, checkOthers } = await open({ streamsPerConnection: 2 }, true);
  const session = sessionTo(port);
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  expect(session.remoteSettings).toMatchObject({ maxConcurrentStreams: 2, maxHeaderListSize: LISTENER_LIMITS.headerBytes });
  session.destroy();
  const plain = await open({ headerBytes: 1_024 });
  const received = await untilClosed(connect(plain.port, "127.0.0.1"), `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(5_000)}\r\n\r\n`);
  expect(received).toMatch(/^HTTP\/1\.1 431 /);
  await checkOthers();
});
