import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { err, FakeClock, ok, type Result } from "#base";
import { defineResource, type KubeObject } from "#kube";
import { createKubeClient } from "./client.ts";
import type { KubeError } from "./errors.ts";
import { inProcessTransport } from "./in-process.ts";
import type { WatchEvent } from "./ports.ts";
import type { TransportResponse } from "./transport.ts";
import { decodeEvent, LineSplitter } from "./watch-decoder.ts";

const configMaps = defineResource({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns", resourceVersion: "5" } };
const line = (type: string, value: unknown) => `${JSON.stringify({ type, object: value })}\n`;

function linesOf(pieces: Iterable<Uint8Array>, limit?: number): Result<string, KubeError>[] {
  const splitter = new LineSplitter(limit);
  return [...pieces].flatMap((piece) => [...splitter.push(piece)]);
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.byteLength + 1)), bytes.byteLength].toSorted((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

describe("lines", () => {
  test("are the same however the bytes are split", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat()), (texts, places) => {
        const documents = texts.map((text) => JSON.stringify({ text }));
        const bytes = Buffer.from(documents.map((document) => `${document}\n`).join(""));
        expect(linesOf(cut(bytes, places))).toEqual(documents.map(ok));
      }),
    );
  });

  test("may be empty, and end with CR LF", () => {
    expect(linesOf([Buffer.from("\n \r\n{}\r\n")])).toEqual([ok("{}\r")]);
  });

  test("have a limit, however they are split", () => {
    const tooLong = err({ kind: "protocol", message: "the API server sent an event larger than 4 bytes" });
    expect(linesOf([Buffer.from("1234\n")], 4)).toEqual([ok("1234")]);
    expect(linesOf([Buffer.from("12345\n6\n")], 4)).toEqual([tooLong]);
    expect(linesOf([Buffer.from("123"), Buffer.from("45")], 4)).toEqual([tooLong]);
  });

  test("take time in proportion to their bytes, one byte at a time too", () => {
    const bytes = Buffer.from(`${"x".repeat(200_000)}\n`);
    const pieces = Array.from({ length: bytes.byteLength }, (_, index) => bytes.subarray(index, index + 1));
    expect(linesOf(pieces)).toHaveLength(1);
  });

  test("must be UTF-8", () => {
    expect(linesOf([Uint8Array.of(0xc3, 0x0a)])).toEqual([
      err({ kind: "protocol", message: "the API server sent bytes that are not UTF-8" }),
    ]);
  });
});

describe("events", () => {
  const gone = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "too old", reason: "Expired", code: 410 };
  const rows: { name: string; given: string; want: unknown }[] = [
    { name: "added", given: line("ADDED", object), want: ok({ type: "ADDED", object }) },
    { name: "modified", given: line("MODIFIED", object), want: ok({ type: "MODIFIED", object }) },
    { name: "deleted", given: line("DELETED", object), want: ok({ type: "DELETED", object }) },
    {
      name: "bookmark",
      given: line("BOOKMARK", { kind: "ConfigMap", metadata: { resourceVersion: "9" } }),
      want: ok({ type: "BOOKMARK", resourceVersion: "9" }),
    },
    { name: "410", given: line("ERROR", gone), want: err({ kind: "gone", message: "too old", code: 410, status: gone }) },
    {
      name: "an error without a code",
      given: line("ERROR", {}),
      want: { ok: false, error: { kind: "server-error", code: 500, message: "the API server returned 500" } },
    },
    {
      name: "a status without a code",
      given: line("ERROR", { kind: "Status", status: "Failure", message: "m" }),
      want: {
        ok: false,
        error: { kind: "server-error", code: 500, message: "m", status: { kind: "Status", status: "Failure", message: "m" } },
      },
    },
    {
      name: "an unknown type",
      given: line("LATER", object),
      want: err({ kind: "protocol", message: "the API server sent a watch event of an unknown type" }),
    },
    {
      name: "not an object",
      given: line("ADDED", 1),
      want: err({ kind: "protocol", message: "the API server sent a body that is not a ConfigMap" }),
    },
    {
      name: "an empty bookmark",
      given: line("BOOKMARK", {}),
      want: err({ kind: "protocol", message: "the API server sent a bookmark without a resourceVersion" }),
    },
    { name: "not JSON", given: "?", want: err({ kind: "protocol", message: "the API server sent a body that is not JSON" }) },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(decodeEvent(configMaps, given)).toEqual(want);
  });
});

