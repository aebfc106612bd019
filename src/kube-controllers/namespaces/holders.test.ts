/** One list for many namespaces, if it is new enough. */
import { describe, expect, test } from "vitest";
import { err, FakeClock, ok } from "#base";
import { defineResource, type KubeObject } from "#kube";
import type { KubeReader, ListQuery } from "#kube-client";
import { Holders } from "./holders.ts";

const things = defineResource({ group: "", version: "v1", kind: "Thing", plural: "things", namespaced: true });
const never = new AbortController().signal;

function setUp(world: { revision: number; namespaces: readonly string[]; more?: boolean; broken?: boolean }) {
  const clock = new FakeClock();
  const asked: ListQuery[] = [];
  const list = async (_resource: unknown, query: ListQuery = {}) => {
    asked.push(query);
    await Promise.resolve();
    if (world.broken === true) return err({ kind: "server-error", message: "no" } as const);
    const items = world.namespaces
      .filter((namespace) => query.namespace === undefined || query.namespace === namespace)
      .map((namespace): KubeObject => ({ apiVersion: "v1", kind: "Thing", metadata: { name: "a", namespace } }));
    return ok({ metadata: { resourceVersion: String(world.revision), ...(world.more === true ? { continue: "more" } : {}) }, items });
  };
  const holders = new Holders({ list } as unknown as KubeReader, clock);
  const holds = (namespace: string, resourceVersion: string, monotonic = 0) =>
    holders.holds(things, namespace, { resourceVersion, monotonic }, never);
  return { clock, asked, holds };
}

describe("a list", () => {
  test("is used for all namespaces whose deletion began before it", async () => {
    const { holds, asked } = setUp({ revision: 100, namespaces: ["full"] });
    expect(await Promise.all([holds("full", "9"), holds("empty", "100"), holds("other", "50")])).toEqual([ok(true), ok(false), ok(false)]);
    expect(await holds("later", "99")).toEqual(ok(false));
    expect(asked).toHaveLength(1);
  });

  test("is not used for one whose deletion began after it, by version or by time", async () => {
    const { holds, asked, clock } = setUp({ revision: 100, namespaces: [] });
    await holds("a", "100");
    await holds("b", "101");
    await clock.advance(10);
    await holds("c", "1", 5);
    await holds("d", "1", 5);
    expect(asked).toHaveLength(3);
  });

  test("that is under way is waited for, and repeated if it is too old", async () => {
    const world = { revision: 100, namespaces: ["x"] };
    const { holds, asked } = setUp(world);
    const early = holds("x", "100");
    world.revision = 200;
    expect(await Promise.all([early, holds("x", "300")])).toEqual([ok(true), ok(true)]);
    expect(asked).toHaveLength(2);
  });

  test("of more than a page is not used: each namespace is listed", async () => {
    const { holds, asked } = setUp({ revision: 100, namespaces: ["full"], more: true });
    expect([await holds("full", "1"), await holds("empty", "1")]).toEqual([ok(true), ok(false)]);
    expect(asked.map(({ namespace }) => namespace)).toEqual([undefined, "full", "empty"]);
  });

  test("that fails is an error for all waiting namespaces", async () => {
    const { holds } = setUp({ revision: 1, namespaces: [], broken: true });
    expect(await Promise.all([holds("a", "1"), holds("b", "1")])).toMatchObject([{ ok: false }, { ok: false }]);
  });
});
