import { describe, expect, it, onTestFinished } from "vitest";
import { createLogger, expectOk, MetricsRegistry, noTracing, seededRandom, type FakeClock } from "#base";
import { leaseTimesFor } from "#controller-runtime";
import { latticeKinds } from "#crds";
import { failWith, startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { pods, type KubeObject } from "#kube";
import { SettlingClock } from "../../test/builders/settling-clock.ts";
import { startOperator } from "./operator.ts";

const NAMESPACE = "lattice-system";
const TIMES = leaseTimesFor(5_000);

const podObject = (name: string, labels = {}): KubeObject & { readonly spec: object } => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: NAMESPACE, labels },
  spec: { containers: [{ name: "operator", image: "example.com/operator" }] },
});

async function setUp(...objects: readonly KubeObject[]) {
  const home = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  const cluster = await startEmbeddedCluster({
    clock: new SettlingClock(),
    objects: [home, ...latticeKinds.map(({ crd }) => crd()), ...objects],
  });
  onTestFinished(() => cluster.close());
  const warnings: string[] = [];
  const logger = createLogger((level, message) => void (level === "warn" && warnings.push(message)));
  const label = async (name: string) => {
    const found = expectOk(await cluster.client.get(pods, { namespace: NAMESPACE, name }));
    return found.metadata.labels?.["lattice.dev/leader"];
  };
  return { cluster, clock: cluster.clock, warnings, logger, label };
}

type World = Awaited<ReturnType<typeof setUp>>;

async function start({ cluster, logger }: World, name: string) {
  const { client, clock }: EmbeddedCluster<FakeClock> = cluster;
  const stop = new AbortController();
  const config = {
    namespace: NAMESPACE,
    identity: name,
    pod: { namespace: NAMESPACE, name },
    leaderElection: true,
    leaseTimes: TIMES,
    health: { host: "127.0.0.1", port: 0 },
  };
  const dependencies = { client, clock, random: seededRandom(3), logger, metrics: new MetricsRegistry(), tracer: noTracing };
  const operator = expectOk(await startOperator(config, dependencies, stop.signal));
  const running = operator.run(stop.signal);
  await pass(clock, 3);
  const end = async () => {
    stop.abort();
    await pass(clock, 3);
    await running;
  };
  return { operator, end };
}

async function pass(clock: FakeClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) await clock.advance(1_000);
}

describe("the label of the leader", () => {
  it("is on the Pod of the leader alone, and moves with the lease", async () => {
    const world = await setUp(podObject("first"), podObject("second"));
    const first = await start(world, "first");
    const second = await start(world, "second");
    expect([await world.label("first"), await world.label("second")]).toEqual(["true", undefined]);
    await first.end();
    await pass(world.clock, 2);
    expect([await world.label("first"), await world.label("second")]).toEqual([undefined, "true"]);
    await second.end();
    expect([await world.label("second"), world.clock.pending, world.warnings]).toEqual([undefined, 0, []]);
  });

  it("is removed when the lease is lost, and set again in the next term", async () => {
    const world = await setUp(podObject("first"));
    const { end } = await start(world, "first");
    const outage = world.cluster.intercept({ resource: "leases", times: 1_000 }, failWith("server-error"));
    await pass(world.clock, 5);
    expect(await world.label("first")).toBeUndefined();
    outage.remove();
    await pass(world.clock, 3);
    expect(await world.label("first")).toBe("true");
    await end();
  });

  it("of a container that was killed is removed by the next one in the Pod, which is a standby", async () => {
    const world = await setUp(podObject("first"), podObject("second", { "lattice.dev/leader": "true" }));
    const first = await start(world, "first");
    const second = await start(world, "second");
    expect([await world.label("first"), await world.label("second")]).toEqual(["true", undefined]);
    await second.end();
    await first.end();
  });

  it("that cannot be removed is removed as soon as the API server accepts it, and the problem is logged once", async () => {
    const world = await setUp(podObject("first"));
    const { end } = await start(world, "first");
    const refused = world.cluster.intercept({ resource: "pods", times: 1_000 }, failWith("forbidden"));
    const outage = world.cluster.intercept({ resource: "leases", times: 1_000 }, failWith("server-error"));
    await pass(world.clock, 20);
    const removal = "the label of the leader could not be removed from this Pod";
    expect(world.warnings.filter((message) => message === removal)).toHaveLength(1);
    refused.remove();
    expect(await world.label("first")).toBe("true");
    await pass(world.clock, 20);
    expect(await world.label("first")).toBeUndefined();
    outage.remove();
    await end();
    expect(world.clock.pending).toBe(0);
  });

  it("does not stop an operator whose Pod does not exist; health shows the reason", async () => {
    const world = await setUp();
    const { operator, end } = await start(world, "absent");
    expect(operator.health()).toMatchObject({
      live: true,
      ready: true,
      details: { "service leader-label": expect.stringContaining("Pod absent could not be labelled as leader") as string },
    });
    await end();
    expect(world.clock.pending).toBe(0);
  });
});
