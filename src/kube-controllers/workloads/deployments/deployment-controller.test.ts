import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { deployments, pods, replicaSets } from "#kube";
import { roundsOf } from "../../../../test/builders/rounds.ts";
import {
  podTemplate,
  SELECTOR,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../../test/builders/simulated-cluster.ts";

let cluster: SimulatedCluster;

async function begin(spec: object = {}, options: SimulatedClusterOptions = {}): Promise<void> {
  cluster = await simulatedCluster(options);
  await cluster.create(deployments, "web", { spec: { replicas: 3, selector: SELECTOR, template: podTemplate("web:1"), ...spec } });
}

afterEach(async () => {
  expect(await cluster.end()).toBe(0);
});

const status = async () => (await cluster.read(deployments, "web")).status ?? {};
const reasons = async () => Object.fromEntries(((await status()).conditions ?? []).map(({ type, reason }) => [type, reason]));
const image = (to: string) => ({ spec: { template: { spec: { containers: [{ name: "web", image: to }] } } } });
const images = async () => (await cluster.all(pods)).map(({ spec }) => spec.containers[0]?.image ?? "").toSorted();
/** "revision: size", oldest first. */
const revisions = async () => {
  const sets = await cluster.all(replicaSets);
  return sets.map(({ metadata, spec }) => `${metadata.annotations?.["deployment.kubernetes.io/revision"]}: ${spec.replicas}`).toSorted();
};

test("three replicas are ready well within a second, and a settled cluster writes nothing but heartbeats", async () => {
  await begin();
  await cluster.live(500);
  expect(await status()).toMatchObject({ replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3, observedGeneration: 1 });
  expect(await reasons()).toEqual({ Available: "MinimumReplicasAvailable", Progressing: "NewReplicaSetAvailable" });
  expect((await cluster.read(deployments, "web")).metadata.annotations).toEqual({ "deployment.kubernetes.io/revision": "1" });
  await cluster.live(20_000, 5_000);
  const before = cluster.writes.length;
  await cluster.live(60_000, 5_000);
  expect(new Set(cluster.writes.slice(before))).toEqual(new Set(["PATCH leases/kube-node-lease/lattice-node-1"]));
});

test("a new image is rolled out within maxUnavailable", async () => {
  await begin({ strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  await cluster.live(300);
  await cluster.patch(deployments, "web", image("web:2"));
  for (let at = 0; at < 40; at += 1) {
    await cluster.live(20);
    const { replicas = 0, availableReplicas = 0 } = await status();
    expect([availableReplicas >= 3, replicas <= 4]).toEqual([true, true]);
  }
  expect(await images()).toEqual(["web:2", "web:2", "web:2"]);
  expect(await revisions()).toEqual(["1: 0", "2: 3"]);
});

test("kubectl rollout undo makes the old ReplicaSet the newest revision, with its history", async () => {
  await begin({ replicas: 1 });
  await cluster.live(200);
  await cluster.patch(deployments, "web", image("web:2"));
  await cluster.live(300);
  await cluster.patch(deployments, "web", image("web:1"));
  await cluster.live(300);
  expect(await revisions()).toEqual(["2: 0", "3: 1"]);
  const sets = await cluster.all(replicaSets);
  expect(sets.map(({ metadata }) => metadata.annotations?.["deployment.kubernetes.io/revision-history"])).toEqual(
    expect.arrayContaining(["1"]),
  );
});

test("old ReplicaSets are kept up to the history limit", async () => {
  await begin({ replicas: 1, revisionHistoryLimit: 1 });
  for (const version of [2, 3, 4]) {
    await cluster.patch(deployments, "web", image(`web:${version}`));
    await cluster.live(300);
  }
  expect((await revisions()).length).toBe(2);
});

test("an image that cannot be pulled exceeds the deadline, and the old Pods keep serving", async () => {
  await begin({ progressDeadlineSeconds: 60 }, { simulation: { faults: [{ kind: "image-pull", on: { image: "*:broken" } }] } });
  await cluster.live(300);
  await cluster.patch(deployments, "web", image("web:broken"));
  await cluster.live(59_000, 1_000);
  expect(await reasons()).toMatchObject({ Progressing: "ReplicaSetUpdated" });
  await cluster.live(5_000, 1_000);
  const { conditions = [], availableReplicas } = await status();
  expect(conditions.find(({ type }) => type === "Progressing")).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
    message: expect.stringMatching(/^ReplicaSet "web-[a-z0-9]+" has timed out progressing\.$/) as string,
  });
  expect(availableReplicas).toBe(3);
  const waiting = (await cluster.all(pods)).flatMap((pod) => pod.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? []);
  expect(waiting).toEqual(["ImagePullBackOff"]);
});

test("a paused Deployment is scaled but not rolled out; resumed, it is", async () => {
  await begin({ replicas: 1 });
  await cluster.live(200);
  await cluster.patch(deployments, "web", { spec: { paused: true } });
  await cluster.live(20);
  expect(await reasons()).toMatchObject({ Progressing: "DeploymentPaused" });
  await cluster.patch(deployments, "web", { spec: { replicas: 2, ...image("web:2").spec } });
  await cluster.live(300);
  expect(await images()).toEqual(["web:1", "web:1"]);
  await cluster.patch(deployments, "web", { spec: { paused: false } });
  await cluster.live(500);
  expect(await images()).toEqual(["web:2", "web:2"]);
  expect(await reasons()).toMatchObject({ Progressing: "NewReplicaSetAvailable" });
});

test("Recreate has no Pod of the new version while an old one is left", async () => {
  await begin({ strategy: { type: "Recreate" } }, { simulation: { speeds: { stopMs: 500 } } });
  await cluster.live(200);
  await cluster.patch(deployments, "web", image("web:2"));
  for (let at = 0; at < 60; at += 1) {
    await cluster.live(20);
    expect(new Set(await images()).size).toBeLessThanOrEqual(1);
  }
  expect(await images()).toEqual(["web:2", "web:2", "web:2"]);
});

test("scaling during a rollout is distributed between old and new", async () => {
  await begin(
    { replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } },
    { simulation: { faults: [{ kind: "image-pull", on: { image: "web:2" } }] } },
  );
  await cluster.live(400);
  await cluster.patch(deployments, "web", image("web:2"));
  await cluster.live(400);
  expect(await revisions()).toEqual(["1: 8", "2: 5"]);
  await cluster.patch(deployments, "web", { spec: { replicas: 15 } });
  await cluster.live(400);
  expect(await revisions()).toEqual(["1: 11", "2: 7"]);
});

