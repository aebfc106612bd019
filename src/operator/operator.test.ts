import { describe, expect, it, onTestFinished } from "vitest";
import { expectOk, MetricsRegistry, noTracing, seededRandom, silentLogger } from "#base";
import { latticeImageRegistries, latticeKinds } from "#crds";
import { startEmbeddedCluster } from "#embedded-cluster";
import { field } from "#kube";
import { SettlingClock } from "../../test/builders/settling-clock.ts";
import { operatorRbac } from "./controllers.ts";
import { startOperator } from "./operator.ts";

const DISCOVERY = "/apis/lattice.dev/v1alpha1";

/** A cluster with the Lattice kinds; `discovery` replaces the server's discovery response. */
async function setUp(discovery?: { code: number; text: string }) {
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
  const cluster = await startEmbeddedCluster({ clock: new SettlingClock(), objects: [home, ...latticeKinds.map(({ crd }) => crd())] });
  onTestFinished(() => cluster.close());
  if (discovery !== undefined) cluster.intercept({ when: ({ path }) => path === DISCOVERY }, () => ({ kind: "text", ...discovery }));
  const { clock, client } = cluster;
  const watches = cluster.interceptWatches();
  const dependencies = { client, clock, random: seededRandom(2), logger: silentLogger, metrics: new MetricsRegistry(), tracer: noTracing };
  const config = { namespace: "lattice-system", identity: "me", leaderElection: true, health: { host: "127.0.0.1", port: 0 } };
  return { cluster, clock, client, watches, config, dependencies };
}

describe("startOperator", () => {
  it("becomes leader, accepts or rejects every resource, serves its health, and leaves no timer, watch or socket", async () => {
    const { cluster, clock, client, watches, config, dependencies } = await setUp();
    const stop = new AbortController();
    const operator = expectOk(await startOperator(config, dependencies, stop.signal));
    const running = operator.run(stop.signal);
    await cluster.add({
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeImageRegistry",
      metadata: { name: "company" },
      spec: { host: "r.example.com" },
    });
    for (let second = 0; second < 10; second += 1) await clock.advance(1_000);

    expect(field(expectOk(await client.get(latticeImageRegistries, { name: "company" })), "status")).toMatchObject({
      phase: "Pending",
      observedGeneration: 1,
    });
    expect((await fetch(`${operator.healthUrl}/readyz`)).status).toBe(200);
    expect(operator.health().leading).toBe(true);
    expect(await (await fetch(`${operator.healthUrl}/metrics`)).text()).toMatch(
      /lattice_reconcile_total\{controller="accept-lir",result="waiting"\} 1/,
    );

    stop.abort();
    for (let second = 0; second < 5; second += 1) await clock.advance(1_000);
    await running;
    await clock.advance(0);
    expect([clock.pending, watches.open]).toEqual([0, 0]);
    await expect(fetch(`${operator.healthUrl}/livez`)).rejects.toThrow();
  });

  it.each([
    { name: "no kind is served", discovery: { code: 404, text: "not found" }, want: "does not serve LatticeCluster, LatticeEnvironment" },
    {
      name: "one kind is missing",
      discovery: { code: 200, text: JSON.stringify({ resources: latticeKinds.slice(1).map(({ kind }) => ({ kind })) }) },
      want: "does not serve LatticeCluster; install",
    },
    { name: "discovery is not JSON", discovery: { code: 200, text: "<html>" }, want: "does not serve LatticeCluster" },
    { name: "discovery is forbidden", discovery: { code: 403, text: "no" }, want: "the API server cannot be asked" },
  ])("refuses to start when $name, and the error has the fix", async ({ discovery, want }) => {
    const { config, dependencies } = await setUp(discovery);
    expect(await startOperator(config, dependencies, new AbortController().signal)).toMatchObject({
      ok: false,
      error: expect.stringContaining(want) as string,
    });
  });

  it("reports an address that it cannot listen on", async () => {
    const { config, dependencies } = await setUp();
    const busy = { ...config, health: { host: "256.0.0.1", port: 1 } };
    expect(await startOperator(busy, dependencies, new AbortController().signal)).toMatchObject({
      ok: false,
      error: expect.stringContaining("cannot listen on 256.0.0.1:1") as string,
    });
  });
});

describe("operatorRbac", () => {
  it("has the namespace before the other objects", () => {
    expect(operatorRbac().map(({ kind }) => kind)).toEqual([
      "Namespace",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
    ]);
  });
});
