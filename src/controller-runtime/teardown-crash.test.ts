/** A process that dies during an ordered teardown, before or after any of its requests: the next one continues in the same order. */
import { describe, expect, test } from "vitest";
import { err } from "#base";
import { namespaces } from "#kube";
import type { KubeClient } from "#kube-client";
import { capiController, capiWorld, clusters, freeCluster, holdCluster, remaining } from "../../test/builders/capi-controller.ts";
import { widget, widgets, type ControllerWorld } from "../../test/builders/controller-world.ts";

type Death = { readonly at: number; readonly when: "before" | "after" };

/** The client of a process that ends at its n-th request after `arm`: that request is sent or not, and no answer arrives any more. */
function mortalClient(client: KubeClient, { at, when }: Death) {
  const state = { armed: false, requests: 0, dead: false };
  const cancelled = err({ kind: "cancelled", message: "the process has ended" } as const);
  const guard = async <Answer>(send: () => Promise<Answer>): Promise<Answer | typeof cancelled> => {
    if (state.dead) return cancelled;
    if (state.armed) state.requests += 1;
    if (!state.armed || state.requests < at) return send();
    state.dead = true;
    if (when === "after") await send();
    return cancelled;
  };
  const mortal: KubeClient = {
    ...client,
    get: (...call) => guard(() => client.get(...call)),
    list: (...call) => guard(() => client.list(...call)),
    create: (...call) => guard(() => client.create(...call)),
    update: (...call) => guard(() => client.update(...call)),
    apply: (...call) => guard(() => client.apply(...call)),
    patch: (...call) => guard(() => client.patch(...call)),
    delete: (...call) => guard(() => client.delete(...call)),
  };
  return { client: mortal, state };
}

/** Notes what is there when an object is deleted: "Kind/name while …". */
function witness(world: ControllerWorld, seen: string[]): KubeClient {
  const { client } = world;
  const noted: KubeClient["delete"] = async (resource, key, options) => {
    seen.push(`${resource.kind} ${key.name} while ${(await remaining(world)).join(", ")}`);
    expect(resource.kind === "Namespace" || options?.preconditions?.uid !== undefined).toBe(true);
    return client.delete(resource, key, options);
  };
  return { ...client, delete: noted };
}

/** True when the process died before it was done. */
async function crashAndContinue(death: Death): Promise<boolean> {
  await using world = await capiWorld();
  await world.put(widgets, widget("a"));
  const seen: string[] = [];
  const mortal = mortalClient(witness(world, seen), death);
  world.start([capiController()], { client: mortal.client });
  await world.clock.advance(1_000);
  await holdCluster(world, "a");
  await world.clock.advance(1_000);
  mortal.state.armed = true;
  await world.remove(widgets, { namespace: "shop", name: "a" });
  await world.clock.advance(1_000);
  if (!mortal.state.dead) await freeCluster(world, "a");
  await world.clock.advance(5_000);
  const died = mortal.state.dead;
  await world.end();

  world.restart([capiController()], { client: witness(world, seen) });
  await world.clock.advance(1_000);
  const cluster = await world.object(clusters, { namespace: "shop", name: "a" });
  if (cluster !== undefined) {
    expect(cluster.metadata.deletionTimestamp).toBeDefined();
    expect(await remaining(world)).toHaveLength(5);
    await freeCluster(world, "a");
  }
  await world.clock.advance(20_000);
  expect([await remaining(world), await world.widget("a")]).toEqual([[], undefined]);
  const place = await world.object(namespaces, { name: "a-place" });
  expect(place === undefined || place.metadata.deletionTimestamp !== undefined).toBe(true);
  expect(seen[0]).toMatch(/^Cluster a while /);
  for (const line of seen) {
    if (line.startsWith("Namespace")) expect(line).toBe("Namespace a-place while ");
    else if (!line.startsWith("Cluster")) expect(line.split(" while ")[1]).not.toContain("Cluster a");
  }
  expect(await world.end()).toBe(0);
  return died;
}

describe("a crash at any request of a teardown", () => {
  test.each(["before", "after"] as const)(
    "%s the request is sent: the same order and the same end",
    async (when) => {
      let at = 1;
      while (at < 100 && (await crashAndContinue({ at, when }))) at += 1;
      // finalizer, owner, lists, deletions, status: fewer requests would mean that the teardown was not reached
      expect(at).toBeGreaterThan(15);
      expect(at).toBeLessThan(100);
    },
    120_000,
  );
});
