/** Both halves of a tunnel, joined in memory, against HTTPS servers of a few lines. */
import type { IncomingMessage, RequestListener } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { createLogger, expectOk, FakeClock, systemClock, type Result } from "#base";
import { authority, http1Server, newAuthority, stopAll, until } from "../../../test/builders/loopback-servers.ts";
import { tunnelPair, type TunnelPair } from "../../../test/builders/tunnel-frames.ts";
import {
  openTunnelConnections,
  requestThroughTunnel,
  serveTunnel,
  type TunnelAnswer,
  type TunnelHeader,
  type TunnelRequestInput,
  type TunnelServerOptions,
  type TunnelTarget,
} from "./index.ts";

const closing: (() => void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await stopAll();
});

const logger = createLogger(() => {});
const live = new AbortController().signal;

type Tunnel = {
  readonly call: (input: Partial<TunnelRequestInput>, signal?: AbortSignal) => ReturnType<typeof requestThroughTunnel>;
  readonly pairs: TunnelPair[];
  /** Tunnels whose agent has not finished. */
  readonly open: Set<Promise<void>>;
};

function tunnelTo(port: number, target: Partial<TunnelTarget> = {}, options: Partial<TunnelServerOptions> = {}, window = 2): Tunnel {
  const all: TunnelTarget = {
    url: `https://127.0.0.1:${port}`,
    ca: authority.certificate,
    authorization: async () => "Bearer agent",
    ...target,
  };
  const connections = openTunnelConnections(all);
  if (connections.ok) closing.push(connections.value.close);
  const shared = connections.ok ? { connections: connections.value } : {};
  const pairs: TunnelPair[] = [];
  const open = new Set<Promise<void>>();
  return {
    pairs,
    open,
    call(input, signal = live) {
      const pair = tunnelPair(window);
      pairs.push(pair);
      const serving = serveTunnel(pair.agent, all, { clock: systemClock, logger, ...shared, ...options }).finally(() =>
        open.delete(serving),
      );
      open.add(serving);
      return requestThroughTunnel(pair.cell, { method: "GET", path: "/", headers: [], ...input }, signal);
    },
  };
}

async function serve(handler: RequestListener): Promise<Tunnel> {
  return tunnelTo((await http1Server(handler)).port);
}

async function* chunksOf(chunks: readonly Uint8Array[], pauses: readonly number[] = []): AsyncGenerator<Uint8Array> {
  for (const [at, chunk] of chunks.entries()) {
    for (let wait = 0; wait < (pauses[at] ?? 0); wait += 1) await turn();
    yield chunk;
  }
}

async function read(
  answer: Result<TunnelAnswer, unknown>,
  pauses: readonly number[] = [],
): Promise<{ status: number; body: Buffer; error?: string }> {
  const { status, body } = expectOk(answer);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) {
    if (!piece.ok) return { status, body: Buffer.concat(pieces), error: piece.error };
    pieces.push(piece.value);
    for (let wait = 0; wait < (pauses[pieces.length % (pauses.length + 1)] ?? 0); wait += 1) await turn();
  }
  return { status, body: Buffer.concat(pieces) };
}

const echo: RequestListener = (request, response) => void request.pipe(response);
const failed = (message: string) => ({ ok: false, error: { kind: "failed", message: expect.stringContaining(message) as string } });

