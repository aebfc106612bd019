import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters, latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { configMaps } from "#kube";
import { localCluster } from "../../../test/builders/cell-world.ts";
import { makeCell } from "./make-cell.ts";

const HOME = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
let cluster: EmbeddedCluster;
afterEach(() => cluster.close());

async function start(...objects: readonly FixtureObject[]): Promise<void> {
  cluster = await startEmbeddedCluster({ objects: [HOME, ...latticeKinds.map(({ crd }) => crd()), ...objects] });
}

test("a cluster gets its name and three ports of its own, and the next start changes nothing", async () => {
  await start();
  expectOk(await makeCell(cluster.client, "mgmt"));
  const first = expectOk(await cluster.client.get(latticeClusters, { name: "mgmt" }));
  const { grpcPort, bootstrapPort, proxyPort } = first.spec.endpoints ?? {};
  const ports = [grpcPort, bootstrapPort, proxyPort];
  expect(new Set(ports).size).toBe(3);
  expect(ports.every((port) => typeof port === "number" && port > 1023)).toBe(true);
  expectOk(await makeCell(cluster.client, "mgmt"));
  expect(expectOk(await cluster.client.get(latticeClusters, { name: "mgmt" })).metadata.resourceVersion).toBe(
    first.metadata.resourceVersion,
  );
  const identity = expectOk(await cluster.client.get(configMaps, { namespace: "lattice-system", name: "lattice-identity" }));
  expect(identity.data).toEqual({ cluster: "mgmt" });
});

test("a LatticeCluster of the user without endpoints is not changed, and the reason is reported", async () => {
  await start(localCluster("mgmt"));
  const made = await makeCell(cluster.client, "mgmt");
  expect(made.ok ? "" : made.error).toContain("has no spec.endpoints");
  expect(expectOk(await cluster.client.get(latticeClusters, { name: "mgmt" })).spec.endpoints).toBeUndefined();
});

test("a server that refuses the objects is an error, not a crash", async () => {
  cluster = await startEmbeddedCluster({ objects: [] });
  const made = await makeCell(cluster.client, "mgmt");
  expect(made.ok ? "" : made.error).toMatch(/^ConfigMap lattice-identity: /);
});
