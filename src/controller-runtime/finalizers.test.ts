import { expect, test } from "vitest";
import { ControllerWorld, widget, widgets } from "../../test/builders/controller-world.ts";
import { addFinalizer, removeFinalizer } from "./finalizers.ts";

const finalizer = "lattice.dev/test";
const signal = new AbortController().signal;

function setup(finalizers: readonly string[]) {
  const world = new ControllerWorld();
  const object = world.api.put(widgets, widget("a", {}, { finalizers }));
  return { world, request: { client: world.client, resource: widgets, object, finalizer, signal } };
}

test("it is added beside others, once", async () => {
  const { world, request } = setup(["x/y"]);
  expect(await addFinalizer(request)).toMatchObject({ ok: true, value: { metadata: { finalizers: ["x/y", finalizer] } } });
  const version = world.widget("a")?.metadata.resourceVersion;
  expect(await addFinalizer({ ...request, object: world.widget("a") ?? request.object })).toMatchObject({ ok: true });
  expect(world.widget("a")?.metadata.resourceVersion).toBe(version);
});

test("somebody who was faster keeps what he wrote", async () => {
  const { world, request } = setup([]);
  world.api.put(widgets, { ...request.object, metadata: { ...request.object.metadata, finalizers: ["fast/er"] } });
  expect(await addFinalizer(request)).toMatchObject({ ok: true });
  expect(world.widget("a")?.metadata.finalizers).toEqual(["fast/er", finalizer]);
  world.api.put(widgets, { ...request.object, metadata: { ...request.object.metadata, finalizers: ["fast/er", "more/over", finalizer] } });
  expect(
    await removeFinalizer({ ...request, object: { ...request.object, metadata: { ...request.object.metadata, finalizers: [finalizer] } } }),
  ).toMatchObject({ ok: true });
  expect(world.widget("a")?.metadata.finalizers).toEqual(["fast/er", "more/over"]);
});

test("it is too late for an object that is going or gone", async () => {
  const { world, request } = setup(["x/y"]);
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  expect(await addFinalizer(request)).toEqual({ ok: true, value: undefined });
  const gone = setup([]);
  gone.world.api.remove(widgets, { namespace: "shop", name: "a" });
  expect(await addFinalizer(gone.request)).toEqual({ ok: true, value: undefined });
});

test("another object of the same name is left alone", async () => {
  const { world, request } = setup([finalizer]);
  world.api.put(widgets, { ...request.object, metadata: { ...request.object.metadata, finalizers: [] } });
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  world.api.put(widgets, widget("a", {}, { finalizers: [finalizer] }));
  expect(await removeFinalizer(request)).toEqual({ ok: true, value: undefined });
  expect(world.widget("a")?.metadata.finalizers).toEqual([finalizer]);
});

test("what the server refuses is an error", async () => {
  const rows = [
    { faults: [["PATCH", 500]], kind: "server-error" },
    {
      faults: [
        ["PATCH", 409],
        ["GET", 500],
      ],
      kind: "server-error",
    },
    { faults: Array.from({ length: 5 }, () => ["PATCH", 409] as const), kind: "conflict" },
  ] as const;
  for (const { faults, kind } of rows) {
    const { world, request } = setup([]);
    for (const [method, code] of faults) world.api.faults.script({ kind: "answer", code }, (sent) => sent.method === method);
    expect(await addFinalizer(request)).toMatchObject({ ok: false, error: { kind } });
  }
});

test("an object that vanished between two tries is gone", async () => {
  const { world, request } = setup([]);
  world.api.faults.script({ kind: "answer", code: 409 }, ({ method }) => method === "PATCH");
  const pending = addFinalizer(request);
  world.api.remove(widgets, { namespace: "shop", name: "a" });
  expect(await pending).toEqual({ ok: true, value: undefined });
});
