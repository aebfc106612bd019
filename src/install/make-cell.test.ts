import { afterEach, expect, test } from "vitest";
import { expectOk, ok } from "#base";
import { latticeClusters, latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { configMaps } from "#kube";
import { localCluster } from "../../test/builders/cell-world.ts";
import { makeCell } from "./make-cell.ts";

const HOME = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
let cluster: EmbeddedCluster;
let asked = 0;
const service = { type: "ClusterIP" as const };
const mgmt = {
  name: "mgmt",
  endpoints: () =>
    Promise.resolve(ok({ host: "127.0.0.1", grpcPort: 5_001, bootstrapPort: 5_002, proxyPort: 5_003 + (asked += 1), service })),
};
afterEach(() => cluster.close());

async function start(...objects: readonly FixtureObject[]): Promise<void> {
  cluster = await startEmbeddedCluster({ objects: [HOME, ...latticeKinds.map(({ crd }) => crd()), ...objects] });
}

test("a cluster gets its name and its endpoints, and the next start changes nothing", async () => {
  await start();
  expectOk(await makeCell(cluster.client, mgmt));
  const first = expectOk(await cluster.client.get(latticeClusters, { name: "mgmt" }));
  expect(first.spec).toMatchObject({ provider: { type: "local" }, endpoints: { host: "127.0.0.1", proxyPort: 5_004 } });
  expectOk(await makeCell(cluster.client, mgmt));
  expect(expectOk(await cluster.client.get(latticeClusters, { name: "mgmt" })).metadata.resourceVersion).toBe(
    first.metadata.resourceVersion,
  );
  const identity = expectOk(await cluster.client.get(configMaps, { namespace: "lattice-system", name: "lattice-identity" }));
  expect(identity.data).toEqual({ cluster: "mgmt" });
});

test("a LatticeCluster of the user without endpoints is not changed, and the reason is reported", async () => {
  await start(localCluster("mgmt"));
  const made = await makeCell(cluster.client, mgmt);
  expect(made.ok ? "" : made.error).toContain("has no spec.endpoints");
  expect(expectOk(await cluster.client.get(latticeClusters, { name: "mgmt" })).spec.endpoints).toBeUndefined();
});

test("a server that refuses the objects is an error, not a crash", async () => {
  cluster = await startEmbeddedCluster({ objects: [] });
  const made = await makeCell(cluster.client, mgmt);
  expect(made.ok ? "" : made.error).toMatch(/^ConfigMap lattice-identity: /);
});
