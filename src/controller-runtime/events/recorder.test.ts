import { expect, onTestFinished, test } from "vitest";
import { failWith } from "#embedded-cluster";
import { events as eventResource, field } from "#kube";
import { ControllerWorld, widget } from "../../../test/builders/controller-world.ts";
import { eventOf, microTime, type EventNote } from "./event.ts";
import { EventRecorder } from "./recorder.ts";

const regarding = widget("a", {}, { uid: "u1" });
const note = (more: Partial<EventNote> = {}): EventNote => ({ regarding, type: "Warning", reason: "Broken", note: "it broke", ...more });

async function setup(perObject?: { burst: number; perSecond: number }) {
  const world = await ControllerWorld.open();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const stopping = new AbortController();
  const { client, clock, logger, metrics } = world;
  const reporter = { controller: "lattice.dev/operator", instance: "me" };
  const options = { client, clock, logger, metrics, reporter, signal: stopping.signal };
  const recorder = new EventRecorder(perObject === undefined ? options : { ...options, perObject });
  return { world, recorder, stopping, events: () => world.objects(eventResource) };
}

test("an event has reporter, reason, object and time", async () => {
  const { recorder, events } = await setup();
  recorder.record(note());
  await recorder.flush();
  expect(await events()).toMatchObject([
    {
      apiVersion: "events.k8s.io/v1",
      metadata: { namespace: "shop", name: expect.stringMatching(/^a\.[0-9a-f]+$/) as string },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "lattice.dev/operator",
      reportingInstance: "me",
      action: "Reconcile",
      reason: "Broken",
      type: "Warning",
      note: "it broke",
      regarding: { apiVersion: "lattice.dev/v1", kind: "Widget", name: "a", namespace: "shop", uid: "u1" },
    },
  ]);
});

test("events about cluster-scoped objects are in namespace default, and long or secret texts are cut", () => {
  const wide = { apiVersion: "v1", kind: "Node", metadata: { name: "n".repeat(253) } };
  const event = eventOf(
    note({ regarding: wide, note: `token=abc ${"y".repeat(2_000)}` }),
    { controller: "c", instance: "i".repeat(300) },
    1,
    1,
  );
  expect(event.metadata.namespace).toBe("default");
  expect(event.metadata.name.length).toBeLessThanOrEqual(253);
  expect(event.note).toMatch(/^token=\[redacted\] y+…$/);
  expect(Buffer.byteLength(event.note)).toBeLessThanOrEqual(1_024);
  expect(event.reportingInstance).toHaveLength(128);
  expect(event.regarding).toEqual({ apiVersion: "v1", kind: "Node", name: wide.metadata.name });
});

test("micro times always have six digits", () => {
  expect([microTime(0), microTime(1, 7), microTime(1, 1_042)]).toEqual([
    "1970-01-01T00:00:00.000000Z",
    "1970-01-01T00:00:00.001007Z",
    "1970-01-01T00:00:00.001042Z",
  ]);
});

test("repeated events are one event with a count, written at most once a minute", async () => {
  const { world, recorder, events } = await setup();
  for (let minute = 0; minute < 3; minute += 1) {
    for (let i = 0; i < 10; i += 1) recorder.record(note());
    await world.clock.advance(60_000);
  }
  expect(await events()).toHaveLength(1);
  expect(world.requests().filter(({ method }) => method === "PATCH")).toHaveLength(2);
  await recorder.flush();
  expect(field((await events())[0], "series")).toMatchObject({ count: 30 });
  expect(world.requests().filter(({ method }) => method === "PATCH")).toHaveLength(3);
});

test("after the window a repetition is a new event", async () => {
  const { world, recorder, events } = await setup();
  recorder.record(note());
  await world.clock.advance(600_001);
  recorder.record(note());
  await recorder.flush();
  expect(await events()).toHaveLength(2);
});

test("the last count of a finished series is written with the next event", async () => {
  const { world, recorder, events } = await setup();
  for (let i = 0; i < 3; i += 1) recorder.record(note());
  await world.clock.advance(600_001);
  recorder.record(note({ regarding: widget("b") }));
  await recorder.flush();
  expect(await events()).toMatchObject([{ series: { count: 3 } }, { regarding: { name: "b" } }]);
});

test("an object whose budget was removed has a full one again", async () => {
  const { world, recorder, events } = await setup({ burst: 2, perSecond: 1 / 60 });
  for (let i = 0; i < 3; i += 1) recorder.record(note({ note: `number ${i}` }));
  await world.clock.advance(120_001);
  recorder.record(note({ regarding: widget("b") }));
  for (let i = 3; i < 6; i += 1) recorder.record(note({ note: `number ${i}` }));
  await recorder.flush();
  expect(await events()).toHaveLength(2 + 1 + 2);
});

test("a series whose event has expired is written as a new event", async () => {
  const { world, recorder, events } = await setup();
  recorder.record(note());
  await recorder.flush();
  const [first] = await events();
  await world.remove(eventResource, { namespace: "shop", name: first?.metadata.name ?? "" });
  await world.clock.advance(120_000);
  recorder.record(note());
  await recorder.flush();
  expect(await events()).toMatchObject([{ series: { count: 2 } }]);
});

test("an object with too many events is limited, and others are not", async () => {
  const { world, recorder, events } = await setup({ burst: 2, perSecond: 1 / 60 });
  for (let i = 0; i < 5; i += 1) recorder.record(note({ note: `number ${i}` }));
  recorder.record(note({ regarding: widget("b") }));
  await recorder.flush();
  expect(await events()).toHaveLength(3);
  await world.clock.advance(60_000);
  recorder.record(note({ note: "later" }));
  await recorder.flush();
  expect(await events()).toHaveLength(4);
  expect(world.metrics.render()).toContain('lattice_events_dropped_total{cause="rate"} 3');
});

test("an event that cannot be sent is dropped without an error", async () => {
  const { world, recorder, stopping, events } = await setup();
  world.intercept({ verb: "create" }, failWith("server-error"));
  recorder.record(note());
  await recorder.flush();
  await world.clock.advance(60_000);
  world.intercept({ verb: ["patch", "apply"] }, failWith("server-error"));
  recorder.record(note());
  await recorder.flush();
  expect(await events()).toEqual([]);
  stopping.abort();
  recorder.record(note({ note: "after the end" }));
  await recorder.flush();
  expect(world.metrics.render()).toContain('lattice_events_dropped_total{cause="error"} 2');
  expect(world.metrics.render()).toContain('lattice_events_dropped_total{cause="stopped"} 1');
});

test("the queue of events is bounded", async () => {
  const { world, recorder, events } = await setup();
  for (let i = 0; i < 3_000; i += 1) recorder.record(note({ regarding: widget(`w${i}`) }));
  await recorder.flush();
  expect(await events()).toHaveLength(500);
  expect(world.metrics.render()).toContain('lattice_events_dropped_total{cause="queue"} 2500');
});

test("a warning is written although the object has used its budget of normal events", async () => {
  const { recorder, events } = await setup({ burst: 2, perSecond: 1 / 60 });
  for (let number = 0; number < 5; number += 1) recorder.record(note({ type: "Normal", reason: "Created", note: `pod ${number}` }));
  recorder.record(note());
  await recorder.flush();
  expect((await events()).map((event) => field(event, "note"))).toEqual(["pod 0", "pod 1", "it broke"]);
});
