import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, ok, systemClock } from "#base";
import { latticeClusters, latticeKinds, type LatticeCluster } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import type { ClusterState, ClusterView } from "#fleet";
import type { FleetClients } from "../install/fleet-clients.ts";
import { FleetWatch } from "./fleet-watch.ts";

let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await startEmbeddedCluster({ objects: latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject) });
});
afterAll(() => cluster.close());

/** A fleet of the one cluster `west`, whose state the test changes. */
function startWatch() {
  let state: ClusterState = "Starting";
  let listener: (() => void) | undefined;
  const view = (): ClusterView => ({ name: "west", kubeconfig: "", pids: [], state, operators: [] });
  const watch = new FleetWatch({
    io: { clock: systemClock, random: Math.random, signal: new AbortController().signal },
    fleet: {
      clusters: () => [view()],
      subscribe: (called) => {
        listener = called;
        return () => (listener = undefined);
      },
    },
    clients: { find: () => Promise.resolve(ok(cluster.client)) } as unknown as FleetClients,
    onChange: () => undefined,
  });
  const setState = (next: ClusterState) => {
    state = next;
    listener?.();
  };
  return { watch, setState };
}

test("a cluster is known by its own LatticeCluster only while its API server runs", async () => {
  const { watch, setState } = startWatch();
  try {
    expect(watch.knowsOwn("west")).toBe(false);
    setState("Running");
    expect(watch.knowsOwn("west")).toBe(false);
    const spec = { provider: { type: "local", kubernetes: { version: "v1.36.3" } }, nodes: { controlPlane: 1, workers: 0 } };
    const object = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name: "west" }, spec };
    expectOk(await cluster.client.create(latticeClusters, object as unknown as LatticeCluster));
    await expect.poll(() => watch.knowsOwn("west")).toBe(true);
    expect(watch.knowsOwn("east")).toBe(false);
    setState("Restarting");
    expect(watch.knowsOwn("west")).toBe(false);
  } finally {
    await watch.close();
  }
});
