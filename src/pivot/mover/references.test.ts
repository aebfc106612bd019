/** Objects that a move follows out of the namespace, those that it copies and keeps, and those that it meets at the target. */
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { expectOk, type Result } from "#base";
import { failWith, loseAnswer, startEmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { apiVersionOf, capiClusters, capiMachines, defineResource, secrets, type KubeObject, type Resource } from "#kube";
import { contentsOf, isUnpaused, observeInvariants, startMoveWorld, type MoveWorld } from "../../../test/builders/move-world.ts";
import { openCrd } from "../../../test/builders/open-crd.ts";
import type { MoveContext } from "./context.ts";
import type { MoveFailure } from "./failure.ts";
import { contextFor } from "./move-crashes.test-support.ts";
import { MortalProcess } from "../../../test/builders/mortal-process.ts";
import { runMove } from "./move.ts";
import { rollBackRefused } from "./roll-back.ts";

const infrastructure = { group: "infrastructure.cluster.x-k8s.io", version: "v1beta2", namespaced: true };
const awsClusters = defineResource<KubeObject>({ ...infrastructure, kind: "AWSCluster", plural: "awsclusters" });
const identities = defineResource<KubeObject>({ ...infrastructure, kind: "AWSIdentity", plural: "awsidentities", namespaced: false });
const core = { group: "cluster.x-k8s.io", version: "v1beta2", namespaced: true };
const classes = defineResource<KubeObject>({ ...core, kind: "ClusterClass", plural: "clusterclasses" });
const pools = defineResource<KubeObject>({ ...core, kind: "MachinePool", plural: "machinepools" });

let world: MoveWorld;

beforeEach(async () => {
  world = await startMoveWorld(0);
  onTestFinished(() => world.close());
  for (const cluster of [world.source, world.target]) await cluster.add(...[awsClusters, identities, classes].map(labelled));
});

const labelled = (resource: Resource): FixtureObject => {
  const crd = openCrd(resource) as KubeObject;
  return { ...crd, metadata: { ...crd.metadata, labels: { "clusterctl.cluster.x-k8s.io": "" } } };
};
const object = (resource: Resource, name: string, more: object = {}, metadata: object = {}): FixtureObject => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  metadata: { name, ...(resource.namespaced ? { namespace: "c1" } : {}), ...metadata },
  ...more,
});
const context = () => contextFor(world.source, world.target, new MortalProcess(undefined), 1);
const exists = (side: "source" | "target", resource: Resource, name: string, namespace?: string) =>
  world[side].peek(resource, { namespace, name }) !== undefined;
const failureOf = (result: Result<unknown, MoveFailure>): MoveFailure => (result.ok ? expect.fail("not refused") : result.error);
const ownedByCluster = () => {
  const uid = world.source.peek<KubeObject>(defineResource({ ...core, kind: "Cluster", plural: "clusters" }), {
    namespace: "c1",
    name: "c1",
  })?.metadata.uid;
  return { ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "c1", uid }] };
};

test("an identity, its Secret and credentials of another namespace are copied and kept", async () => {
  await world.source.add(
    object(identities, "id", { spec: { secretRef: { name: "keys", namespace: "vault" } } }),
    object(secrets, "keys", { data: { a: "YQ==" } }, { namespace: "vault" }),
    object(secrets, "gcp", { data: { b: "Yg==" } }, { namespace: "vault" }),
    object(
      awsClusters,
      "aws",
      { spec: { identityRef: { kind: "AWSIdentity", name: "id" }, credentialsRef: { name: "gcp", namespace: "vault" } } },
      ownedByCluster(),
    ),
  );
  expectOk(await runMove(context()));
  for (const side of ["source", "target"] as const) {
    expect(exists(side, identities, "id"), side).toBe(true);
    expect(exists(side, secrets, "keys", "vault") && exists(side, secrets, "gcp", "vault"), side).toBe(true);
  }
  expect([exists("source", awsClusters, "aws", "c1"), exists("target", awsClusters, "aws", "c1")]).toEqual([false, true]);
});