describe("a request", () => {
  test("arrives with the agent's credential in place of the client's, and its response comes back", async () => {
    let seen: IncomingMessage | undefined;
    const tunnel = await serve((request, response) => {
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
    expect(await read(answer)).toEqual({ status: 201, body: Buffer.from("made") });
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
    const tunnel = await serve((request, response) => {
      seen = [request.headers["content-length"], request.headers["transfer-encoding"]];
      echo(request, response);
    });
    expect(await read(await tunnel.call(input))).toEqual({ status: 200, body: Buffer.from("body" in input ? "ab" : "") });
    expect(seen).toEqual(framing);
  });

  test("requests one after the other use one connection", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port);
    for (let call = 0; call < 5; call += 1) expect((await read(await tunnel.call({}))).status).toBe(200);
    expect(server.connections).toBe(1);
  });

  test("a connection that the API server has closed meanwhile is replaced", async () => {
    const server = await http1Server((_request, response) => void response.end("ok"));
    const tunnel = tunnelTo(server.port);
    await read(await tunnel.call({}));
    for (const socket of server.sockets) socket.destroy();
    expect(await read(await tunnel.call({}))).toMatchObject({ status: 200 });
  });

  test("without shared connections, a tunnel opens and closes its own", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port, {}, { connections: undefined });
    expect((await read(await tunnel.call({}))).status).toBe(200);
    await until(() => server.sockets.size === 0);
  });

  test("responses without a body end at once", async () => {
    const tunnel = await serve((request, response) => {
      if (request.method === "HEAD") response.setHeader("content-length", "10");
      response.writeHead(request.method === "HEAD" ? 200 : 204).end();
    });
    expect(await read(await tunnel.call({ method: "HEAD" }))).toEqual({ status: 200, body: Buffer.alloc(0) });
    expect(await read(await tunnel.call({ method: "DELETE" }))).toEqual({ status: 204, body: Buffer.alloc(0) });
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
    expect(await read(await tunnel.call({ method: "POST", body: endless() }))).toEqual({ status: 413, body: Buffer.from("large") });
    await until(() => tunnel.open.size === 0);
    expect((await read(await tunnel.call({ path: "/next" }))).body.toString()).toBe("ok");
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
      const received = await read(await tunnel.call({ method: "POST", body: chunksOf(chunks, sending) }), reading);
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
    const tunnel = await serve(async (request, response) => {
      if (request.url === "/quick") return void response.end("quick");
      const closed = new Promise((resolve) => response.once("close", resolve));
      for (; written < 64 * 2 ** 20 && !response.destroyed; written += 65_536) {
        if (!response.write(Buffer.alloc(65_536))) await Promise.race([new Promise((resolve) => response.once("drain", resolve)), closed]);
      }
      response.end();
    });
    const client = new AbortController();
    const slow = expectOk(await tunnel.call({ path: "/slow" }, client.signal));
    const pieces = slow.body[Symbol.asyncIterator]();
    await pieces.next();
    for (let call = 0; call < 20; call += 1) expect((await read(await tunnel.call({ path: "/quick" }))).body.toString()).toBe("quick");
    expect(written).toBeLessThan(32 * 2 ** 20);
    expect(tunnel.pairs[0]?.most()).toBeLessThanOrEqual(3);
    client.abort();
    await until(() => tunnel.open.size === 0);
  });

  test("at the API server makes the client wait, and the request fails when nothing is read for a minute", async () => {
    const clock = new FakeClock();
    const server = await http1Server(() => {});
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

describe("a watch", () => {
  test("passes each event at once, and its cancellation ends the request at the API server", async () => {
    let emit = (_text: string) => {};
    let isOpen = false;
    const tunnel = await serve((_request, response) => {
      isOpen = true;
      response.once("close", () => (isOpen = false));
      response.flushHeaders();
      emit = (text) => void response.write(text);
    });
    const client = new AbortController();
    const answer = expectOk(await tunnel.call({ path: "/?watch=true" }, client.signal));
    const events = answer.body[Symbol.asyncIterator]();
    for (const text of ["first", "second"]) {
      emit(text);
      const { value } = await events.next();
      expect(Buffer.from(expectOk(value as Result<Uint8Array, string>)).toString()).toBe(text);
    }
    client.abort();
    await until(() => !isOpen && tunnel.open.size === 0);
    expect(tunnel.pairs[0]?.cancelled[0]).toBe("the client has gone");
  });

  test("that the reader leaves ends too", async () => {
    let isOpen = false;
    const tunnel = await serve((_request, response) => {
      isOpen = true;
      response.once("close", () => (isOpen = false)).write("x");
    });
    for await (const piece of expectOk(await tunnel.call({})).body) if (piece.ok) break;
    await until(() => !isOpen && tunnel.open.size === 0);
  });

  test("that the API server breaks off is an error, not an end", async () => {
    const tunnel = await serve((_request, response) => {
      response.write("part");
      setImmediate(() => response.destroy());
    });
    expect(await read(await tunnel.call({}))).toEqual({
      status: 200,
      body: Buffer.from("part"),
      error: "The API server closed the connection before the end of its response.",
    });
  });
});

describe("cancelled", () => {
  test("before the request is sent: the API server sees nothing", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port);
    expect(await tunnel.call({}, AbortSignal.abort())).toMatchObject({ ok: false, error: { kind: "failed" } });
    await until(() => tunnel.open.size === 0);
    expect(server.connections).toBe(0);
  });

  test("while the API server works on the request: it is disconnected", async () => {
    let isOpen = false;
    const tunnel = await serve((_request, response) => {
      isOpen = true;
      response.once("close", () => (isOpen = false));
    });
    const client = new AbortController();
    const answer = tunnel.call({}, client.signal);
    await until(() => isOpen);
    client.abort();
    expect(await answer).toMatchObject(failed("The agent closed the tunnel"));
    await until(() => !isOpen && tunnel.open.size === 0);
  });

  test("when the body of the client breaks off: the API server does not see a complete request", async () => {
    let isComplete: boolean | undefined;
    const tunnel = await serve((request, response) => {
      request.on("error", () => {}).resume();
      response.once("close", () => (isComplete = request.complete));
    });
    const broken = async function* () {
      yield Buffer.from("{");
      await turn();
      throw new Error("reset");
    };
    expect(await tunnel.call({ method: "POST", body: broken() })).toMatchObject({ ok: false });
    await until(() => tunnel.open.size === 0);
    expect(isComplete).not.toBe(true);
  });
});

