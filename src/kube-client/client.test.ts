import { describe, expect, test } from "vitest";
import { createLogger, err, expectOk, FakeClock, ok, type LogFields, type Result } from "#base";
import { defineResource, type KubeObject } from "#kube";
import { createKubeClient, type KubeClientOptions } from "./client.ts";
import type { KubeError } from "./errors.ts";
import { inProcessTransport } from "./in-process.ts";
import type { KubeClient } from "./ports.ts";
import type { Transport, TransportResponse, TransportRequest } from "./transport.ts";

const configMaps = defineResource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const key = { namespace: "ns", name: "a" };
const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns" } };

async function* pieces(...items: readonly (string | KubeError)[]): AsyncGenerator<Result<Uint8Array, KubeError>> {
  for (const item of items) yield typeof item === "string" ? ok(Buffer.from(item)) : err(item);
}

function answer(code: number, body: unknown, headers: Record<string, string> = {}): TransportResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { code, headers, body: { [Symbol.asyncIterator]: () => pieces(text) } };
}

/** A server that sends these responses in turn; the last one repeatedly. */
function scripted(script: readonly (TransportResponse | KubeError)[], options: Partial<KubeClientOptions> = {}) {
  const requests: TransportRequest[] = [];
  const clock = new FakeClock();
  const transport: Transport = {
    send(request) {
      const next = script[Math.min(requests.length, script.length - 1)];
      requests.push(request);
      if (next === undefined) throw new Error("a script needs a response");
      return Promise.resolve("kind" in next ? err(next) : ok(next));
    },
    close: () => Promise.resolve(),
  };
  return { requests, clock, client: createKubeClient({ transport, clock, random: () => 0, ...options }) };
}

/** Advances the clock until the call has ended. */
async function finish<T>(clock: FakeClock, call: Promise<T>): Promise<T> {
  const state = { done: false };
  const settled = call.finally(() => (state.done = true));
  while (!state.done) await clock.advance(100);
  return settled;
}

const status = (code: number, reason: string, details?: object) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: `because of ${reason}`,
  reason,
  code,
  details,
});

describe("answers", () => {
  test("an object is returned", async () => {
    const { client } = scripted([answer(200, object)]);
    expect(await client.get(configMaps, key)).toEqual(ok(object));
  });

  test("list items get the kind that servers omit", async () => {
    const list = { metadata: { resourceVersion: "9", continue: "c" }, items: [{ metadata: { name: "a" } }, { ...object, kind: "Other" }] };
    const { client } = scripted([answer(200, list)]);
    const page = expectOk(await client.list(configMaps));
    expect(page.metadata).toEqual({ resourceVersion: "9", continue: "c" });
    expect(page.items.map((item) => `${item.apiVersion} ${item.kind}`)).toEqual(["v1 ConfigMap", "v1 Other"]);
  });

  test("a list may have null for items", async () => {
    const { client } = scripted([answer(200, { metadata: { resourceVersion: "9" }, items: null })]);
    expect(expectOk(await client.list(configMaps)).items).toEqual([]);
  });

  test("a body whose chunks split characters is joined", async () => {
    const bytes = Buffer.from("äöü");
    const body = (async function* () {
      for (const byte of bytes) yield ok(Uint8Array.of(byte));
    })();
    const { client } = scripted([{ code: 200, headers: {}, body }]);
    expect(await client.raw("/x")).toEqual(ok("äöü"));
  });

  test("delete distinguishes a deleted object from a missing one", async () => {
    expect(await scripted([answer(200, status(200, "Success"))]).client.delete(configMaps, key)).toEqual(ok(true));
    expect(await scripted([answer(404, status(404, "NotFound"))]).client.delete(configMaps, key)).toEqual(ok(false));
    expect(await scripted([answer(409, status(409, "Conflict"))]).client.delete(configMaps, key)).toMatchObject({
      error: { kind: "conflict" },
    });
  });
});

