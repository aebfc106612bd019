/** Ready means that a service can be called: its objects are applied, and enough of its pods are available. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { KubeObject } from "#kube";
import { environment, latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const READY = { type: "Ready", status: "True", reason: "Compiled" };
const two = { replicas: { min: 2 } };
const image = (name: string, more: object = {}) => ({ ...two, containers: { main: { image: name, ...more } } });
const containing = (text: string) => expect.stringContaining(text) as string;

async function patchDeployment(operated: OperatedCluster, key: string, patch: object): Promise<void> {
  const [namespace, name = ""] = key.split("/");
  const deployments = operated.cluster.resource("Deployment");
  expectOk(await operated.client.patch(deployments, { namespace, name }, { type: "merge", patch: patch as never }));
}

describe("a service whose pods do not run is not Ready, and its condition gives the reason", () => {
  let operated: OperatedCluster;
  let absent: { readonly lift: () => void };
  beforeAll(async () => {
    operated = await OperatedCluster.start({ objects: [environment("full", { isolation: { quota: { pods: "0" } } })] });
    absent = operated.cluster.simulation.faults.add({ kind: "image-pull", on: { image: "*:absent" } });
    operated.cluster.simulation.faults.add({ kind: "exit", code: 3, on: { image: "*:crash" } });
    operated.cluster.simulation.faults.add({ kind: "probe", probe: "readiness", on: { image: "*:deaf" } });
    const probe = { readinessProbe: { httpGet: { path: "/", port: 8080 } } };
    await operated.apply(
      latticeService("full/quota", { ...image("app:1", { resources: { requests: { cpu: "1m" } } }), environment: "full" }),
      latticeService("shop/huge", image("app:1", { resources: { requests: { cpu: "9000" } } })),
      latticeService("shop/absent", image("app:absent")),
      latticeService("shop/crash", image("app:crash")),
      latticeService("shop/deaf", image("app:deaf", probe)),
      latticeService("shop/fine", image("app:1")),
    );
    await operated.live(40_000, 1_000);
  }, 60_000);
  afterAll(() => operated[Symbol.asyncDispose]());

  const rows = [
    { name: "a quota", key: "full/quota", reason: "ReplicaFailure", message: "exceeded quota: lattice-isolation" },
    {
      name: "nodes that are too small",
      key: "shop/huge",
      reason: "Unschedulable",
      message: "0 of 2 pods are ready; 2 pods cannot be scheduled: 0/",
    },
    {
      name: "an image that does not exist",
      key: "shop/absent",
      reason: "PodsFailing",
      message: "2 pods cannot run: container main: the image app:absent cannot be pulled",
    },
    {
      name: "a container that exits",
      key: "shop/crash",
      reason: "PodsFailing",
      message: "2 pods cannot run: container main ends with exit code 3 and is started again",
    },
    { name: "a probe that fails", key: "shop/deaf", reason: "RollingOut", message: "0 of 2 pods are ready" },
  ];
  test.each(rows)("$name", async ({ key, reason, message }) => {
    const { status } = await operated.service(key);
    expect(status).toMatchObject({ phase: "Pending", message: containing(message) });
    for (const type of ["Ready", "WorkloadsReady"])
      expect(await operated.condition(key, type)).toMatchObject({ status: "False", reason, message: containing(message) });
  });

  test("an event has a reason that a user can act on", async () => {
    const warnings = (await operated.events()).filter(
      ({ type, reason }) => type === "Warning" && /ReplicaFailure|Unschedulable|PodsFailing/.test(reason),
    );
    const names = warnings.map(({ regarding }) => regarding["name"]);
    expect([...new Set(names.map(String))].toSorted()).toEqual(["absent", "crash", "huge", "quota"]);
  });

  test("another service is Ready", async () => {
    expect(await operated.condition("shop/fine", "Ready")).toMatchObject(READY);
  });

  test("a reason that stays is written once, and pods are not listed more and more often", async () => {
    const before = operated.writes().length;
    await operated.live(120_000, 5_000);
    const writes = operated.writes().slice(before);
    // a container without a probe is ready between two crashes
    expect(writes.filter((line) => !line.endsWith(" shop/crash"))).toEqual([]);
  });

  test("it becomes Ready as soon as its pods are", async () => {
    absent.lift();
    // the kubelet's back-off before it pulls again
    await operated.live(300_000, 5_000);
    expect(await operated.condition("shop/absent", "Ready")).toMatchObject(READY);
    expect(await operated.service("shop/absent")).toMatchObject({ status: { phase: "Ready", message: "2 of 2 pods are ready" } });
  });
});

describe("a service that is available", () => {
  test("stays Ready while it is updated, and WorkloadsReady follows the rollout", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", two)] });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
    const since = (await operated.condition("shop/api", "Ready"))?.lastTransitionTime;
    operated.cluster.simulation.faults.add({ kind: "slow-start", ms: 20_000, on: { image: "*:slow" } });
    await operated.apply(latticeService("shop/api", image("app:slow")));
    await operated.live(5_000, 500);
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "False", reason: "RollingOut" });
    await operated.live(60_000, 1_000);
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "True", reason: "RolloutComplete" });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ ...READY, lastTransitionTime: since });
  });

  test("is not Ready when its pods are deleted, and is again when they are replaced", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", two)] });
    const slow = operated.cluster.simulation.faults.add({ kind: "slow-start", ms: 30_000 });
    const pods = await operated.names("Pod", "shop");
    for (const name of pods) await operated.remove(operated.cluster.resource("Pod"), `shop/${name}`);
    await operated.live(10_000, 500);
    expect(await operated.service("shop/api")).toMatchObject({ status: { phase: "Pending" } });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "RollingOut" });
    slow.lift();
    await operated.live(40_000, 1_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  });

  test("is Ready with zero pods when zero are wanted, and after a scale-up only with the first ready pod", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api", { replicas: { min: 2, max: 4 } })] });
    await patchDeployment(operated, "shop/api", { spec: { replicas: 0 } });
    await operated.live(5_000, 500);
    expect(await operated.service("shop/api")).toMatchObject({ status: { phase: "Ready", message: "0 of 0 pods are ready" } });
    operated.cluster.simulation.faults.add({ kind: "image-pull" });
    await patchDeployment(operated, "shop/api", { spec: { replicas: 2 } });
    await operated.live(2_000, 100);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False" });
  });
});

/** As Flagger creates it from the target, with `replicas` pods of `image`. */
async function primaryOf(operated: OperatedCluster, spec: { readonly replicas: number; readonly image?: string }): Promise<KubeObject> {
  const canary = await operated.read("Canary", "shop/api");
  const labels = { "app.kubernetes.io/name": "api-primary", "lattice.dev/service": "api" };
  const owner = { apiVersion: "flagger.app/v1beta1", kind: "Canary", name: "api", uid: canary?.metadata.uid ?? "", controller: true };
  const { replicas, image: name = "app:1" } = spec;
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: name }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    // the other labels of the target stay on the pods alone
    metadata: { name: "api-primary", namespace: "shop", labels: { "app.kubernetes.io/name": "api-primary" }, ownerReferences: [owner] },
    spec: { replicas, selector: { matchLabels: { "app.kubernetes.io/name": "api-primary" } }, template },
  } as KubeObject;
}