test("what the target already has of these is left as it is there", async () => {
  await world.source.add(
    object(identities, "id", { spec: { region: "source" } }),
    object(awsClusters, "aws", { spec: { identityRef: { kind: "AWSIdentity", name: "id" } } }, ownedByCluster()),
  );
  await world.target.add(object(identities, "id", { spec: { region: "target" } }));
  expectOk(await runMove(context()));
  expect(world.target.peek(identities, { name: "id" })).toMatchObject({ spec: { region: "target" } });
});

test("a reference to an object that does not exist: refused", async () => {
  await world.source.add(object(awsClusters, "aws", { spec: { credentialsRef: { name: "gone", namespace: "vault" } } }, ownedByCluster()));
  expect(failureOf(await runMove(context())).message).toContain("refers to Secret vault/gone in spec.credentialsRef, which does not exist");
});

test("a class that Clusters of other namespaces use is copied and kept, and paused nowhere", async () => {
  await world.source.add(object(classes, "shared", { spec: {} }), object(classes, "own", { spec: {} }), {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "x", namespace: "elsewhere" },
    spec: { topology: { classRef: { name: "shared", namespace: "c1" }, version: "v1.36.3" } },
  });
  expectOk(await runMove(context()));
  expect([exists("source", classes, "shared", "c1"), exists("source", classes, "own", "c1")]).toEqual([true, false]);
  for (const name of ["shared", "own"])
    expect(world.target.peek<KubeObject>(classes, { namespace: "c1", name })?.metadata.annotations ?? {}, name).toEqual({});
});

test.each(["pause", "transfer", "verify", "commit"])(
  "a class that a Cluster of another namespace begins to use before '%s': refused, rolled back and paused nowhere, and moved by the next run",
  async (step) => {
    await world.source.add(object(classes, "own", { spec: {} }));
    const process = new MortalProcess(undefined);
    const first = { ...contextFor(world.source, world.target, process, 1), report: stopAt(process, step) };
    expect((await runMove(first)).ok).toBe(false);
    await world.source.add({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { name: "x", namespace: "elsewhere" },
      spec: { topology: { classRef: { name: "own", namespace: "c1" }, version: "v1.36.3" } },
    });
    const refused = failureOf(await runMove(context()));
    expect(refused.message).toBe(
      "ClusterClass c1/own is used by a Cluster of another namespace since the move began; run the command again, and it is copied and kept",
    );
    const undone = failureOf(await rollBackRefused(context(), refused));
    expect(undone.message).toContain("the move was rolled back");
    expect([isUnpaused(world.source, "c1"), [...(await contentsOf(world.target.client, "c1")).keys()]]).toEqual([true, []]);
    expectOk(await runMove(context()));
    for (const side of ["source", "target"] as const)
      expect(world[side].peek<KubeObject>(classes, { namespace: "c1", name: "own" })?.metadata.annotations ?? {}, side).toEqual({});
  },
);

/** A reporter that ends a process at a step. */
const stopAt = (process: MortalProcess, wanted: string): MoveContext["report"] => {
  return ({ step }) => {
    if (step === wanted) process.dead = true;
  };
};

test("a moved Cluster whose class is used elsewhere is at one side only, with all that it owns", async () => {
  await world.source.add(object(classes, "shared", { spec: {} }), {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "x", namespace: "elsewhere" },
    spec: { topology: { classRef: { name: "shared", namespace: "c1" }, version: "v1.36.3" } },
  });
  const patch = { spec: { topology: { classRef: { name: "shared" }, version: "v1.36.3" } } };
  expectOk(await world.source.client.patch(capiClusters, { namespace: "c1", name: "c1" }, { type: "merge", patch }));
  const before = [...(await contentsOf(world.source.client, "c1")).keys()].filter((name) => name !== "Secret c1/unrelated");
  const observer = observeInvariants(world, before);
  expectOk(await runMove(context()));
  expect(observer.wrong).toEqual([]);
  expect([isUnpaused(world.target, "c1"), exists("source", classes, "shared", "c1")]).toEqual([true, true]);
  expect([...(await contentsOf(world.source.client, "c1")).keys()]).toEqual(["Secret c1/unrelated"]);
  expect([...(await contentsOf(world.target.client, "c1")).keys()].toSorted()).toEqual(before.toSorted());
});

