import { afterEach, describe, expect, test } from "vitest";
import { expectOk, FakeClock, systemClock, type Clock } from "#base";
import {
  configFor,
  cuttableProxy,
  echo,
  http2Server,
  readResponse,
  stalls,
  stopAll,
  until,
} from "../../../test/builders/loopback-servers.ts";
import type { ClusterConfig } from "../cluster-config.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import { httpTransport } from "./http-transport.ts";

const transports: Transport[] = [];
const live = new AbortController().signal;
const get = (path: string): TransportRequest => ({ method: "GET", path, headers: {} });

function open(config: ClusterConfig, clock: Clock = systemClock): Transport {
  const transport = httpTransport(config, { clock, pingIntervalMs: 30_000, pingTimeoutMs: 15_000 });
  transports.push(transport);
  return transport;
}

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await stopAll();
});

describe("HTTP/2 connections", () => {
  test("many calls at once share one", async () => {
    const server = await http2Server(echo);
    const transport = open(configFor(server.port));
    const answers = await Promise.all(Array.from({ length: 100 }, async () => readResponse(await transport.send(get("/"), live))));
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([200]));
    expect(server.connections).toBe(1);
  });

  test("a response that is complete before its body is read is not lost", async () => {
    const server = await http2Server(echo);
    const transport = open(configFor(server.port));
    const answers = await Promise.all(Array.from({ length: 10 }, () => transport.send({ ...get("/"), method: "PUT", body: "x" }, live)));
    // the connection is in order: when these responses were read, those before them have arrived
    for (let call = 0; call < 3; call += 1) await readResponse(await transport.send(get("/"), live));
    const bodies = await Promise.all(answers.map(readResponse));
    expect(bodies.map(({ text, error }) => [text.includes('"PUT"'), error])).toEqual(Array.from({ length: 10 }, () => [true, undefined]));
  });

  test("more open calls than one connection allows open another one, and no more than needed", async () => {
    const waiting: (() => void)[] = [];
    const server = await http2Server((_request, response) => void waiting.push(() => response.end("done")), { maxConcurrentStreams: 10 });
    const transport = open(configFor(server.port));
    const calls = Array.from({ length: 25 }, async () => readResponse(await transport.send(get("/"), live)));
    await until(() => waiting.length === 25);
    expect(server.connections).toBe(3);
    for (const answer of waiting) answer();
    expect((await Promise.all(calls)).every(({ text }) => text === "done")).toBe(true);
  });

  test("GOAWAY: open calls continue, new ones use a new connection", async () => {
    const waiting: (() => void)[] = [];
    const server = await http2Server((request, response) => {
      if (request.url === "/slow") waiting.push(() => response.end("done"));
      else response.end("quick");
    });
    const transport = open(configFor(server.port));
    const slow = transport.send(get("/slow"), live).then(readResponse);
    await until(() => waiting.length === 1);
    server.sessions[0]?.goaway();
    while (server.connections < 2) {
      // a request that was sent before the GOAWAY arrived is refused as unprocessed
      const { text, error } = await readResponse(await transport.send(get("/"), live));
      expect(error?.retry ?? text).toMatch(/^(safe|quick)$/);
    }
    waiting[0]?.();
    expect(await slow).toEqual({ code: 200, text: "done" });
    await until(() => server.sockets.size === 1);
  });

  test("a stream that the server refuses may be retried", async () => {
    const server = await http2Server((request) => request.stream.close(7));
    expect(await open(configFor(server.port)).send(get("/"), live)).toMatchObject({ error: { kind: "network", retry: "safe" } });
  });

  test("a stream that the server resets is not a complete response", async () => {
    const server = await http2Server((request, response) => {
      stalls(response);
      setImmediate(() => request.stream.close(8));
    });
    const { text, error } = await readResponse(await open(configFor(server.port)).send(get("/"), live));
    expect({ text, kind: error?.kind }).toEqual({ text: "some", kind: "network" });
  });

  test("a server that closes every connection is an error", async () => {
    const server = await http2Server(echo, { onSession: (session) => session.goaway() });
    const { error } = await readResponse(await open(configFor(server.port)).send(get("/"), live));
    expect(error).toMatchObject({ kind: "network", retry: "safe" });
  });

  test("a half-open connection is detected by PING, and its calls fail with `network`", async () => {
    const server = await http2Server((_request, response) => stalls(response));
    const proxy = await cuttableProxy(server.port);
    const clock = new FakeClock();
    const timers: number[] = [];
    const recording: Clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after(ms, callback) {
        timers.push(ms);
        return clock.after(ms, callback);
      },
    };
    const transport = open(configFor(proxy.port), recording);
    const answer = expectOk(await transport.send(get("/"), live));
    const items = answer.body[Symbol.asyncIterator]();
    expect(await items.next()).toMatchObject({ value: { ok: true } });
    // alive: it responds to pings
    for (let round = 0; round < 3; round += 1) {
      timers.length = 0;
      await clock.advance(30_000);
      await until(() => timers.at(-1) === 30_000);
      expect(timers).toEqual([15_000, 30_000]);
    }
    proxy.control.drop = true;
    await clock.advance(30_000);
    await clock.advance(15_000);
    expect(await items.next()).toMatchObject({
      value: { error: { kind: "network", message: expect.stringContaining("no response to a PING within 15000 ms") as string } },
    });
    expect(clock.pending).toBe(0);
    proxy.control.drop = false;
    expect((await transport.send(get("/"), live)).ok).toBe(true);
    expect(proxy.connections).toBe(2);
  });

  test("one that was idle for long is not used again", async () => {
    const server = await http2Server(echo);
    const clock = new FakeClock();
    const transport = open(configFor(server.port), clock);
    const call = async () => {
      await readResponse(await transport.send(get("/"), live));
      await until(() => clock.pending === 0); // its stream is closed, and the connection idle
    };
    await call();
    await clock.advance(30_000);
    await call();
    expect(server.connections).toBe(1);
    await clock.advance(30_001);
    await call();
    expect(server.connections).toBe(2);
    await until(() => server.sockets.size === 1);
  });

  test("one that is idle has no timer", async () => {
    const server = await http2Server(echo);
    const clock = new FakeClock();
    const transport = open(configFor(server.port), clock);
    await readResponse(await transport.send(get("/"), live));
    await until(() => clock.pending === 0);
  });
});
