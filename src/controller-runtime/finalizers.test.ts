import { expect, onTestFinished, test } from "vitest";
import { failWith } from "#embedded-cluster";
import { ControllerWorld, widget, widgets } from "../../test/builders/controller-world.ts";
import { addFinalizer, removeFinalizer } from "./finalizers.ts";

const finalizer = "lattice.dev/test";
const signal = new AbortController().signal;

async function setup(finalizers: readonly string[]) {
  const world = await ControllerWorld.open();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const object = await world.put(widgets, widget("a", {}, { finalizers }));
  return { world, request: { client: world.client, resource: widgets, object, finalizer, signal } };
}

test("it is added once, beside others", async () => {
  const { world, request } = await setup(["x/y"]);
  expect(await addFinalizer(request)).toMatchObject({ ok: true, value: { metadata: { finalizers: ["x/y", finalizer] } } });
  const version = (await world.widget("a"))?.metadata.resourceVersion;
  expect(await addFinalizer({ ...request, object: (await world.widget("a")) ?? request.object })).toMatchObject({ ok: true });
  expect((await world.widget("a"))?.metadata.resourceVersion).toBe(version);
});

test("concurrent changes of other finalizers are kept", async () => {
  const { world, request } = await setup([]);
  await world.put(widgets, { ...request.object, metadata: { ...request.object.metadata, finalizers: ["fast/er"] } });
  expect(await addFinalizer(request)).toMatchObject({ ok: true });
  expect((await world.widget("a"))?.metadata.finalizers).toEqual(["fast/er", finalizer]);
  await world.put(widgets, {
    ...request.object,
    metadata: { ...request.object.metadata, finalizers: ["fast/er", "more/over", finalizer] },
  });
  expect(
    await removeFinalizer({ ...request, object: { ...request.object, metadata: { ...request.object.metadata, finalizers: [finalizer] } } }),
  ).toMatchObject({ ok: true });
  expect((await world.widget("a"))?.metadata.finalizers).toEqual(["fast/er", "more/over"]);
});

test("it is not added to an object that is terminating or deleted", async () => {
  const { world, request } = await setup(["x/y"]);
  await world.remove(widgets, { namespace: "shop", name: "a" });
  expect(await addFinalizer(request)).toEqual({ ok: true, value: undefined });
  const gone = await setup([]);
  await gone.world.remove(widgets, { namespace: "shop", name: "a" });
  expect(await addFinalizer(gone.request)).toEqual({ ok: true, value: undefined });
});

test("another object of the same name is not changed", async () => {
  const { world, request } = await setup([finalizer]);
  await world.put(widgets, { ...request.object, metadata: { ...request.object.metadata, finalizers: [] } });
  await world.remove(widgets, { namespace: "shop", name: "a" });
  await world.put(widgets, widget("a", {}, { finalizers: [finalizer] }));
  expect(await removeFinalizer(request)).toEqual({ ok: true, value: undefined });
  expect((await world.widget("a"))?.metadata.finalizers).toEqual([finalizer]);
});

test("a rejection by the server is an error", async () => {
  const rows = [
    { faults: [["patch", "server-error", 1]], kind: "server-error" },
    {
      faults: [
        ["patch", "conflict", 1],
        ["get", "server-error", 1],
      ],
      kind: "server-error",
    },
    { faults: [["patch", "conflict", 5]], kind: "conflict" },
  ] as const;
  for (const { faults, kind } of rows) {
    const { world, request } = await setup([]);
    for (const [verb, failing, times] of faults) world.intercept({ verb, times }, failWith(failing));
    expect(await addFinalizer(request)).toMatchObject({ ok: false, error: { kind } });
  }
});

test("an object that is deleted between two attempts is reported as deleted", async () => {
  const { world, request } = await setup([]);
  world.intercept({ verb: ["patch", "apply"] }, failWith("conflict"));
  const pending = addFinalizer(request);
  await world.remove(widgets, { namespace: "shop", name: "a" });
  expect(await pending).toEqual({ ok: true, value: undefined });
});