describe("errors have a kind", () => {
  const rows: { name: string; given: TransportResponse | KubeError; want: Partial<KubeError> }[] = [
    {
      name: "400",
      given: answer(400, status(400, "BadRequest")),
      want: { kind: "bad-request", code: 400, message: "because of BadRequest" },
    },
    { name: "401", given: answer(401, status(401, "Unauthorized")), want: { kind: "unauthorized", code: 401 } },
    { name: "403", given: answer(403, status(403, "Forbidden")), want: { kind: "forbidden" } },
    { name: "404", given: answer(404, status(404, "NotFound")), want: { kind: "not-found" } },
    {
      name: "404 as text",
      given: answer(404, "404 page not found\n"),
      want: { kind: "not-found", message: "the API server returned 404" },
    },
    { name: "409 conflict", given: answer(409, status(409, "Conflict")), want: { kind: "conflict" } },
    { name: "409 exists", given: answer(409, status(409, "AlreadyExists")), want: { kind: "already-exists" } },
    { name: "410", given: answer(410, status(410, "Expired")), want: { kind: "gone" } },
    { name: "413", given: answer(413, "too large"), want: { kind: "bad-request", code: 413 } },
    { name: "415", given: answer(415, status(415, "UnsupportedMediaType")), want: { kind: "unsupported-media-type" } },
    { name: "422", given: answer(422, status(422, "Invalid")), want: { kind: "invalid" } },
    { name: "429", given: answer(429, "slow down", { "retry-after": "100" }), want: { kind: "too-many-requests", retryAfterMs: 100_000 } },
    { name: "500", given: answer(500, status(500, "InternalError")), want: { kind: "server-error" } },
    { name: "503", given: answer(503, "", { "retry-after": "soon" }), want: { kind: "unavailable", code: 503 } },
    { name: "504", given: answer(504, status(504, "Timeout", { retryAfterSeconds: 2 })), want: { kind: "timeout", retryAfterMs: 2_000 } },
    { name: "a broken connection", given: { kind: "network", message: "broke" }, want: { kind: "network", message: "broke" } },
    {
      name: "not JSON",
      given: answer(200, "{oops"),
      want: { kind: "protocol", message: "the API server sent a body that is not JSON" },
    },
    {
      name: "not an object",
      given: answer(200, "[]"),
      want: { kind: "protocol", message: "the API server sent a body that is not a ConfigMap" },
    },
    {
      name: "not UTF-8",
      given: {
        code: 200,
        headers: {},
        body: (async function* () {
          yield ok(Uint8Array.of(0xff));
        })(),
      },
      want: { kind: "protocol", message: "the API server sent bytes that are not UTF-8" },
    },
  ];
  test.each(rows)("$name", async ({ given, want }) => {
    const { client } = scripted([given], { retry: { attempts: 1, backoff: { initialMs: 1, maxMs: 1, factor: 1 } } });
    expect(await client.get(configMaps, key)).toMatchObject({ ok: false, error: want });
  });

  test.each([
    { given: { items: [] } },
    { given: { metadata: { resourceVersion: "1" }, items: {} } },
    { given: { metadata: { resourceVersion: "1" }, items: [1] } },
  ])("an invalid list: $given", async ({ given }) => {
    expect(await scripted([answer(200, given)]).client.list(configMaps)).toMatchObject({ ok: false, error: { kind: "protocol" } });
  });

  test("a body larger than the limit", async () => {
    const { client } = scripted([answer(200, "x".repeat(101))], { maxBodyBytes: 100 });
    expect(await client.raw("/x")).toEqual(err({ kind: "protocol", message: "the response is larger than 100 bytes", retry: "useless" }));
  });

  test("errors never quote the response", async () => {
    const { client } = scripted([answer(200, '{"data": hunter2')]);
    expect(JSON.stringify(await client.get(configMaps, key))).not.toContain("hunter2");
  });
});

