/** The shop of `lattice up` on an API server that fails or dies between two of its objects. */
import { afterEach, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeEnvironments, latticeKinds, latticeServices } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { namespaces, type KubeObject } from "#kube";
import { cliIo } from "../../../test/builders/cli-io.ts";
import { applyShop } from "./shop.ts";

const clusters: EmbeddedCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.close();
});

async function startEmpty(): Promise<EmbeddedCluster> {
  const cluster = await startEmbeddedCluster({ objects: latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject) });
  clusters.push(cluster);
  return cluster;
}

/** The names of all objects of the shop that a user sees. */
async function shopOf({ client }: EmbeddedCluster): Promise<readonly string[]> {
  const lists = [expectOk(await client.list(latticeEnvironments)), expectOk(await client.list(latticeServices))];
  return lists.flatMap(({ items }) => (items as readonly KubeObject[]).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toSorted();
}

describe("the shop", () => {
  test("that was interrupted after any of its writes is completed by the next start", async () => {
    const whole = await startEmpty();
    let writes = 0;
    whole.intercept({ verb: "apply" }, (_action, next) => {
      writes += 1;
      return next();
    });
    expect(await applyShop(cliIo(), whole.client)).toEqual({ ok: true, value: true });
    const complete = await shopOf(whole);
    expect(complete).toContain("LatticeService storefront");
    for (let done = 0; done < writes; done += 1) {
      const cluster = await startEmpty();
      let applied = 0;
      const fault = cluster.intercept({ verb: "apply" }, (_action, next) => {
        applied += 1;
        return applied > done ? { kind: "broken" } : next();
      });
      expect((await applyShop(cliIo(), cluster.client)).ok, `after ${done} writes`).toBe(false);
      fault.remove();
      expectOk(await applyShop(cliIo(), cluster.client));
      expect(await shopOf(cluster), `after ${done} writes`).toEqual(complete);
      await cluster.close();
    }
  });

  test("that is complete keeps what was changed and deleted since", async () => {
    const cluster = await startEmpty();
    expect(expectOk(await applyShop(cliIo(), cluster.client))).toBe(true);
    expectOk(await cluster.client.delete(latticeServices, { namespace: "default", name: "cart" }));
    expect(expectOk(await applyShop(cliIo(), cluster.client))).toBe(false);
    expect(await shopOf(cluster)).not.toContain("LatticeService cart");
    expect(expectOk(await cluster.client.get<KubeObject>(namespaces, { name: "shop" })).metadata.annotations).toBeUndefined();
  });
});
