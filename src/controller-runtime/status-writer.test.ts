import { expect, onTestFinished, test } from "vitest";
import { failWith } from "#embedded-cluster";
import type { Condition, KubeObject, NewCondition } from "#kube";
import { ControllerWorld, widget, widgets, type Widget } from "../../test/builders/controller-world.ts";
import type { DesiredStatus } from "./controller.ts";
import { conditionsOf, nextStatus, writeStatus } from "./status-writer.ts";

const NOW = "2026-01-01T00:00:00Z";
const OLD = "2025-01-01T00:00:00Z";
const ready = (status: "True" | "False", more: Partial<Condition> = {}): NewCondition => ({
  type: "Ready",
  status,
  reason: "R",
  message: "",
  ...more,
});
const live = (status: object | undefined, generation = 2): KubeObject => ({
  ...widget("a", {}, { uid: "u", generation }),
  ...(status === undefined ? {} : { status }),
});

type Row = { readonly name: string; readonly live: object | undefined; readonly desired: DesiredStatus; readonly want: object | undefined };
const rows: readonly Row[] = [
  {
    name: "a first status is written whole",
    live: undefined,
    desired: { phase: "Ready", conditions: [ready("True")] },
    want: { phase: "Ready", observedGeneration: 2, conditions: [{ ...ready("True"), observedGeneration: 2, lastTransitionTime: NOW }] },
  },
  {
    name: "an equal status is not written again, whatever its transition time",
    live: { phase: "Ready", observedGeneration: 2, conditions: [{ ...ready("True"), observedGeneration: 2, lastTransitionTime: OLD }] },
    desired: { phase: "Ready", conditions: [ready("True", { lastTransitionTime: NOW })] },
    want: undefined,
  },
  {
    name: "a new generation is a change",
    live: { observedGeneration: 1, conditions: [{ ...ready("True"), observedGeneration: 1, lastTransitionTime: OLD }] },
    desired: { conditions: [ready("True")] },
    want: { observedGeneration: 2, conditions: [{ ...ready("True"), observedGeneration: 2, lastTransitionTime: OLD }] },
  },
  {
    name: "conditions and fields of others stay",
    live: {
      theirs: 1,
      observedGeneration: 2,
      conditions: [{ type: "Foreign", status: "True", reason: "F", message: "", lastTransitionTime: OLD }],
    },
    desired: { conditions: [ready("False")] },
    want: {
      theirs: 1,
      observedGeneration: 2,
      conditions: [
        { type: "Foreign", status: "True", reason: "F", message: "", lastTransitionTime: OLD },
        { ...ready("False"), observedGeneration: 2, lastTransitionTime: NOW },
      ],
    },
  },
  {
    name: "a field that is undefined is removed",
    live: { phase: "Ready", gone: 1, observedGeneration: 2, conditions: [] },
    desired: { gone: undefined },
    want: { phase: "Ready", observedGeneration: 2, conditions: [] },
  },
  { name: "an empty status of an object without one is not written", live: { observedGeneration: 2 }, desired: {}, want: undefined },
  {
    name: "the status of a newer pass is kept",
    live: { observedGeneration: 3, conditions: [] },
    desired: { phase: "Old" },
    want: undefined,
  },
];

test.each(rows)("$name", ({ live: status, desired, want }) => {
  const next = nextStatus({ live: live(status), seen: live(undefined), desired, now: NOW });
  expect(next === undefined ? undefined : JSON.parse(JSON.stringify(next))).toEqual(want);
});

test("a message is truncated and cleaned, because it may contain errors of other programs", () => {
  const next = nextStatus({
    live: live(undefined),
    seen: live(undefined),
    desired: { conditions: [ready("False", { message: `password=hunter2 ${"x".repeat(5_000)}` })] },
    now: NOW,
  });
  const [condition] = conditionsOf(next);
  expect(condition?.message).toContain("password=[redacted]");
  expect(Buffer.byteLength(condition?.message ?? "")).toBeLessThanOrEqual(1_024);
});

test("another object of the same name does not get this status", () => {
  const reborn = { ...live(undefined), metadata: { ...live(undefined).metadata, uid: "other" } };
  expect(nextStatus({ live: reborn, seen: live(undefined), desired: { phase: "X" }, now: NOW })).toBeUndefined();
});