describe("retries", () => {
  const good = answer(200, object);
  const network: KubeError = { kind: "network", message: "broke" };
  const get = (client: KubeClient) => client.get(configMaps, key);
  const create = (client: KubeClient) => client.create(configMaps, object);
  const busy = () => answer(429, "", { "retry-after": "1" });
  const rows: { name: string; given: (client: KubeClient) => Promise<unknown>; first: TransportResponse | KubeError; want: number }[] = [
    { name: "a read after a broken connection", given: get, first: network, want: 2 },
    { name: "a read after 429", given: get, first: busy(), want: 2 },
    { name: "a read after 503", given: get, first: answer(503, ""), want: 2 },
    { name: "a read with an incomplete body", given: get, first: { code: 200, headers: {}, body: pieces('{"a":', network) }, want: 2 },
    { name: "no read after 500", given: get, first: answer(500, ""), want: 1 },
    { name: "no read after 404", given: get, first: answer(404, ""), want: 1 },
    { name: "no read that cannot succeed", given: get, first: { ...network, retry: "useless" }, want: 1 },
    { name: "no write after a broken connection", given: create, first: network, want: 1 },
    { name: "a write that was never sent", given: create, first: { ...network, retry: "safe" }, want: 2 },
    { name: "a write after 429", given: create, first: busy(), want: 2 },
    { name: "a write after 503 with Retry-After", given: create, first: answer(503, "", { "retry-after": "1" }), want: 2 },
    { name: "no write after 503 without Retry-After", given: create, first: answer(503, ""), want: 1 },
    { name: "no write after 504", given: create, first: answer(504, "", { "retry-after": "1" }), want: 1 },
    {
      name: "no write that was cancelled before it was sent",
      given: create,
      first: { kind: "cancelled", message: "", retry: "safe" },
      want: 1,
    },
  ];
  test.each(rows)("$name", async ({ given, first, want }) => {
    const { client, clock, requests } = scripted([first, good]);
    await finish(clock, given(client));
    expect(requests.length).toBe(want);
    expect(clock.pending).toBe(0);
  });

  test("end after four tries, with growing waits", async () => {
    const { client, clock, requests } = scripted([network]);
    const start = clock.monotonic();
    expect(await finish(clock, get(client))).toEqual(err(network));
    expect(requests.length).toBe(4);
    expect(clock.monotonic() - start).toBe(700); // 100 + 200 + 400, no jitter
  });

  test("wait for the Retry-After of the server", async () => {
    const { client, clock, requests } = scripted([answer(429, "", { "retry-after": "7" }), good]);
    const call = get(client);
    await clock.advance(7_000);
    expect(requests.length).toBe(1);
    await clock.advance(200);
    expect(await call).toEqual(ok(object));
  });

  test("do not wait beyond the time limit", async () => {
    const { client, requests } = scripted([answer(429, "", { "retry-after": "60" })]);
    expect(await get(client)).toMatchObject({ error: { kind: "too-many-requests", retryAfterMs: 60_000 } });
    expect(requests.length).toBe(1);
  });

  test("a wait ends when the caller aborts", async () => {
    const { client, clock } = scripted([network]);
    const caller = new AbortController();
    const call = client.get(configMaps, key, { signal: caller.signal });
    await clock.advance(1);
    caller.abort();
    expect(await call).toMatchObject({ error: { kind: "cancelled" } });
    expect(clock.pending).toBe(0);
  });
});