test("the deprecated rollback annotation works, and a missing revision is reported", async () => {
  await begin({ replicas: 1 });
  await cluster.live(200);
  const rollBackTo = (revision: string) =>
    cluster.patch(deployments, "web", { metadata: { annotations: { "deprecated.deployment.rollback.to": revision } } });
  await rollBackTo("0");
  await cluster.live(100);
  await cluster.patch(deployments, "web", image("web:2"));
  await cluster.live(300);
  await rollBackTo("7");
  await cluster.live(100);
  await rollBackTo("2");
  await cluster.live(100);
  await rollBackTo("0");
  await cluster.live(300);
  expect(await images()).toEqual(["web:1"]);
  expect((await cluster.eventsOn("Deployment")).filter((text) => text.includes("Rollback"))).toEqual([
    "Warning DeploymentRollbackRevisionNotFound: Unable to find last revision.",
    "Warning DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.",
    'Warning DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "web"',
    'Normal DeploymentRollback: Rolled back deployment "web" to revision 1',
  ]);
});

test("a quota error is reported on the ReplicaSet and on the Deployment, and cleared when there is room", async () => {
  let full = true;
  await begin(
    {},
    {
      between: (client) => ({
        ...client,
        create: (resource, object, call) =>
          full && resource.kind === "Pod"
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: 'pods "web" is forbidden: exceeded quota: few' } })
            : client.create(resource, object, call),
      }),
    },
  );
  await cluster.live(100);
  const { conditions = [] } = await status();
  expect(conditions.find(({ type }) => type === "ReplicaFailure")).toMatchObject({
    status: "True",
    reason: "FailedCreate",
    message: expect.stringContaining("exceeded quota") as string,
  });
  expect(await cluster.eventsOn("ReplicaSet")).toContain(
    'Warning FailedCreate: Error creating: pods "web" is forbidden: exceeded quota: few',
  );
  full = false;
  await cluster.live(30_000, 1_000);
  expect(await reasons()).toEqual({ Available: "MinimumReplicasAvailable", Progressing: "NewReplicaSetAvailable" });
});

test("a ReplicaSet that cannot be created is reported, and retried", async () => {
  let broken = true;
  await begin(
    {},
    {
      between: (client) => ({
        ...client,
        create: (resource, object, call) =>
          broken && resource.kind === "ReplicaSet"
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: "no" } })
            : client.create(resource, object, call),
      }),
    },
  );
  await cluster.live(40);
  expect(await reasons()).toMatchObject({ Progressing: "ReplicaSetCreateError" });
  expect((await cluster.eventsOn("Deployment"))[0]).toMatch(
    /^Warning ReplicaSetCreateError: Failed to create new replica set "web-[a-z0-9]+": no$/,
  );
  broken = false;
  await cluster.live(60_000, 1_000);
  expect((await status()).availableReplicas).toBe(3);
});

test("another ReplicaSet with the name of the new one causes a collision, and the rollout continues", async () => {
  cluster = await simulatedCluster();
  const spec = { replicas: 1, selector: SELECTOR, template: podTemplate("web:1") };
  await cluster.create(deployments, "web", { spec });
  await cluster.live(200);
  const name = (await cluster.all(replicaSets))[0]?.metadata.name ?? "";
  expectOk(await cluster.client.delete(deployments, { namespace: "default", name: "web" }));
  await cluster.live(500);
  await cluster.create(replicaSets, name, {
    spec: { replicas: 0, selector: { matchLabels: { app: "x" } }, template: { ...podTemplate("x"), metadata: { labels: { app: "x" } } } },
  });
  await cluster.create(deployments, "web", { spec });
  await cluster.live(500);
  expect(await status()).toMatchObject({ collisionCount: 1, availableReplicas: 1 });
});

test("a Deployment that is being deleted only updates its status, and one that selects everything does nothing", async () => {
  await begin({ replicas: 1 });
  await cluster.live(200);
  await cluster.patch(deployments, "web", { metadata: { finalizers: ["test/hold"] } });
  expectOk(await cluster.client.delete(deployments, { namespace: "default", name: "web" }));
  await cluster.patch(deployments, "web", image("web:2"));
  await cluster.live(300);
  expect(await images()).toEqual(["web:1"]);
  await cluster.patch(deployments, "web", { metadata: { finalizers: null } });
});

test("hundreds of replicas become ready", { timeout: 120_000 }, async () => {
  const replicas = roundsOf({ sample: 200, long: 1_000 });
  await begin({ replicas });
  await cluster.live(3_000, 100);
  expect((await status()).availableReplicas).toBe(replicas);
});