describe("a watch", () => {
  type Items = AsyncIterable<Result<WatchEvent<KubeObject>, KubeError>>;
  const collect = async (items: Items) => {
    const seen: string[] = [];
    for await (const item of items) seen.push(item.ok ? item.value.type : item.error.kind);
    return seen;
  };
  const watching = (answer: Partial<TransportResponse> | Promise<never>, signal = new AbortController().signal) => {
    const clock = new FakeClock();
    let serverSignal: AbortSignal | undefined;
    const transport = inProcessTransport((_request, given) => {
      serverSignal = given;
      return answer instanceof Promise ? answer : Promise.resolve({ code: 200, headers: {}, body: pieces(), ...answer });
    });
    const client = createKubeClient({ transport, clock, random: () => 0 });
    return { clock, client, events: client.watch(configMaps, {}, signal), serverSignal: () => serverSignal };
  };
  async function* pieces(...items: readonly (string | KubeError)[]): AsyncGenerator<Result<Uint8Array, KubeError>> {
    for (const item of items) yield typeof item === "string" ? ok(Buffer.from(item)) : err(item);
  }
  /** Sends these, then nothing until the client disconnects. */
  async function* thenSilence(...items: readonly string[]): AsyncGenerator<Result<Uint8Array, KubeError>> {
    yield* pieces(...items);
    await new Promise(() => {});
  }

  test("returns events until the server ends it", async () => {
    const { events } = watching({ body: pieces(line("ADDED", object), line("MODIFIED", object) + line("DELETED", object)) });
    expect(await collect(events)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
  });

  test("ends with the error of an ERROR event", async () => {
    const { events } = watching({
      body: pieces(line("ADDED", object), line("ERROR", { kind: "Status", status: "Failure", code: 410 }), line("ADDED", object)),
    });
    expect(await collect(events)).toEqual(["ADDED", "gone"]);
  });

  test("ends with an error when the connection breaks", async () => {
    const { events } = watching({ body: pieces(line("ADDED", object), { kind: "network", message: "broke" }) });
    expect(await collect(events)).toEqual(["ADDED", "network"]);
  });

  test("ends with an error when the body ends within an event", async () => {
    const { events } = watching({ body: pieces(line("ADDED", object), '{"type"') });
    expect(await collect(events)).toEqual(["ADDED", "protocol"]);
  });

  test("ends with the error of a failed request", async () => {
    expect(await collect(watching({ code: 403, body: pieces("no") }).events)).toEqual(["forbidden"]);
    expect(await collect(watching({ code: 410, body: pieces({ kind: "network", message: "broke" }) }).events)).toEqual(["network"]);
  });

  test("ends without an error when its signal fires between events", async () => {
    const caller = new AbortController();
    const { events, clock } = watching({ body: thenSilence(line("ADDED", object)) }, caller.signal);
    const seen = collect(events);
    await clock.advance(1);
    caller.abort();
    expect(await seen).toEqual(["ADDED"]);
  });

  test("ends without an error when its signal fires before the head", async () => {
    const caller = new AbortController();
    const { events, clock } = watching(new Promise<never>(() => {}), caller.signal);
    const seen = collect(events);
    await clock.advance(1);
    caller.abort();
    expect(await seen).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("returns no event after its signal fired, even if it has arrived", async () => {
    const caller = new AbortController();
    const { events } = watching({ body: pieces(line("ADDED", object) + line("ADDED", object)) }, caller.signal);
    let seen = 0;
    for await (const item of events) {
      seen += item.ok ? 1 : 0;
      caller.abort();
    }
    expect(seen).toBe(1);
  });

  test("ends with `cancelled` when the client closes", async () => {
    const { events, client, clock } = watching({ body: thenSilence() });
    const seen = collect(events);
    await clock.advance(1);
    await client.close();
    expect(await seen).toEqual(["cancelled"]);
  });

  test("has a time limit until the head, and none after it", async () => {
    const slow = watching(new Promise<never>(() => {}));
    const seen = collect(slow.events);
    await slow.clock.advance(30_000);
    expect(await seen).toEqual(["timeout"]);
    const silent = watching({ body: thenSilence() });
    let ended = false;
    void collect(silent.events).then(() => (ended = true));
    await silent.clock.advance(86_400_000);
    expect(ended).toBe(false);
    expect(silent.clock.pending).toBe(0);
  });

  test("whose iteration stops early closes its request", async () => {
    const { events, serverSignal, clock } = watching({ body: thenSilence(line("ADDED", object)) });
    for await (const item of events) if (item.ok) break;
    expect(serverSignal()?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
