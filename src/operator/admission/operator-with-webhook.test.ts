import { expect, onTestFinished, test, vi } from "vitest";
import { expectOk, MetricsRegistry, noTracing, seededRandom, silentLogger, systemClock } from "#base";
import { latticeKinds } from "#crds";
import { configMaps, deployments, secrets } from "#kube";
import { startOperator } from "../operator.ts";
import { CONFIGURATION, deploymentOf, HOME, patchMap, serviceLabel, startAdmissionWorld } from "./admission-world.test-support.ts";
import { ADMISSION_CERTIFICATE_SECRET } from "./serving-secret.ts";

const API = { namespace: "shop", name: "api" };
const until = <T>(look: () => T | Promise<T>) => vi.waitFor(look, { timeout: 30_000, interval: 50 });

test("an operator serves the webhook, is ready only when it can, and leaves no listener behind", async () => {
  const world = await startAdmissionWorld();
  await world.cluster.add(...latticeKinds.map(({ crd }) => crd()));
  const { client } = world;
  const stop = new AbortController();
  const health = { host: "127.0.0.1", port: 0 };
  const webhook = { kind: "url", host: "127.0.0.1", port: 0 } as const;
  const config = { namespace: HOME, identity: "one", leaderElection: false, health, webhook };
  const dependencies = {
    client,
    clock: systemClock,
    random: seededRandom(1),
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    tracer: noTracing,
  };
  const operator = expectOk(await startOperator(config, dependencies, stop.signal));
  const running = operator.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const ready = async () => (await fetch(`${operator.healthUrl}/readyz`)).text();
  await until(async () => expect(await ready()).toMatch(/^ok\n[^]*webhook: 0 patches \(watching\), needs no certificate yet/));
  expectOk(await client.create(configMaps, patchMap(API)));
  await until(async () => expect(await world.hook()).toBeDefined());
  // a dry run: the operator would take the patch off a stored Deployment, because there is no service
  const options = { fieldManager: "test", force: true, dryRun: true };
  expect(serviceLabel(expectOk(await client.apply(deployments, deploymentOf(API), options)))).toBe("api");
  await until(async () => expect(await ready()).toMatch(/^ok\n[^]*webhook: 1 patches \(watching\), listens on port/));
  expect(operator.health().details["webhook"]).toContain("listens on port");
  stop.abort();
  await running;
  expect((await client.get(secrets, { namespace: HOME, name: ADMISSION_CERTIFICATE_SECRET })).ok).toBe(true);
  expect((await world.configuration())?.metadata.name).toBe(CONFIGURATION);
  // the configuration stays, and a write is accepted although nothing listens
  expect(await world.createDeployment({ namespace: "shop", name: "web" })).toBeUndefined();
});

test("a replica that cannot listen with its certificate is not ready, and says why", async () => {
  const world = await startAdmissionWorld();
  const first = world.startReplica();
  await first.lead();
  await world.addPatch(API);
  const port = await until(() => {
    const address = first.replica.address();
    expect(address).toBeDefined();
    return address?.kind === "url" ? address.port : 0;
  });
  const second = world.startReplica({ kind: "url", host: "127.0.0.1", port });
  await until(() => expect(second.replica.health().details["webhook"]).toContain(`cannot listen on 127.0.0.1:${port} for admission`));
  expect(second.replica.health().ready).toBe(false);
  expect(first.replica.health().ready).toBe(true);
  await first.close();
  await until(() => expect(second.replica.health().ready).toBe(true));
}, 30_000);
