import { describe, expect, test } from "vitest";
import { FakeClock } from "#base";
import { TurnBudget } from "../turns.ts";
import { EVENT_BYTES, WatchBacklog } from "../protocol/watch-backlog.ts";
import { WatchFeed } from "./watch-feed.ts";
import type { StoreEvent } from "../store/index.ts";

const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
const change = (revision: number, replacedBytes = 0): StoreEvent => ({
  type: "MODIFIED",
  collection: "/configmaps",
  key: "a",
  revision,
  object,
  previous: object,
  replacedBytes,
});

function openFeed(backlog: WatchBacklog) {
  let closed = 0;
  const feed = new WatchFeed(backlog, new TurnBudget(new FakeClock()), () => (closed += 1));
  feed.started();
  const chunks = feed[Symbol.asyncIterator]();
  return { feed, chunks, isClosed: () => closed === 1, push: (at: number, bytes = 0) => feed.push(() => `${at};`, change(at, bytes)) };
}

async function rest(chunks: AsyncGenerator<string, void>): Promise<string> {
  let all = "";
  for await (const chunk of chunks) all += chunk;
  return all;
}

describe("a watcher that does not read", () => {
  test("is closed when too many events wait for it, and they are discarded", async () => {
    const backlog = new WatchBacklog({ events: 3 });
    const { feed, push, chunks, isClosed } = openFeed(backlog);
    for (const at of [1, 2, 3]) push(at);
    expect(isClosed()).toBe(false);
    push(4);
    push(5);
    expect(isClosed()).toBe(true);
    expect(feed.ended).toBe(true);
    expect(backlog.bytes).toBe(0);
    expect(await rest(chunks)).toBe("");
  });

  test("is closed when too many bytes wait for it", () => {
    const { push, isClosed } = openFeed(new WatchBacklog({ watcherBytes: 1_000 + 2 * EVENT_BYTES }));
    push(1, 1_000);
    expect(isClosed()).toBe(false);
    push(2, 1);
    expect(isClosed()).toBe(true);
  });

  test("may begin with more events than the limits, which count only later ones", async () => {
    const backlog = new WatchBacklog({ events: 3, watcherBytes: 1_000 });
    const feed = new WatchFeed(backlog, new TurnBudget(new FakeClock()), () => {});
    for (let at = 0; at < 50; at += 1) feed.push(() => `${at};`, change(at + 1, 100));
    feed.started();
    for (let at = 50; at < 53; at += 1) feed.push(() => `${at};`, change(at + 1));
    expect(feed.ended).toBe(false);
    feed.end();
    expect((await rest(feed[Symbol.asyncIterator]())).split(";")).toHaveLength(54);
  });
});

describe("the total", () => {
  test("counts an event once for all its watchers", () => {
    const backlog = new WatchBacklog();
    const feeds = [1, 2, 3].map(() => openFeed(backlog));
    const [first, second] = [change(1, 10_000), change(2, 500)];
    for (const event of [first, second]) for (const { feed } of feeds) feed.push(() => "x", event);
    for (const { feed } of feeds) feed.push(() => "x", first); // as a replay of history would
    expect(backlog.bytes).toBe(10_500 + 9 * EVENT_BYTES);
    for (const { feed } of feeds) feed.drop();
    expect(backlog.bytes).toBe(0);
  });

  test("over the limit, the watcher with the oldest undelivered event is closed first", () => {
    const backlog = new WatchBacklog({ totalBytes: 3_000 + 4 * EVENT_BYTES });
    const [slow, later, newest] = [openFeed(backlog), openFeed(backlog), openFeed(backlog)];
    slow.push(1, 1_000);
    later.push(2, 1_000);
    newest.push(3, 1_000);
    newest.push(4, 500);
    expect([slow, later, newest].map(({ isClosed }) => isClosed())).toEqual([true, false, false]);
    newest.push(5, 1_500);
    expect([later, newest].map(({ isClosed }) => isClosed())).toEqual([true, false]);
  });

  test("a watcher that has read meanwhile is no longer the oldest", async () => {
    const backlog = new WatchBacklog({ totalBytes: 2_000 + 4 * EVENT_BYTES });
    const [reader, slow, other] = [openFeed(backlog), openFeed(backlog), openFeed(backlog)];
    other.push(1, 900);
    reader.push(2, 500);
    slow.push(3, 500);
    other.push(4, 900); // closes `other`, and sorts the others
    expect(other.isClosed()).toBe(true);
    expect((await reader.chunks.next()).value).toBe("2;");
    void reader.chunks.next();
    reader.push(5, 1_900);
    expect([reader, slow].map(({ isClosed }) => isClosed())).toEqual([false, true]);
  });

  test("text that is being sent counts, and its watcher is disconnected", async () => {
    const backlog = new WatchBacklog({ totalBytes: 1_000 });
    const { feed, chunks, isClosed } = openFeed(backlog);
    let cut = 0;
    feed.whenDropped(() => (cut += 1));
    feed.push(() => "x".repeat(900));
    expect((await chunks.next()).value).toHaveLength(900);
    expect(backlog.bytes).toBe(900);
    feed.push(() => "y");
    expect([cut, isClosed(), backlog.bytes]).toEqual([1, true, 0]);
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  test("nothing is counted after the last watcher was closed", async () => {
    const backlog = new WatchBacklog();
    const { chunks, push } = openFeed(backlog);
    push(1, 1_000);
    await chunks.next();
    push(2, 1_000);
    await chunks.return();
    expect(backlog.bytes).toBe(0);
  });
});

test("a long backlog is read in pieces, in order", async () => {
  const { feed, chunks } = openFeed(new WatchBacklog());
  for (let at = 0; at < 3_000; at += 1) feed.push(() => `${at}${" ".repeat(1_000)};`);
  feed.end();
  const pieces: string[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(70_000);
  expect(pieces.join("").split(";").map(Number).slice(0, 3_000)).toEqual(Array.from({ length: 3_000 }, (_, at) => at));
});

test("a list in one slot is delivered as single events, and counted as a list", async () => {
  const backlog = new WatchBacklog({ events: 3 });
  const { feed, chunks } = openFeed(backlog);
  feed.pushAll([], String);
  feed.pushAll([1, 2, 3, 4, 5], (item) => `${item};`);
  feed.push(() => "after");
  expect(backlog.bytes).toBe(2 * EVENT_BYTES + 5 * 8);
  expect((await chunks.next()).value).toBe("1;2;3;4;5;after");
});

test("later events wait for an event without a text", async () => {
  const backlog = new WatchBacklog();
  const { feed, chunks } = openFeed(backlog);
  const slot = feed.push(undefined, change(1, 100));
  feed.push(() => "second");
  const read = chunks.next();
  feed.fill(slot, () => "first,", 50);
  expect((await read).value).toBe("first,second");
  feed.end();
  expect((await chunks.next()).done).toBe(true);
  feed.fill(slot, () => "late", 50);
  expect(backlog.bytes).toBe(0);
});
