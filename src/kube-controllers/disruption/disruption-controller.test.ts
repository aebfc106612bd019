/** PodDisruptionBudgets on an API server in this process. */
import { afterEach, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import {
  defineResource,
  deployments,
  podDisruptionBudgets,
  pods,
  replicaSets,
  replicationControllers,
  statefulSets,
  type KubeObject,
  type OwnerReference,
  type Pod,
  type PodDisruptionBudget,
} from "#kube";
import { controlledCluster, type ControlledCluster } from "../../../test/builders/controlled-cluster.ts";
import { disruptionController } from "./disruption-controller.ts";

const clusters: ControlledCluster[] = [];
afterEach(async () => {
  for (const cluster of clusters.splice(0)) expect(await cluster.end()).toBe(0);
});

const labels = { app: "shop" };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };

async function start() {
  const cluster = await controlledCluster({ controllers: [disruptionController] });
  clusters.push(cluster);
  const { client, running } = cluster;
  await running.idle();
  const makeBudget = async (spec: PodDisruptionBudget["spec"], name = "b") =>
    expectOk(
      await client.create(podDisruptionBudgets, {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name, namespace: "default" },
        spec: { selector, ...spec },
      }),
    );
  const makePod = async (name: string, { owner, status = {} }: { owner?: OwnerReference; status?: object } = {}) => {
    const metadata = { name, namespace: "default", labels, ...(owner === undefined ? {} : { ownerReferences: [owner] }) };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "c", image: "i" }] } };
    expectOk(await client.create<Pod>(pods, pod));
    const patch = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], ...status } };
    expectOk(await client.patch(pods, { namespace: "default", name }, { type: "merge", patch }, { subresource: "status" }));
  };
  const status = async (name = "b") => expectOk(await client.get(podDisruptionBudgets, { namespace: "default", name })).status;
  return { ...cluster, makeBudget, makePod, status };
}

function controlledBy({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true };
}

function events(client: ControlledCluster["client"]) {
  const kind = defineResource<KubeObject & { reason?: string; message?: string }>({
    group: "",
    version: "v1",
    kind: "Event",
    plural: "events",
    namespaced: true,
  });
  return client.list(kind).then((listed) => expectOk(listed).items.map(({ reason, message }) => `${reason}: ${message}`));
}

test("the status follows the Pods, and is written only when it changes", async () => {
  const { makeBudget, makePod, status, client, running, writes } = await start();
  await makeBudget({ minAvailable: 1 });
  await running.idle();
  expect(await status()).toMatchObject({
    disruptionsAllowed: 0,
    currentHealthy: 0,
    desiredHealthy: 1,
    expectedPods: 0,
    observedGeneration: 1,
  });
  for (const name of ["p1", "p2", "p3"]) await makePod(name);
  await running.idle();
  expect(await status()).toMatchObject({ disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 });
  const before = writes.length;
  await client.patch(pods, { namespace: "default", name: "p1" }, { type: "merge", patch: { metadata: { annotations: { a: "b" } } } });
  await running.idle();
  expect(writes).toHaveLength(before);
  await client.patch(pods, { namespace: "default", name: "p1" }, { type: "merge", patch: { metadata: { labels: { app: "other" } } } });
  await client.delete(pods, { namespace: "default", name: "p2" }, { gracePeriodSeconds: 0 });
  await running.idle();
  expect(await status()).toMatchObject({
    disruptionsAllowed: 0,
    currentHealthy: 1,
    expectedPods: 1,
    conditions: [{ reason: "InsufficientPods" }],
  });
});

