import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { controllerRevisions, persistentVolumeClaims, persistentVolumes, pods as podResource, statefulSets } from "#kube";
import {
  podTemplate,
  SELECTOR,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../../test/builders/simulated-cluster.ts";

let cluster: SimulatedCluster;

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "standard", resources: { requests: { storage: "1Gi" } } },
};

async function begin(spec: object = {}, options: SimulatedClusterOptions = {}): Promise<void> {
  cluster = await simulatedCluster(options);
  await cluster.create(statefulSets, "db", {
    spec: { replicas: 3, serviceName: "db", selector: SELECTOR, template: podTemplate("db:1"), ...spec },
  });
}

afterEach(async () => void (await cluster.end()));

const image = (to: string) => ({ spec: { template: { spec: { containers: [{ name: "web", image: to }] } } } });
const status = async () => (await cluster.read(statefulSets, "db")).status;
const pods = async () =>
  (await cluster.all(podResource)).map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]?.image}`).toSorted();
const claims = async () =>
  (await cluster.all(persistentVolumeClaims))
    .map(({ metadata }) => `${metadata.name} ${metadata.ownerReferences?.[0]?.kind ?? "-"}`)
    .toSorted();

test("Pods are created one after the other, each when the one before is ready, with names, labels and a host name", async () => {
  await begin();
  const seen: number[] = [];
  for (let at = 0; at < 60; at += 1) {
    await cluster.live(10, 10);
    seen.push((await pods()).length);
  }
  expect([...new Set(seen)]).toEqual([1, 2, 3]);
  expect(await status()).toMatchObject({
    replicas: 3,
    readyReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    availableReplicas: 3,
    collisionCount: 0,
  });
  const first = await cluster.read(podResource, "db-0");
  expect(first.metadata.labels).toMatchObject({ "statefulset.kubernetes.io/pod-name": "db-0", "apps.kubernetes.io/pod-index": "0" });
  expect([first.spec.hostname, first.spec.subdomain]).toEqual(["db-0", "db"]);
  expect(await cluster.eventsOn("StatefulSet")).toEqual(
    [0, 1, 2].map((ordinal) => `Normal SuccessfulCreate: Create Pod db-${ordinal} in StatefulSet db successful`),
  );
});

test("Parallel creates all at once, from spec.ordinals.start", async () => {
  await begin({ podManagementPolicy: "Parallel", ordinals: { start: 5 } });
  await cluster.live(60);
  expect(await pods()).toEqual(["db-5 db:1", "db-6 db:1", "db-7 db:1"]);
});

test("an update starts at the highest ordinal and ends at the partition, one at a time", async () => {
  await begin({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } }, { simulation: { speeds: { stopMs: 200 } } });
  await cluster.live(400);
  await cluster.patch(statefulSets, "db", image("db:2"));
  await cluster.live(60);
  expect(await pods()).toContain("db-1 db:1");
  await cluster.live(600);
  expect(await pods()).toEqual(["db-0 db:1", "db-1 db:2", "db-2 db:2"]);
  expect(await status()).toMatchObject({ currentReplicas: 1, updatedReplicas: 2 });
  expectOk(await cluster.client.delete(podResource, { namespace: "default", name: "db-0" }));
  await cluster.live(600);
  expect(await pods()).toContain("db-0 db:1");
  await cluster.patch(statefulSets, "db", { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
  await cluster.live(800);
  expect(await pods()).toEqual(["db-0 db:2", "db-1 db:2", "db-2 db:2"]);
  const { currentRevision, updateRevision } = (await status()) ?? {};
  expect(currentRevision).toBe(updateRevision);
});

test("OnDelete updates nothing by itself", async () => {
  await begin({ replicas: 1, updateStrategy: { type: "OnDelete" } });
  await cluster.live(200);
  await cluster.patch(statefulSets, "db", image("db:2"));
  await cluster.live(200);
  expect(await pods()).toEqual(["db-0 db:1"]);
});

test("a rollback reuses the revision as the newest, and the history keeps its limit", async () => {
  await begin({ replicas: 1, revisionHistoryLimit: 1 });
  await cluster.live(200);
  for (const to of ["db:2", "db:1", "db:3", "db:4", "db:5"]) {
    await cluster.patch(statefulSets, "db", image(to));
    await cluster.live(300);
  }
  const revisions = (await cluster.all(controllerRevisions)).map(({ revision }) => String(revision)).toSorted();
  expect(revisions).toEqual(["5", "6"]);
});

test("claims are created before their Pods, bound, kept when scaling down, and reused when scaling up", async () => {
  await begin({ replicas: 2, volumeClaimTemplates: [claim] });
  await cluster.live(400);
  expect(await claims()).toEqual(["data-db-0 -", "data-db-1 -"]);
  expect((await cluster.read(podResource, "db-1")).spec.volumes?.[0]).toMatchObject({
    name: "data",
    persistentVolumeClaim: { claimName: "data-db-1" },
  });
  expect((await cluster.read(persistentVolumeClaims, "data-db-0")).status).toMatchObject({ phase: "Bound", capacity: { storage: "1Gi" } });
  await cluster.patch(statefulSets, "db", { spec: { replicas: 1 } });
  await cluster.live(200);
  expect([await pods(), await claims()]).toEqual([["db-0 db:1"], ["data-db-0 -", "data-db-1 -"]]);
});

test("with retention policies claims are deleted with their Pods and their set", async () => {
  await begin({
    replicas: 2,
    volumeClaimTemplates: [claim],
    persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" },
  });
  await cluster.live(400);
  expect(await claims()).toEqual(["data-db-0 StatefulSet", "data-db-1 StatefulSet"]);
  await cluster.patch(statefulSets, "db", { spec: { replicas: 1 } });
  await cluster.live(400);
  expect(await claims()).toEqual(["data-db-0 StatefulSet"]);
  await cluster.patch(statefulSets, "db", {
    spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Retain" } },
  });
  await cluster.live(200);
  expect(await claims()).toEqual(["data-db-0 -"]);
  await cluster.patch(statefulSets, "db", {
    spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: "Retain", whenDeleted: "Delete" } },
  });
  await cluster.live(200);
  expectOk(await cluster.client.delete(statefulSets, { namespace: "default", name: "db" }));
  await cluster.live(1_000);
  expect([await pods(), await claims(), (await cluster.all(persistentVolumes)).length]).toEqual([[], [], 0]);
});

test("a claim with another controller is not changed, and an event reports it", async () => {
  await begin({
    replicas: 1,
    volumeClaimTemplates: [claim],
    persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" },
  });
  await cluster.live(300);
  const other = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "11111111-1111-1111-1111-111111111111", controller: true };
  const key = { namespace: "default", name: "data-db-0" };
  const maps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true } as const;
  const made = await cluster.create(maps, "other", {});
  const reference = { ...other, uid: made.metadata.uid ?? "" };
  expectOk(
    await cluster.client.patch(persistentVolumeClaims, key, { type: "merge", patch: { metadata: { ownerReferences: [reference] } } }),
  );
  await cluster.patch(statefulSets, "db", { metadata: { annotations: { touch: "1" } } });
  await cluster.live(100);
  expect(await claims()).toEqual(["data-db-0 ConfigMap"]);
});

test("a failed or finished Pod is replaced under its name", async () => {
  await begin({ replicas: 1 });
  await cluster.live(200);
  const before = (await cluster.read(podResource, "db-0")).metadata.uid;
  const key = { namespace: "default", name: "db-0" };
  expectOk(
    await cluster.client.patch(podResource, key, { type: "merge", patch: { status: { phase: "Failed" } } }, { subresource: "status" }),
  );
  await cluster.live(300);
  const after = await cluster.read(podResource, "db-0");
  expect([after.metadata.uid === before, after.status?.phase]).toEqual([false, "Running"]);
});

test("a label that was removed from a Pod is restored", async () => {
  await begin({ replicas: 1 });
  await cluster.live(200);
  await cluster.patch(podResource, "db-0", { metadata: { labels: { "statefulset.kubernetes.io/pod-name": null } } });
  await cluster.live(100);
  expect((await cluster.read(podResource, "db-0")).metadata.labels).toMatchObject({ "statefulset.kubernetes.io/pod-name": "db-0" });
  expect(await cluster.eventsOn("StatefulSet")).toContain("Normal SuccessfulUpdate: Update Pod db-0 in StatefulSet db successful");
});

test("scaling down in order waits for an unhealthy Pod, unless that one is to be deleted", async () => {
  await begin({ replicas: 3 }, { simulation: { faults: [] } });
  await cluster.live(400);
  const fault = cluster.simulation.faults.add({
    kind: "exit",
    code: 1,
    afterMs: 0,
    on: { selector: "apps.kubernetes.io/pod-index in (1,2)" },
  });
  await cluster.live(200);
  await cluster.patch(statefulSets, "db", { spec: { replicas: 1 } });
  await cluster.live(200);
  expect((await pods()).length).toBeGreaterThan(1);
  fault.lift();
  await cluster.live(400_000, 20_000);
  await cluster.live(400);
  expect(await pods()).toEqual(["db-0 db:1"]);
});

test("minReadySeconds delays the next Pod", async () => {
  await begin({ replicas: 2, minReadySeconds: 10 });
  await cluster.live(1_000);
  expect([(await pods()).length, (await status())?.availableReplicas]).toEqual([1, 0]);
  await cluster.live(12_000, 1_000);
  expect((await pods()).length).toBe(2);
});

test("a Pod that cannot be created is reported on the set", async () => {
  let broken: string | undefined = "Pod";
  await begin(
    { replicas: 1, volumeClaimTemplates: [claim] },
    {
      between: (client) => ({
        ...client,
        create: (resource, object, call) =>
          resource.kind === broken
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: "no" } })
            : client.create(resource, object, call),
      }),
    },
  );
  await cluster.live(40);
  expect(await cluster.eventsOn("StatefulSet")).toContain("Warning FailedCreate: Create Pod db-0 in StatefulSet db failed error: no");
  broken = "PersistentVolumeClaim";
  expectOk(await cluster.client.delete(persistentVolumeClaims, { namespace: "default", name: "data-db-0" }));
  await cluster.live(2_000, 200);
  expect(await cluster.eventsOn("StatefulSet")).toContain(
    "Warning FailedCreate: Create Claim data-db-0 for Pod db-0 in StatefulSet db failed error: no",
  );
  broken = undefined;
  await cluster.live(60_000, 2_000);
  expect((await status())?.readyReplicas).toBe(1);
});

test("a set that is being deleted is not processed", async () => {
  await begin({ replicas: 1 });
  await cluster.live(200);
  await cluster.patch(statefulSets, "db", { metadata: { finalizers: ["test/hold"] } });
  expectOk(await cluster.client.delete(statefulSets, { namespace: "default", name: "db" }));
  await cluster.patch(statefulSets, "db", { spec: { replicas: 3 } });
  await cluster.live(200);
  expect(await pods()).toEqual(["db-0 db:1"]);
});
