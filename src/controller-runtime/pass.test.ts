/** One pass: the arguments of each function of a controller, and when it is called. */
import { describe, expect, test } from "vitest";
import { err, ok } from "#base";
import { configMaps, ControllerWorld, widget, widgets } from "../../test/builders/controller-world.ts";
import { widgetController } from "../../test/builders/widget-controller.ts";
import { failed, settled } from "./outcome.ts";

async function run(more: Parameters<typeof widgetController>[0]): Promise<ControllerWorld> {
  const world = await ControllerWorld.open();
  await world.put(widgets, widget("a", { count: 1 }));
  world.start([widgetController(more)]);
  await world.clock.advance(100);
  return world;
}

describe("a plan that is a first step", () => {
  test("is carried out, and then the object is observed and planned again in the same pass", async () => {
    const calls: string[] = [];
    let prepared = false;
    await using world = await run({
      observe: () => (calls.push("observe"), Promise.resolve(ok({ count: prepared ? 1 : 0 }))),
      plan: (_widget, { count }) =>
        ok(count === 0 ? { apply: [], commands: ["prepare"], again: true } : { apply: [], commands: ["finish"] }),
      perform: (command) => {
        calls.push(command);
        prepared = true;
        return Promise.resolve(settled);
      },
    });
    expect(calls).toEqual(["observe", "prepare", "observe", "finish"]);
    expect((await world.widget("a"))?.status).toMatchObject({ configMaps: 1 });
    expect(world.lines.filter(({ message }) => message === "reconciled")).toHaveLength(1);
    await world.end();
  });

  test("ends the pass when it fails, and the status is that of this step", async () => {
    let rounds = 0;
    await using world = await run({
      observe: () => ((rounds += 1), Promise.resolve(ok({ count: 7 }))),
      plan: () => ok({ apply: [], commands: ["prepare"], again: true }),
      perform: () => Promise.resolve(failed({ kind: "forbidden", message: "no right to prepare" })),
    });
    expect(rounds).toBe(1);
    expect((await world.widget("a"))?.status).toMatchObject({ configMaps: 7 });
    expect(await world.ready("a")).toMatchObject({ reason: "ReconcileFailed", message: "no right to prepare" });
    await world.end();
  });

  test("is not repeated forever", async () => {
    let rounds = 0;
    await using world = await run({
      observe: () => ((rounds += 1), Promise.resolve(ok({ count: 0 }))),
      plan: () => ok({ apply: [], commands: [], again: true }),
    });
    expect(rounds).toBe(8);
    expect(await world.ready("a")).toMatchObject({ reason: "ReconcileFailed", message: "the plan was not complete after 8 rounds" });
    await world.end();
  });
});

test("an observation has no client that writes, even if types are ignored", async () => {
  let methods: readonly string[] = [];
  await using world = await run({
    observe: (_widget, { client }) => {
      methods = Object.keys(client);
      return Promise.resolve(ok({ count: 0 }));
    },
  });
  expect(methods.toSorted()).toEqual(["get", "list"]);
  await world.end();
});

test("an observation reads from the API server", async () => {
  await using world = await run({
    reads: [configMaps],
    observe: async (_widget, { client }) => {
      const [one, all] = [await client.get(widgets, { namespace: "shop", name: "a" }), await client.list(widgets)];
      return one.ok && all.ok ? ok({ count: all.value.items.length }) : err({ kind: "not-found", message: "nothing" });
    },
  });
  expect((await world.widget("a"))?.status).toMatchObject({ configMaps: 1 });
  await world.end();
});

test("commands of a controller without perform are reported as a bug", async () => {
  await using world = await run({ plan: () => ok({ apply: [], commands: ["lost"] }), perform: undefined } as unknown as Parameters<
    typeof widgetController
  >[0]);
  expect(await world.ready("a")).toMatchObject({ reason: "InternalError" });
  await world.end();
});

test("a controller without status writes only Ready", async () => {
  await using world = await run({ status: undefined } as unknown as Parameters<typeof widgetController>[0]);
  expect(Object.keys((await world.widget("a"))?.status ?? {}).toSorted()).toEqual(["conditions", "observedGeneration"]);
  expect(await world.ready("a")).toMatchObject({ status: "True", reason: "Settled" });
  await world.end();
});
