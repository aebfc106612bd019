/** Responses of a server that fails, that never ends, and that has more to send than its client reads. */
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, ok, silentLogger, systemClock } from "#base";
import { connectTlsTo, untilClosed, untilClosedWithoutReading } from "../../../test/builders/sockets.ts";
import type { ApiServer } from "../rest/api-server.ts";
import type { ApiResponse } from "../protocol/request.ts";
import { certificateFor, serveHttp } from "./index.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** The port of a server with this handler. */
async function serve(handle: ApiServer["handle"], secure = false): Promise<number> {
  const user = { name: "a", uid: "", groups: [] };
  const server = { handle, authorize: (request: never) => ok((_body: unknown, signal: AbortSignal) => handle(request, signal)) };
  const exchange = { server: server as unknown as ApiServer, authenticate: () => user, anonymous: user, logger: silentLogger };
  const certificate = secure ? expectOk(certificateFor("127.0.0.1", systemClock)).server : undefined;
  const options = { host: "127.0.0.1", port: 0, certificate, limits: { checkMs: 20, stallMs: 200 } };
  const { port, close } = expectOk(await serveHttp(options, { ...exchange, clock: systemClock }));
  closing.push(close);
  return port;
}

test.each(["GET", "POST"])("an unexpected error of the server is a 500 response to a %s", async (method) => {
  const port = await serve(() => Promise.reject(new Error("a bug")));
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/configmaps`, { method, ...(method === "POST" ? { body: "{}" } : {}) });
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ kind: "Status", reason: "InternalError" });
});

/** More than the buffers of a connection hold. */
const LARGE = {
  response: (): ApiResponse["body"] => ({ kind: "text", text: "x".repeat(30 * 2 ** 20) }),
  watch: (): ApiResponse["body"] => ({ kind: "stream", chunks: endless() }),
};

async function* endless(): AsyncGenerator<string, void> {
  for (;;) yield "x".repeat(2 ** 20);
}

const answering = (body: () => ApiResponse["body"]) => () => Promise.resolve({ status: 200, headers: {}, warnings: [], body: body() });
const REQUEST = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

describe.each(["response", "watch"] as const)("a client that does not read its %s is disconnected", (what) => {
  test("on plain HTTP", async () => {
    await untilClosedWithoutReading(connect(await serve(answering(LARGE[what])), "127.0.0.1"), REQUEST);
  });

  test("on TLS", async () => {
    await untilClosedWithoutReading(connectTlsTo(await serve(answering(LARGE[what]), true)), REQUEST);
  });

  test("on HTTP/2", async () => {
    const session = connectHttp2(`https://127.0.0.1:${await serve(answering(LARGE[what]), true)}`, { rejectUnauthorized: false });
    const stream = session.on("error", () => {}).request({ ":path": "/" });
    stream.on("error", () => {}).pause();
    await new Promise((resolve) => stream.once("close", resolve));
    session.destroy();
  });
});

test("a HEAD request for a watch gets a complete response: the watch ends, and the connection serves the next request", async () => {
  const ends: Promise<unknown>[] = [];
  const port = await serve((_request, signal) => {
    ends.push(new Promise((resolve) => signal.addEventListener("abort", resolve)));
    return Promise.resolve({ status: 200, headers: {}, warnings: [], body: LARGE.watch() });
  });
  const head = "HEAD /api/v1/watch/pods HTTP/1.1\r\nhost: x\r\n";
  const received = await untilClosed(connect(port, "127.0.0.1"), `${head}\r\n${head}connection: close\r\n\r\n`);
  expect(received.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  await Promise.all(ends);
});
