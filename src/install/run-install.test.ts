/** Installations on embedded clusters, killed after every write: the next run continues. */
import { afterEach, expect, test } from "vitest";
import { err, expectOk, systemClock, type Clock } from "#base";
import { latticeClusters } from "#crds";
import { capiClusters, namespaces, secrets, type Json, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import type { BootstrapHost, ManagementAccess } from "./ports.ts";
import { runInstall, runUninstall, type InstallProgress } from "./run-install.ts";
import { cluster, eagerClock, HOME, NAMESPACE, World } from "./run-world.test-support.ts";

let world: World;
afterEach(() => world.close());

async function expectInstalled(): Promise<void> {
  const client = world.management?.client;
  if (client === undefined) throw new Error("there is no management cluster");
  expect(await client.get(secrets, { namespace: "lattice-system", name: "lattice-parent-config" })).toMatchObject({ ok: false });
  expect(expectOk(await client.get(latticeClusters, { name: "prod" })).spec.cellRef).toBeUndefined();
  expect(await client.get<KubeObject>(capiClusters, { namespace: NAMESPACE, name: "prod" })).toMatchObject({ ok: true });
}

test("an installation makes a cluster that owns itself, and removes the bootstrap cluster", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  expect(world.steps).toEqual(["create-bootstrap", "make-cell", "apply-cluster", "detach", "remove-bootstrap"]);
  expect(world.bootstrap).toBeUndefined();
  await expectInstalled();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
});

test("an installation that is killed after every write is continued by the next run", async () => {
  world = new World();
  let killed = 0;
  for (let run = 0; run < 20; run += 1) {
    const options = world.options();
    // a step with two writes is killed after each of them, and ended by a later run
    world.budget = 1 + (run % 2);
    const ended = await runInstall({
      ...options,
      cluster,
      beside: [{ resource: namespaces, object: { ...HOME, metadata: { name: "credentials" } } }],
    });
    if (ended.ok) break;
    expect(ended.error.kind).toBe("stopped");
    killed += 1;
  }
  expect(killed).toBeGreaterThanOrEqual(4);
  expect(world.bootstrap).toBeUndefined();
  await expectInstalled();
});

test("a bootstrap cluster that was there before is released and stays", async () => {
  world = new World(true);
  world.bootstrap = await world.start();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  expect(world.steps.at(-1)).toBe("release-bootstrap");
  expect(await world.bootstrap.client.get(latticeClusters, { name: "prod" })).toMatchObject({ ok: false });
  await expectInstalled();
});

test("a LatticeCluster that is deleted meanwhile is waited for, and made again only by the next run", async () => {
  world = new World();
  let looks = 0;
  const find: BootstrapHost["find"] = async (signal) => {
    const client = world.bootstrap?.client;
    if ((await client?.get(latticeClusters, { name: "prod" }))?.ok === true) {
      looks += 1;
      if (looks === 1) await setFinalizers(client, ["test.dev/machines"]);
      if (looks === 1) await client?.delete(latticeClusters, { name: "prod" });
      if (looks === 3) await setFinalizers(client, null);
    }
    return world.host.find(signal);
  };
  const waits = new Set<string>();
  const report = (progress: InstallProgress) => void (progress.kind === "wait" && waits.add(progress.text));
  const ended = await runInstall({ ...world.options(), host: { ...world.host, find }, cluster, beside: [], report });
  expect(waits).toContain("LatticeCluster prod is being deleted in the bootstrap cluster");
  const message = "LatticeCluster prod was deleted in the bootstrap cluster; run the same command again to make it anew";
  expect(ended).toEqual(err({ kind: "refused", message }));
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  await expectInstalled();
});

async function setFinalizers(client: KubeClient | undefined, finalizers: readonly string[] | null): Promise<void> {
  await client?.patch(latticeClusters, { name: "prod" }, { type: "merge", patch: { metadata: { finalizers } } as Json });
}

test("an installation after a killed uninstallation makes no second cluster, also while the first one does not answer", async () => {
  world = new World();
  expectOk(await runInstall({ ...world.options(), cluster, beside: [] }));
  const options = { ...world.options(), clock: systemClock };
  const report = (progress: InstallProgress) => void (progress.kind === "step" && progress.step === "delete-cluster" && world.kill.abort());
  await runUninstall({ ...options, report, orphanChildren: false });
  world.steps.length = 0;
  const find: ManagementAccess["find"] = () => Promise.resolve(err("its API server starts"));
  const ended = await runInstall({ ...world.options(), management: { ...world.access, find }, cluster, beside: [] });
  expect(ended).toEqual(err({ kind: "refused", message: "the removal of prod has begun; lattice uninstall continues it" }));
  expect(world.steps).toEqual([]);
}, 30_000);

test("a cluster that the bootstrap cluster does not accept is refused with its reason", async () => {
  world = new World();
  const invalid = { ...cluster, spec: { provider: { type: "none" } } } as KubeObject;
  const ended = await runInstall({ ...world.options(), cluster: invalid, beside: [] });
  expect(ended).toMatchObject({
    ok: false,
    error: { kind: "refused", message: expect.stringContaining("is not accepted by the bootstrap cluster") as string },
  });
});

test("steps that fail for too long end the run, and the reason is reported meanwhile", async () => {
  world = new World();
  const reported: string[] = [];
  const host = { ...world.host, create: () => Promise.resolve(err("no disk space")) };
  const report = (progress: InstallProgress) => void (progress.kind === "failed" && reported.push(progress.message));
  const ended = await runInstall({ ...world.options(), host, cluster, beside: [], patienceMs: 5, report });
  expect(ended).toEqual(err({ kind: "failed", message: "no disk space" }));
  expect(new Set(reported)).toEqual(new Set(["no disk space"]));
});

test("a wait between two failures of a step is no failure: the patience begins again", async () => {
  world = new World();
  let elapsedMs = 0;
  const clock: Clock = { ...eagerClock, monotonic: () => elapsedMs };
  let attempts = 0;
  const host: BootstrapHost = {
    ...world.host,
    create: (signal) => {
      attempts += 1;
      return attempts > 2 ? world.host.create(signal) : Promise.resolve(err("no disk space"));
    },
    find: (signal) => {
      if (attempts === 1 && elapsedMs === 0) {
        elapsedMs = 120_000;
        return Promise.resolve(err("it starts"));
      }
      return world.host.find(signal);
    },
  };
  const stop = new AbortController();
  const failures: string[] = [];
  const report = (progress: InstallProgress) => {
    if (progress.kind === "failed") failures.push(progress.message);
    if (progress.kind === "step" && progress.step === "make-cell") stop.abort();
  };
  const ended = await runInstall({ ...world.options(), clock, host, cluster, beside: [], report, signal: stop.signal });
  expect(failures).toEqual(["no disk space", "no disk space"]);
  expect(ended).toMatchObject({ error: { kind: "stopped" } });
});

test("a Secret without its namespace is refused, and the namespace is named", async () => {
  world = new World();
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "credentials", namespace: "providers" } };
  const ended = await runInstall({ ...world.options(), cluster, beside: [{ resource: secrets, object }] });
  const message = "Secret credentials is not accepted by the bootstrap cluster: there is no namespace providers; add it to the file";
  expect(ended).toEqual(err({ kind: "refused", message }));
});
