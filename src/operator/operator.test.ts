import { describe, expect, it, onTestFinished } from "vitest";
import { createLogger, err, expectOk, MetricsRegistry, noTracing, ok, seededRandom, silentLogger } from "#base";
import { latticeImageRegistries, latticeKinds } from "#crds";
import { failWith, startEmbeddedCluster } from "#embedded-cluster";
import { field, leases, nodes } from "#kube";
import { RecordedService } from "../../test/builders/recorded-service.ts";
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

  it("waits for an API server that restarts, and no longer than its limit", async () => {
    const { cluster, clock, config, dependencies } = await setUp();
    cluster.intercept({ when: ({ path }) => path === DISCOVERY, times: 4 }, failWith("unavailable"));
    const warned: string[] = [];
    const logger = createLogger((level, message) => void (level === "warn" && warned.push(message)));
    const { signal } = new AbortController();
    const starting = startOperator({ ...config, waitForServerMs: 10_000 }, { ...dependencies, logger }, signal);
    for (let round = 0; round < 10; round += 1) await clock.advance(500);
    const operator = expectOk(await starting);
    expect(warned).toEqual(["the API server cannot be reached, and is tried again"]);
    const ended = new AbortController();
    ended.abort();
    await operator.run(ended.signal);

    cluster.intercept({ when: ({ path }) => path === DISCOVERY, times: 1_000 }, failWith("unavailable"));
    const refused = startOperator({ ...config, waitForServerMs: 2_000 }, dependencies, signal);
    for (let round = 0; round < 10; round += 1) await clock.advance(500);
    expect(await refused).toMatchObject({ ok: false, error: expect.stringContaining("the API server cannot be asked") as string });
  });

  it("does not wait when the server refuses the request", async () => {
    const { config, dependencies } = await setUp({ code: 403, text: "no" });
    const { signal } = new AbortController();
    expect((await startOperator({ ...config, waitForServerMs: 600_000 }, dependencies, signal)).ok).toBe(false);
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

describe("the parts of an operator", () => {
  /** Records the order of its starts and closes. */
  const replicaPart = (name: string, order: string[], error?: string) => ({
    name,
    start: () => {
      order.push(`start ${name}`);
      const close = () => (order.push(`close ${name}`), Promise.resolve());
      return Promise.resolve(error === undefined ? ok({ close }) : err(error));
    },
  });

  it("run in every replica, in the leader, or as a role that is started and stopped", async () => {
    const { clock, watches, config, dependencies } = await setUp();
    const order: string[] = [];
    const [always, cell] = [new RecordedService("always"), new RecordedService("listener", { reads: [leases] })];
    const parts = [
      { name: "web", everyReplica: [replicaPart("first", order), replicaPart("second", order)], services: [always.service] },
      { name: "later", services: [cell.service], role: "stopped" as const },
      { name: "now", role: "started" as const },
    ];
    const stop = new AbortController();
    const operator = expectOk(await startOperator(config, { ...dependencies, parts }, stop.signal));
    expect(order).toEqual(["start first", "start second"]);
    const running = operator.run(stop.signal);
    for (let second = 0; second < 5; second += 1) await clock.advance(1_000);
    expect([always.existing, cell.existing, operator.health().ready]).toEqual([1, 0, true]);
    const details = await (await fetch(`${operator.healthUrl}/readyz`)).text();
    expect(details).toMatch(
      /^role later: inactive\nrole now: running\nrole cell: inactive\nrole agent: inactive\nrole self-manager: inactive\nservice always: running\nservice deferred-objects: running\nservice webhook-renewal: running\nservice listener: stopped$/m,
    );

    operator.setActive("later", true);
    for (let second = 0; second < 2; second += 1) await clock.advance(1_000);
    expect([always.instances.length, cell.existing, operator.health().details["informer leases.coordination.k8s.io/v1"]]).toEqual([
      1,
      1,
      "watching",
    ]);

    stop.abort();
    for (let second = 0; second < 5; second += 1) await clock.advance(1_000);
    await running;
    await clock.advance(0);
    expect(order.slice(2)).toEqual(["close second", "close first"]);
    expect([always.existing, cell.existing, clock.pending, watches.open]).toEqual([0, 0, 0, 0]);
  });

  it("are all closed when one of every replica cannot start", async () => {
    const { config, dependencies } = await setUp();
    const order: string[] = [];
    const everyReplica = [
      replicaPart("first", order),
      replicaPart("broken", order, "webhooks: port 9443 is taken"),
      replicaPart("third", order),
    ];
    const started = await startOperator(config, { ...dependencies, parts: [{ name: "web", everyReplica }] }, new AbortController().signal);
    expect(started).toEqual({ ok: false, error: "webhooks: port 9443 is taken" });
    expect(order).toEqual(["start first", "start broken", "close first"]);
  });
});

describe("operatorRbac", () => {
  it("contains the permissions of further parts, from their declarations", () => {
    const withListener = operatorRbac(undefined, undefined, [
      { name: "listener", reads: [nodes], permissions: [{ resource: nodes, subresource: "proxy", verbs: ["get"] }] },
    ]);
    const rules = JSON.stringify(withListener.filter(({ kind }) => kind === "ClusterRole"));
    expect(rules).toContain('{"apiGroups":[""],"resources":["nodes/proxy"],"verbs":["get"]}');
    expect(JSON.stringify(operatorRbac())).not.toContain("nodes/proxy");
  });

  it("has the namespace before the other objects", () => {
    expect(operatorRbac().map(({ kind }) => kind)).toEqual([
      "Namespace",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
    ]);
  });
});
