/** Requests through a tunnel, against HTTPS servers of a few lines. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import { http1Server, until } from "../../../test/builders/loopback-servers.ts";
import { chunksOf, closeTunnels, readAnswer, tunnelTo, tunnelToServer } from "../../../test/builders/tunnels.ts";
import type { TunnelHeader } from "./index.ts";

afterEach(closeTunnels);

const echo: RequestListener = (request, response) => void request.pipe(response);
const failed = (message: string) => ({ ok: false, error: { kind: "failed", message: expect.stringContaining(message) as string } });

describe("a request", () => {
  test("arrives with the agent's credential in place of the client's, and its response comes back", async () => {
    let seen: IncomingMessage | undefined;
    const tunnel = await tunnelToServer((request, response) => {
      seen = request;
      response.writeHead(201, { "content-type": "text/plain", "x-a": ["1", "2"], "set-cookie": "a=b" }).end("made");
    });
    const headers: TunnelHeader[] = [
      ["Authorization", "Bearer client"],
      ["Impersonate-User", "admin"],
      ["Host", "evil.test"],
      ["Content-Type", "application/json"],
      ["X-Stream-Protocol-Version", "a"],
      ["X-Stream-Protocol-Version", "b"],
    ];
    const answer = await tunnel.call({ method: "POST", path: "/api?x=%20", headers, body: chunksOf([Buffer.from("{}")]) });
    expect(expectOk(answer).headers).toEqual(
      expect.arrayContaining([
        ["content-type", "text/plain"],
        ["x-a", "1"],
        ["x-a", "2"],
      ]),
    );
    expect(expectOk(answer).headers.map(([name]) => name)).not.toContain("set-cookie");
    expect(await readAnswer(answer)).toEqual({ status: 201, body: Buffer.from("made") });
    expect(seen?.method).toBe("POST");
    expect(seen?.url).toBe("/api?x=%20");
    expect(seen?.headers).toMatchObject({
      authorization: "Bearer agent",
      "content-type": "application/json",
      "x-stream-protocol-version": "a, b",
    });
    expect(seen?.headers.host).toMatch(/^127\.0\.0\.1:/);
    expect(seen?.headers["impersonate-user"]).toBeUndefined();
    await until(() => tunnel.open.size === 0);
  });

  test.each([
    { name: "a GET without a body", input: { method: "GET" }, framing: [undefined, undefined] },
    { name: "a POST without a body", input: { method: "POST" }, framing: ["0", undefined] },
    { name: "a body without a length", input: { method: "POST", body: chunksOf([Buffer.from("ab")]) }, framing: [undefined, "chunked"] },
    { name: "a GET with a body", input: { method: "GET", body: chunksOf([Buffer.from("ab")]) }, framing: [undefined, "chunked"] },
    {
      name: "a body with its length",
      input: { method: "PUT", headers: [["content-length", "2"] as const], body: chunksOf([Buffer.from("ab")]) },
      framing: ["2", undefined],
    },
    { name: "a length of zero", input: { method: "DELETE", headers: [["content-length", "0"] as const] }, framing: ["0", undefined] },
  ])("$name has the framing that it needs", async ({ input, framing }) => {
    let seen: readonly unknown[] = [];
    const tunnel = await tunnelToServer((request, response) => {
      seen = [request.headers["content-length"], request.headers["transfer-encoding"]];
      echo(request, response);
    });
    expect(await readAnswer(await tunnel.call(input))).toEqual({ status: 200, body: Buffer.from("body" in input ? "ab" : "") });
    expect(seen).toEqual(framing);
  });

  test("requests one after the other use one connection", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port);
    for (let call = 0; call < 5; call += 1) expect((await readAnswer(await tunnel.call({}))).status).toBe(200);
    expect(server.connections).toBe(1);
  });

  test("a connection that the API server has closed meanwhile is replaced", async () => {
    const server = await http1Server((_request, response) => void response.end("ok"));
    const tunnel = tunnelTo(server.port);
    await readAnswer(await tunnel.call({}));
    for (const socket of server.sockets) socket.destroy();
    expect(await readAnswer(await tunnel.call({}))).toMatchObject({ status: 200 });
  });

  test("without shared connections, a tunnel opens and closes its own", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port, {}, { connections: undefined });
    expect((await readAnswer(await tunnel.call({}))).status).toBe(200);
    await until(() => server.sockets.size === 0);
  });

  test("responses without a body end at once", async () => {
    const tunnel = await tunnelToServer((request, response) => {
      if (request.method === "HEAD") response.setHeader("content-length", "10");
      response.writeHead(request.method === "HEAD" ? 200 : 204).end();
    });
    expect(await readAnswer(await tunnel.call({ method: "HEAD" }))).toEqual({ status: 200, body: Buffer.alloc(0) });
    expect(await readAnswer(await tunnel.call({ method: "DELETE" }))).toEqual({ status: 204, body: Buffer.alloc(0) });
  });

  test("a response before the end of the body ends the tunnel, and the connection is not used again", async () => {
    const server = await http1Server(
      (request, response) => void (request.url === "/" ? response.writeHead(413).end("large") : response.end("ok")),
    );
    const tunnel = tunnelTo(server.port);
    const endless = async function* () {
      for (;;) {
        yield Buffer.alloc(10_000);
        await turn();
      }
    };
    expect(await readAnswer(await tunnel.call({ method: "POST", body: endless() }))).toEqual({ status: 413, body: Buffer.from("large") });
    await until(() => tunnel.open.size === 0);
    expect((await readAnswer(await tunnel.call({ path: "/next" }))).body.toString()).toBe("ok");
    expect(server.connections).toBe(2);
  });
});

test("bodies of any chunks and pauses arrive as they were sent, and no more than a window of frames waits", async () => {
  const server = await http1Server(echo);
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 60_000, max: 140_000 })), { maxLength: 8 });
  const pauses = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(sizes, pauses, pauses, fc.integer({ min: 1, max: 3 }), async (lengths, sending, reading, window) => {
      const tunnel = tunnelTo(server.port, {}, {}, window);
      const chunks = lengths.map((length, at) => Buffer.alloc(length, at + 1));
      const sent = Buffer.concat(chunks);
      const received = await readAnswer(await tunnel.call({ method: "POST", body: chunksOf(chunks, sending) }), reading);
      expect(received.status).toBe(200);
      expect(received.body.equals(sent)).toBe(true);
      expect(tunnel.pairs[0]?.most()).toBeLessThanOrEqual(window + 1);
    }),
    { numRuns: 60 },
  );
});

describe("a slow reader", () => {
  test("makes the API server wait instead of filling memory, and delays no other request", async () => {
    let written = 0;
    const write = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === "/quick") return void response.end("quick");
      const closed = new Promise((resolve) => response.once("close", resolve));
      for (; written < 64 * 2 ** 20 && !response.destroyed; written += 65_536) {
        if (!response.write(Buffer.alloc(65_536))) await Promise.race([new Promise((resolve) => response.once("drain", resolve)), closed]);
      }
      response.end();
    };
    const tunnel = await tunnelToServer((request, response) => void write(request, response));
    const client = new AbortController();
    const slow = expectOk(await tunnel.call({ path: "/slow" }, client.signal));
    const pieces = slow.body[Symbol.asyncIterator]();
    await pieces.next();
    for (let call = 0; call < 20; call += 1)
      expect((await readAnswer(await tunnel.call({ path: "/quick" }))).body.toString()).toBe("quick");
    expect(written).toBeLessThan(32 * 2 ** 20);
    expect(tunnel.pairs[0]?.most()).toBeLessThanOrEqual(3);
    client.abort();
    await until(() => tunnel.open.size === 0);
  });

  test("at the API server makes the client wait, and the request fails when nothing is read for a minute", async () => {
    const clock = new FakeClock();
    let isReached = false;
    const server = await http1Server(() => (isReached = true));
    const tunnel = tunnelTo(server.port, {}, { clock });
    let sent = 0;
    const endless = async function* () {
      for (;;) {
        sent += 65_536;
        yield Buffer.alloc(65_536);
        await turn();
      }
    };
    const answer = tunnel.call({ method: "POST", body: endless() });
    await until(() => isReached);
    let before = -1;
    while (before !== sent) {
      before = sent;
      for (let wait = 0; wait < 50; wait += 1) await turn();
    }
    expect(sent).toBeLessThan(32 * 2 ** 20);
    await clock.advance(60_000);
    expect(await answer).toMatchObject(failed("The API server does not read the body of the request."));
    await until(() => tunnel.open.size === 0);
    expect(clock.pending).toBe(0);
  });
});