describe("a failure is one sentence", () => {
  test.each([
    { name: "no API server", target: { url: "https://127.0.0.1:1" }, message: "The API server cannot be reached (ECONNREFUSED)." },
    {
      name: "another authority",
      target: { ca: newAuthority("other").certificate },
      message: "The certificate of the API server is not trusted",
    },
    {
      name: "no credential",
      target: { authorization: () => Promise.reject(new Error("file")) },
      message: "The agent has no credential for the API server.",
    },
    { name: "plain HTTP", target: { url: "http://127.0.0.1:1" }, message: "The agent is not configured correctly" },
    { name: "an address with a path", target: { url: "https://127.0.0.1:1/other" }, message: "The agent is not configured correctly" },
  ])("$name", async ({ target, message }) => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port, target);
    expect(await tunnel.call({})).toMatchObject(failed(message));
    await until(() => tunnel.open.size === 0);
  });

  test("a 401 of the API server is the agent's, not the client's", async () => {
    const tunnel = await serve((_request, response) => void response.writeHead(401).end("no"));
    expect(await tunnel.call({})).toMatchObject(failed("The API server does not accept the credential of the agent."));
  });

  test("an API server that closes the connection without a response", async () => {
    const tunnel = await serve((request) => void request.socket.end());
    expect(await tunnel.call({ method: "POST" })).toMatchObject(failed("The API server cannot be reached (ECONNRESET)."));
  });

  test("an API server that does not complete the handshake", async () => {
    const clock = new FakeClock();
    const { createServer } = await import("node:net");
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    closing.push(() => silent.close());
    const address = silent.address();
    const tunnel = tunnelTo(typeof address === "object" ? (address?.port ?? 0) : 0, {}, { clock });
    const answer = tunnel.call({});
    await until(() => clock.pending > 0);
    for (let wait = 0; wait < 20; wait += 1) await turn();
    await clock.advance(10_000);
    expect(await answer).toMatchObject(failed("The API server cannot be reached (ETIMEDOUT)."));
    await until(() => tunnel.open.size === 0);
    expect(clock.pending).toBe(0);
  });

  test("an invalid request is not sent", async () => {
    const server = await http1Server(echo);
    const tunnel = tunnelTo(server.port);
    expect(await tunnel.call({ path: "/../x" })).toEqual({
      ok: false,
      error: { kind: "invalid", message: "the path has a segment . or .." },
    });
    await until(() => tunnel.open.size === 0);
    expect(server.connections).toBe(0);
  });
});
