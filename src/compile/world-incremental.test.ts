/** After many changes a world equals a new world of the same resources, byte for byte; and each change returns the affected services only. */
import { describe, expect, test } from "vitest";
import { expectOk, seededRandom } from "#base";
import { LATTICE_API_VERSION, parseLatticeEnvironment, parseLatticeService } from "#crds";
import { keyText } from "#kube";
import { emptyWorld, randomChange, results, wholeOf, worldWith } from "../../test/builders/changing-world.ts";
import { roundsOf } from "../../test/builders/rounds.ts";
import { serviceYaml, worldOf } from "../../test/builders/world.ts";
import type { World, WorldObject } from "./world.ts";

const SEEDS = Array.from({ length: roundsOf({ sample: 30, long: 150 }) }, (_, seed) => seed);
const STEPS = 30;

type Walk = { readonly world: World; readonly present: Map<string, WorldObject>; readonly affected: ReadonlySet<string> };

/** Applies random changes; `look` is called after each. */
function walk(seed: number, look: (walk: Walk) => void): Walk {
  const random = seededRandom(seed);
  const world = emptyWorld();
  const present = new Map<string, WorldObject>();
  let at: Walk = { world, present, affected: new Set() };
  for (let step = 0; step < STEPS; step += 1) {
    const change = randomChange(random, [...present.values()]);
    if ("put" in change) {
      present.set(`${change.put.kind} ${keyText(change.put.metadata)}`, change.put);
      at = { world, present, affected: world.put(change.put) };
    } else {
      present.delete(`${change.remove} ${change.key}`);
      at = { world, present, affected: world.remove(change.remove, change.key) };
    }
    look(at);
  }
  return at;
}

describe("after any changes", () => {
  test("a world equals a new one, filled in any order", () => {
    for (const seed of SEEDS) {
      const { world, present } = walk(seed, ({ world: now }) => void (seed % 3 === 0 && wholeOf(now)));
      const objects = [...present.values()];
      const want = wholeOf(worldWith(objects));
      expect(wholeOf(world), `seed ${seed}`).toBe(want);
      expect(wholeOf(worldWith(objects.toReversed())), `seed ${seed}, backwards`).toBe(want);
    }
  }, 300_000);

  test("a change returns every service whose objects change", () => {
    for (const seed of SEEDS.slice(0, roundsOf({ sample: 16, long: 80 }))) {
      let before: ReadonlyMap<string, string> = new Map();
      walk(seed, ({ world, affected }) => {
        const after = results(world);
        const changed = [...after].filter(([key, text]) => before.get(key) !== text).map(([key]) => key.replace(/^\w+ /, ""));
        expect(
          changed.filter((key) => !affected.has(key)),
          `seed ${seed}`,
        ).toEqual([]);
        before = after;
      });
    }
  }, 300_000);
});

describe("the services that a change affects", () => {
  const SERVICES = 400;
  const raw = (at: number, more: Readonly<Record<string, unknown>> = {}) => {
    const peers = [1, 7, 31].map((step) => `s${(at + step) % SERVICES}`);
    const callers = [1, 7, 31].map((step) => `s${(at - step + SERVICES) % SERVICES}`);
    const resources = Object.fromEntries([
      ...peers.map((peer) => [peer, { direction: "outbound" }]),
      ...callers.map((caller) => [caller, { direction: "inbound" }]),
    ]);
    const spec = { containers: { main: { image: "i:1" } }, service: { ports: { http: { port: 80 } } }, resources, ...more };
    return expectOk(
      parseLatticeService({
        apiVersion: LATTICE_API_VERSION,
        kind: "LatticeService",
        metadata: { name: `s${at}`, namespace: "shop" },
        spec,
      }),
    );
  };
  const world = worldWith(Array.from({ length: SERVICES }, (_, at) => raw(at)));

  test("image: the service itself", () => {
    expect([...world.put(raw(5, { containers: { main: { image: "i:2" } } }))]).toEqual(["shop/s5"]);
  });

  test("port: the service, its callees and its callers", () => {
    expect(world.put(raw(5, { service: { ports: { http: { port: 81 } } } })).size).toBe(7);
    expect(world.put(raw(5)).size).toBe(7);
  });

  test("removal and creation: the same seven services", () => {
    expect(world.remove("LatticeService", "shop/s5").size).toBe(7);
    expect(world.put(raw(5)).size).toBe(7);
  });

  test("removal of an unknown service: only its key", () => {
    expect([...world.put({ ...raw(0, { resources: {} }), metadata: { name: "new", namespace: "shop" } })]).toEqual(["shop/new"]);
  });

  test("a new waypoint: all services of its namespace, once", () => {
    const canary = { deploy: { strategy: "canary" } };
    expect(world.put(raw(9, canary)).size).toBe(SERVICES + 1);
    expect([...world.put(raw(9, { ...canary, containers: { main: { image: "i:3" } } }))]).toEqual(["shop/s9"]);
    expect(world.put(raw(11, canary)).size).toBe(7);
  });
});

test("an older environment in the gateway's namespace changes the gateway's identity, and so every service with a route", () => {
  const route = "  resources: {web: {type: route, params: {host: a.test}}}\n";
  const environment = (name: string, spec: object, metadata: object = {}) =>
    expectOk(
      parseLatticeEnvironment({ apiVersion: LATTICE_API_VERSION, kind: "LatticeEnvironment", metadata: { name, ...metadata }, spec }),
    );
  const world = worldOf([serviceYaml("routed", { spec: route }), serviceYaml("other")], { settings: { ingressDomain: "test" } });
  world.put(environment("shop", { gatewayRef: { name: "gateway", namespace: "gw" } }));
  const policies = () => {
    const made = world.compile("shop/routed");
    return made.ok ? JSON.stringify(made.value.objects) : "";
  };
  expect(policies()).toContain("cluster.local/ns/gw/sa/gateway-istio");
  const edge = environment("edge", { namespace: "gw", mesh: { trustDomain: "corp.test" } }, { creationTimestamp: "2026-01-01T00:00:00Z" });
  expect([...world.put(edge)]).toEqual(["shop/routed"]);
  expect(policies()).toContain("corp.test/ns/gw/sa/gateway-istio");
});