test("an invalid condition is ignored", () => {
  expect(conditionsOf({ conditions: [null, { status: "True" }, { type: "A" }] })).toEqual([{ type: "A" }]);
  expect([conditionsOf(undefined), conditionsOf({ conditions: "x" })]).toEqual([[], []]);
});

const signal = new AbortController().signal;

async function setup() {
  const world = await ControllerWorld.open();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const object = await world.put(widgets, widget("a"));
  const write = (desired: DesiredStatus, seen: Widget = object) =>
    writeStatus({ client: world.client, clock: world.clock, resource: widgets, object: seen, desired, signal });
  return { world, object, write };
}

test("a status that the server rejects is written without its details, and not retried forever", async () => {
  for (const code of [413, 422]) {
    const { world, write } = await setup();
    world.intercept(
      { verb: "update" },
      failWith({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "refused", code }),
    );
    expect(await write({ phase: "Failed", urls: { a: "x".repeat(10) }, conditions: [ready("False")] })).toEqual({ ok: true, value: true });
    expect((await world.widget("a"))?.status).toMatchObject({ phase: "Failed", conditions: [{ type: "Ready" }] });
    expect((await world.widget("a"))?.status).not.toHaveProperty("urls");
  }
});

test("a rejected status without details is an error", async () => {
  const { world, write } = await setup();
  world.intercept({ verb: "update" }, failWith("invalid"));
  expect(await write({ phase: "Failed" })).toMatchObject({ ok: false, error: { kind: "invalid" } });
});

test("the message of a status is truncated", () => {
  const next = nextStatus({ live: live(undefined), seen: live(undefined), desired: { message: "x".repeat(100_000) }, now: NOW });
  const message = next?.["message"];
  expect(Buffer.byteLength(typeof message === "string" ? message : "")).toBe(4_096);
});

test("after a conflict the object is read again, and changes in between stay", async () => {
  const { world, object, write } = await setup();
  const foreign: Condition = { type: "Foreign", status: "True", reason: "F", message: "", lastTransitionTime: OLD };
  await world.put(widgets, { ...object, metadata: { ...object.metadata, labels: { by: "person" } }, status: { conditions: [foreign] } });
  expect(await write({ phase: "Ready", conditions: [ready("True")] })).toEqual({ ok: true, value: true });
  const written = await world.widget("a");
  expect(written?.metadata.labels).toEqual({ by: "person" });
  expect(written?.status?.conditions?.map(({ type }) => type)).toEqual(["Foreign", "Ready"]);
});

test("a stale cache costs one read, and no second write", async () => {
  const { world, object, write } = await setup();
  await write({ phase: "Ready" });
  const version = (await world.widget("a"))?.metadata.resourceVersion;
  expect(await write({ phase: "Ready" }, object)).toEqual({ ok: true, value: false });
  expect((await world.widget("a"))?.metadata.resourceVersion).toBe(version);
});

test("a deleted object needs no status", async () => {
  const { world, write } = await setup();
  world.intercept({ verb: "update" }, failWith("conflict"));
  const pending = write({ phase: "Ready" });
  await world.remove(widgets, { namespace: "shop", name: "a" });
  expect(await pending).toEqual({ ok: true, value: false });
  expect(await write({ phase: "Ready" })).toEqual({ ok: true, value: false });
});

test("repeated conflicts, and a server that fails, are errors", async () => {
  const { world, write } = await setup();
  world.intercept({ verb: "update", times: 5 }, failWith("conflict"));
  expect(await write({ phase: "Ready" })).toMatchObject({ ok: false, error: { kind: "conflict" } });
  world.intercept({ verb: "update" }, failWith("server-error"));
  expect(await write({ phase: "Ready" })).toMatchObject({ ok: false, error: { kind: "server-error" } });
  world.intercept({ verb: "update" }, failWith("conflict"));
  world.intercept({ verb: "get" }, failWith("server-error"));
  expect(await write({ phase: "Ready" })).toMatchObject({ ok: false, error: { kind: "server-error" } });
});