test("an object of a kind that is not labelled would be lost: refused", async () => {
  await world.source.add(openCrd(pools));
  await world.source.add(object(pools, "p", { spec: {} }, ownedByCluster()));
  expect(failureOf(await runMove(context())).message).toContain("MachinePool c1/p is owned by Cluster c1 and would be lost");
});

test("a source without Cluster API: refused", async () => {
  const bare = await startEmbeddedCluster({ seed: 31 });
  onTestFinished(() => bare.close());
  const from = contextFor(bare, world.target, new MortalProcess(undefined), 1);
  expect(failureOf(await runMove(from)).message).toContain("is Cluster API installed there?");
});

const met: readonly { name: string; metadata: object; want: string }[] = [
  { name: "an object of something else", metadata: {}, want: "Machine c1/c1-cp-1 exists at the target already; delete it there" },
];

test.for(met)("$name appears at the target during the transfer: refused", async ({ metadata, want }) => {
  const appear = async () => {
    await world.target.add(
      object(
        capiMachines,
        "c1-cp-1",
        { spec: { clusterName: "z", bootstrap: { dataSecretName: "x" }, infrastructureRef: { apiGroup: "a.b", kind: "K", name: "n" } } },
        metadata,
      ),
    );
  };
  let isThere = false;
  world.target.intercept({ verb: "create", resource: "clusters" }, async (_action, next) => {
    if (!isThere) await appear();
    isThere = true;
    return next();
  });
  expect(failureOf(await runMove(context())).message).toContain(want);
  expect(isUnpaused(world.target, "c1")).toBe(false);
});

test("an unfinished copy that an ended move has left in the namespace is taken over; one elsewhere is not touched", async () => {
  const unfinished = { annotations: { "lattice.dev/copy-of": "other" } };
  await world.target.add(object(secrets, "c1-ca", { data: { value: "eA==" } }, unfinished));
  await world.source.add(
    object(identities, "id", { spec: {} }),
    object(awsClusters, "aws", { spec: { identityRef: { kind: "AWSIdentity", name: "id" } } }, ownedByCluster()),
  );
  await world.target.add(object(identities, "id", { spec: {} }, unfinished));
  expect(failureOf(await runMove(context())).message).toContain("AWSIdentity id of the target is an unfinished copy of another object");
  await world.target.client.delete(identities, { name: "id" });
  expectOk(await runMove(context()));
  const moved = world.target.peek<KubeObject>(secrets, { namespace: "c1", name: "c1-ca" });
  expect([moved?.metadata.annotations ?? {}, moved]).toEqual([{}, expect.objectContaining({ data: { value: "Y2E=" } })]);
});

test("answers that are lost and errors that pass are repeated, and the move ends as any other", { timeout: 60_000 }, async () => {
  world.target.intercept({ verb: "create", resource: "machines", times: 1 }, loseAnswer());
  world.target.intercept({ verb: "create", resource: "secrets", times: 2 }, failWith("server-error"));
  world.target.intercept({ verb: "patch", resource: "kubeadmconfigs", times: 2 }, failWith("conflict"));
  world.source.intercept({ verb: "delete", resource: "machines", times: 1 }, loseAnswer());
  world.source.intercept({ verb: "list", resource: "machines", times: 5 }, failWith("unavailable"));
  expectOk(await runMove(context()));
  expect([isUnpaused(world.target, "c1"), exists("source", capiMachines, "c1-cp-1", "c1")]).toEqual([true, false]);
  const mark = world.target.peek<KubeObject>(capiMachines, { namespace: "c1", name: "c1-cp-1" })?.metadata.annotations;
  expect(mark).toEqual({ "example.com/team": "a" });
});

test("an API server that refuses a write ends the move with its message, and the next run finishes it", async () => {
  world.target.intercept({ verb: "create", resource: "machines", times: 1 }, failWith("forbidden"));
  const failure = failureOf(await runMove(context()));
  expect(failure).toMatchObject({
    kind: "failed",
    message: expect.stringContaining("the target could not create Machine c1/c1-cp-1: ") as unknown,
  });
  expectOk(await runMove(context()));
});