describe("percentages refer to the scale of the controllers", () => {
  const rows = [
    { name: "a ReplicaSet", kind: replicaSets, spec: { replicas: 4, selector, template } },
    { name: "a StatefulSet", kind: statefulSets, spec: { replicas: 4, selector, template, serviceName: "s" } },
    { name: "a ReplicationController", kind: replicationControllers, spec: { replicas: 4, selector: labels, template } },
  ];
  test.each(rows)("$name", async ({ kind, spec }) => {
    const { makeBudget, makePod, status, client, running } = await start();
    const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
    const made = expectOk(
      await client.create<KubeObject>(kind, {
        apiVersion,
        kind: kind.kind,
        metadata: { name: "set", namespace: "default" },
        spec,
      } as KubeObject),
    );
    await makePod("p1", { owner: controlledBy(made) });
    await makePod("p2", { owner: controlledBy(made) });
    await makeBudget({ maxUnavailable: "50%" });
    await running.idle();
    expect(await status()).toMatchObject({ expectedPods: 4, desiredHealthy: 2, currentHealthy: 2, disruptionsAllowed: 0 });
  });

  test("of a Deployment: over all its ReplicaSets", async () => {
    const { makeBudget, makePod, status, client, running } = await start();
    const spec = { replicas: 3, selector, template };
    const deployment = expectOk(
      await client.create<KubeObject>(deployments, {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d", namespace: "default" },
        spec,
      } as KubeObject),
    );
    for (const name of ["old", "new"]) {
      const metadata = { name, namespace: "default", ownerReferences: [controlledBy(deployment)] };
      const set = expectOk(
        await client.create<KubeObject>(replicaSets, { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec } as KubeObject),
      );
      await makePod(`of-${name}`, { owner: controlledBy(set) });
    }
    await makeBudget({ minAvailable: "34%" });
    await running.idle();
    expect(await status()).toMatchObject({ expectedPods: 3, desiredHealthy: 2, currentHealthy: 2, disruptionsAllowed: 0 });
  });

  test("the scale subresource of a custom resource is read; without one it is an error", async () => {
    const { makeBudget, makePod, status, client, running } = await start();
    const definitions = defineResource({
      group: "apiextensions.k8s.io",
      version: "v1",
      kind: "CustomResourceDefinition",
      plural: "customresourcedefinitions",
      namespaced: false,
    });
    const define = async (plural: string, kind: string, subresources: object) =>
      expectOk(
        await client.create(definitions, {
          apiVersion: "apiextensions.k8s.io/v1",
          kind: "CustomResourceDefinition",
          metadata: { name: `${plural}.example.org` },
          spec: {
            group: "example.org",
            scope: "Namespaced",
            names: { plural, kind },
            versions: [
              {
                name: "v1",
                served: true,
                storage: true,
                subresources,
                schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
              },
            ],
          },
        } as KubeObject),
      );
    await define("widgets", "Widget", { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } });
    await define("gears", "Gear", {});
    await running.idle();
    const make = async (plural: string, kind: string) =>
      expectOk(
        await client.create<KubeObject>(defineResource({ group: "example.org", version: "v1", kind, plural, namespaced: true }), {
          apiVersion: "example.org/v1",
          kind,
          metadata: { name: "w", namespace: "default" },
          spec: { replicas: 5 },
        } as KubeObject),
      );
    const widget = await make("widgets", "Widget");
    await makePod("p1", { owner: controlledBy(widget) });
    await makeBudget({ maxUnavailable: 1 });
    await running.idle();
    expect(await status()).toMatchObject({ expectedPods: 5, desiredHealthy: 4 });
    await makePod("p2", { owner: controlledBy(await make("gears", "Gear")) });
    await running.idle();
    expect(await status()).toMatchObject({
      conditions: [{ reason: "SyncFailed", message: "gears.example.org does not implement the scale subresource" }],
    });
  });

  test("a missing controller is an error that allows no disruption", async () => {
    const { makeBudget, makePod, status, client, running } = await start();
    const owner = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: "none",
      uid: "9c1f2d6e-0000-4000-8000-000000000002",
      controller: true,
    };
    await makePod("p1", { owner });
    await makeBudget({ maxUnavailable: 1 });
    await running.idle();
    expect(await status()).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ reason: "SyncFailed", message: 'found no controllers for pod "p1"' }],
    });
    expect(await events(client)).toContain(
      'CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: found no controllers for pod "p1"',
    );
    await makePod("p2", { owner: { ...owner, apiVersion: "example.org/v1", kind: "Widget" } });
    await client.delete(pods, { namespace: "default", name: "p1" }, { gracePeriodSeconds: 0 });
    await running.idle();
    expect(await status()).toMatchObject({ conditions: [{ message: 'no matches for kind "Widget" in version "example.org/v1"' }] });
  });

  test("Pods without a controller are reported", async () => {
    const { makeBudget, makePod, client, running } = await start();
    await makePod("p1");
    await makeBudget({ maxUnavailable: 1 });
    await running.idle();
    expect((await events(client)).find((text) => text.startsWith("UnmanagedPods"))).toContain(
      "selector: &LabelSelector{MatchLabels:map[string]string{app: shop,}",
    );
  });
});

test("a Pod with an accepted eviction that is not deleted counts as healthy again after two minutes", async () => {
  const { makeBudget, makePod, status, client, running, advance, clock } = await start();
  await makePod("p1");
  await makeBudget({ minAvailable: 0 });
  await running.idle();
  const current = expectOk(await client.get(podDisruptionBudgets, { namespace: "default", name: "b" }));
  const since = new Date(clock.now()).toISOString().replace(".000", "");
  const changed = {
    ...(current.status ?? { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
    disruptedPods: { p1: since },
  };
  expectOk(await client.update(podDisruptionBudgets, { ...current, status: changed }, { subresource: "status" }));
  await running.idle();
  expect(await status()).toMatchObject({ currentHealthy: 0, disruptedPods: { p1: since } });
  await advance(121_000);
  expect(await status()).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 1 });
  expect((await status())?.disruptedPods).toBeUndefined();
  expect(await events(client)).toContain("NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't");
});

test("the DisruptionTarget condition is reset on a Pod that was not deleted", async () => {
  const { makePod, client, running, advance, clock } = await start();
  const lastTransitionTime = new Date(clock.now()).toISOString().replace(".000", "");
  const disruption = (reason: string) => ({ type: "DisruptionTarget", status: "True", reason, lastTransitionTime });
  await makePod("p1", { status: { conditions: [disruption("PreemptionByScheduler")] } });
  await makePod("p2", { status: { conditions: [disruption("TerminationByKubelet")] } });
  await running.idle();
  await advance(119_000);
  const state = async (name: string) => expectOk(await client.get(pods, { namespace: "default", name })).status?.conditions?.[0]?.status;
  expect(await state("p1")).toBe("True");
  await advance(1_000);
  expect([await state("p1"), await state("p2")]).toEqual(["False", "True"]);
});

test("a Pod under two budgets gets an event", async () => {
  const { makeBudget, makePod, client, running } = await start();
  await makeBudget({ minAvailable: 1 }, "a");
  await makeBudget({ minAvailable: 1 }, "b");
  await running.idle();
  await makePod("p1");
  await running.idle();
  expect(await events(client)).toContain(
    'MultiplePodDisruptionBudgets: Pod "default"/"p1" matches multiple PodDisruptionBudgets.  Chose "a" arbitrarily.',
  );
});