async function canaryPhase(operated: OperatedCluster, phase: string): Promise<void> {
  const key = { namespace: "shop", name: "api" };
  const canaries = operated.cluster.resource("Canary");
  expectOk(await operated.client.patch(canaries, key, { type: "merge", patch: { status: { phase } } }, { subresource: "status" }));
}

test("with a canary the service is available when Flagger's primary is, or the target while Flagger initializes", async () => {
  const service = latticeService("shop/api", { ...two, deploy: { strategy: "canary" } });
  await using operated = await OperatedCluster.start({ objects: [service] });
  expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  operated.cluster.simulation.faults.add({ kind: "image-pull", on: { image: "*:broken" } });
  await operated.apply(await primaryOf(operated, { replicas: 2, image: "app:broken" }));
  await canaryPhase(operated, "Initializing");
  await operated.live(4_000, 500);
  expect(await operated.condition("shop/api", "Ready")).toMatchObject(READY);
  expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "False" });

  await canaryPhase(operated, "Progressing");
  await operated.live(4_000, 500);
  await operated.apply(await primaryOf(operated, { replicas: 3, image: "app:broken" }));
  await operated.live(4_000, 500);
  expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "PodsFailing" });

  await operated.apply(await primaryOf(operated, { replicas: 3, image: "app:1" }));
  await patchDeployment(operated, "shop/api", { spec: { replicas: 0 } });
  await operated.live(4_000, 500);
  expect(await operated.service("shop/api")).toMatchObject({ status: { phase: "Ready", message: "3 of 3 pods are ready" } });

  await operated.remove(operated.cluster.resource("Deployment"), "shop/api-primary");
  await operated.live(4_000, 500);
  expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "RollingOut" });
});

describe("another owner's Deployment", () => {
  const deployment = (name: string): KubeObject => {
    const labels = { app: `of-a-person-${name}`, "lattice.dev/service": "api" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "theirs:1" }] } };
    const metadata = { name, namespace: "shop", labels };
    return {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 5, selector: { matchLabels: labels }, template },
    } as KubeObject;
  };

  test("with the service's name is not counted, and the service is not Ready", async () => {
    await using operated = await OperatedCluster.start({ objects: [deployment("api"), latticeService("shop/api", two)] });
    await operated.live(2_000, 500);
    const { status } = await operated.service("shop/api");
    expect(status).toMatchObject({ phase: "Failed", message: containing("Deployment shop/api: it exists already") });
    const shown = JSON.stringify(await operated.condition("shop/api", "WorkloadsReady"));
    expect(shown).toContain("the Deployment is not there yet");
    expect(shown).not.toContain("5 of 5");
  });

  test("with the name of Flagger's primary is not counted", async () => {
    const canary = latticeService("shop/api", { ...two, deploy: { strategy: "canary" } });
    await using operated = await OperatedCluster.start({ objects: [canary, deployment("api-primary")] });
    await operated.live(2_000, 500);
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "True", message: "2 of 2 pods are ready" });
  });
});