describe("time limits and cancellation", () => {
  const never = new Promise<never>(() => {});
  const silentHead: Transport = { send: () => never, close: () => Promise.resolve() };
  const silentBody: Transport = {
    send: () => Promise.resolve(ok({ code: 200, headers: {}, body: { [Symbol.asyncIterator]: () => ({ next: () => never }) } })),
    close: () => Promise.resolve(),
  };
  const stages = [
    { name: "before the head", transport: silentHead },
    { name: "in the body", transport: silentBody },
  ];

  test.each(stages)("a call that hangs $name ends at its limit", async ({ transport }) => {
    const clock = new FakeClock();
    const client = createKubeClient({ transport, clock, random: () => 0 });
    const call = client.get(configMaps, key);
    const short = client.get(configMaps, key, { timeoutMs: 5 });
    await clock.advance(5);
    expect(await short).toEqual(err({ kind: "timeout", message: "no response within 5 ms" }));
    await clock.advance(30_000);
    expect(await call).toEqual(err({ kind: "timeout", message: "no response within 30000 ms" }));
    expect(clock.pending).toBe(0);
  });

  test.each(stages)("a call that hangs $name ends when its caller aborts", async ({ transport }) => {
    const clock = new FakeClock();
    const caller = new AbortController();
    const call = createKubeClient({ transport, clock, random: () => 0 }).get(configMaps, key, { signal: caller.signal });
    await clock.advance(1);
    caller.abort();
    expect(await call).toEqual(err({ kind: "cancelled", message: "the call was cancelled" }));
    expect(clock.pending).toBe(0);
  });

  test.each(stages)("a call that hangs $name ends when the client closes", async ({ transport }) => {
    const clock = new FakeClock();
    const client = createKubeClient({ transport, clock, random: () => 0 });
    const call = client.get(configMaps, key);
    await clock.advance(1);
    await client.close();
    expect(await call).toMatchObject({ error: { kind: "cancelled" } });
  });

  test("a call whose signal was aborted before is not sent", async () => {
    const { client, requests, clock } = scripted([answer(200, object)]);
    expect(await client.get(configMaps, key, { signal: AbortSignal.abort() })).toMatchObject({ error: { kind: "cancelled" } });
    expect(requests).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("listeners are removed from a signal after its calls", async () => {
    const { client } = scripted([answer(200, object)]);
    const caller = new AbortController();
    let listeners = 0;
    const signal = new Proxy(caller.signal, {
      get(target, name) {
        if (name === "addEventListener") listeners += 1;
        if (name === "removeEventListener") listeners -= 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    await client.get(configMaps, key, { signal });
    expect(listeners).toBe(0);
  });
});

describe("warnings", () => {
  test("are logged once each", async () => {
    const lines: LogFields[] = [];
    const logger = createLogger((_level, _message, fields) => lines.push(fields));
    const header = '299 - "unknown field \\"spec.x\\"", 299 - "old, and soon gone", 199 - "other"';
    const { client } = scripted([answer(200, object, { warning: header })], { logger });
    await client.raw("/x");
    await client.raw("/x");
    expect(lines).toEqual([{ warning: 'unknown field "spec.x"' }, { warning: "old, and soon gone" }]);
  });

  test("are not stored without a limit", async () => {
    let lines = 0;
    const logger = createLogger(() => (lines += 1));
    const many = Array.from({ length: 1_001 }, (_, index) => `299 - "w${index}"`).join(", ");
    const { client } = scripted([answer(200, object, { warning: many }), answer(200, object, { warning: '299 - "w0"' })], { logger });
    await client.raw("/x");
    await client.raw("/x");
    expect(lines).toBe(1_002);
  });
});

describe("the in-process transport", () => {
  const request: TransportRequest = { method: "GET", path: "/", headers: {} };
  const bodyOf = async (answer: Result<TransportResponse, KubeError>) => {
    const items: unknown[] = [];
    for await (const item of expectOk(answer).body) items.push(item.ok ? Buffer.from(item.value).toString() : item.error.kind);
    return items;
  };

  test("passes request and response", async () => {
    const transport = inProcessTransport((given) => Promise.resolve(answer(200, given.path)));
    expect(await bodyOf(await transport.send(request, new AbortController().signal))).toEqual(["/"]);
  });

  test("an exception of its handler is an error", async () => {
    const transport = inProcessTransport(() => Promise.reject(new Error("bug")));
    expect(await transport.send(request, new AbortController().signal)).toEqual(
      err({ kind: "protocol", message: "the in-process server failed: bug" }),
    );
  });

  test("an exception of a body is its last item", async () => {
    const body = (async function* (): AsyncGenerator<Result<Uint8Array, KubeError>> {
      yield ok(Buffer.from("a"));
      throw new Error("bug");
    })();
    const transport = inProcessTransport(() => Promise.resolve({ code: 200, headers: {}, body }));
    expect(await bodyOf(await transport.send(request, new AbortController().signal))).toEqual(["a", "protocol"]);
  });

  test("does not wait for a handler that ignores its signal", async () => {
    const caller = new AbortController();
    const transport = inProcessTransport(() => new Promise(() => {}));
    const sent = transport.send(request, caller.signal);
    caller.abort();
    expect(await sent).toMatchObject({ error: { kind: "cancelled" } });
    expect(await transport.send(request, caller.signal)).toMatchObject({ error: { kind: "cancelled", retry: "safe" } });
  });

  test("ends bodies when it closes", async () => {
    const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const transport = inProcessTransport(() => Promise.resolve({ code: 200, headers: {}, body }));
    const sent = await transport.send(request, new AbortController().signal);
    const read = bodyOf(sent);
    await transport.close();
    expect(await read).toEqual(["cancelled"]);
  });
});
