/** The actions in both worlds. Each story ends when its last `until` holds. */
import { setTimeout as delay } from "node:timers/promises";
import { expectOk } from "#base";
import { fieldAt, type Json, type KubeObject, type Resource } from "#kube";
import { eventually } from "../harness/eventually.ts";
import { KINDS } from "./end-state.ts";
import type { World } from "./worlds.ts";

export type Actor = {
  readonly world: World;
  readonly namespace: string;
  readonly create: (resource: Resource, name: string, body: Readonly<Record<string, Json>>) => Promise<void>;
  readonly patch: (resource: Resource, name: string, patch: Json) => Promise<void>;
  readonly until: (what: string, resource: Resource, name: string, holds: (object: KubeObject) => boolean) => Promise<void>;
  readonly count: (what: string, resource: Resource, count: number) => Promise<void>;
};

export function actorIn(world: World, namespace: string): Actor {
  const { client } = world;
  return {
    world,
    namespace,
    async create(resource, name, body) {
      const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
      const metadata = { ...(body["metadata"] as object | undefined), name, namespace };
      expectOk(await client.create(resource, { apiVersion, kind: resource.kind, ...body, metadata }));
    },
    async patch(resource, name, patch) {
      expectOk(await client.patch(resource, { namespace, name }, { type: "strategic", patch }));
    },
    async until(what, resource, name, holds) {
      const look = async () => {
        const read = await client.get(resource, { namespace, name });
        return (read.ok && holds(read.value)) || undefined;
      };
      await eventually(`${what} (${world.name})`, look, { withinMs: 60_000 });
    },
    async count(what, resource, count) {
      const look = async () => expectOk(await client.list(resource, { namespace })).items.length === count || undefined;
      await eventually(`${what} (${world.name})`, look, { withinMs: 60_000 });
    },
  };
}

export type Story = {
  readonly name: string;
  /** Why its events cannot be compared. */
  readonly ignoreEvents?: string;
  readonly act: (actor: Actor) => Promise<void>;
};

const { deployments, statefulSets, daemonSets, jobs, cronJobs, pods, controllers, replicaSets } = KINDS;
const at = (object: KubeObject, ...path: string[]) => fieldAt(object, ...path);
const labels = { app: "web" };
const template = (image: string, more: Readonly<Record<string, Json>> = {}, annotations?: Readonly<Record<string, string>>): Json => ({
  metadata: { labels, ...(annotations === undefined ? {} : { annotations }) },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "web", image }], ...more },
});
const workload = (replicas: number, image: string, more: Readonly<Record<string, Json>> = {}) => ({
  spec: { replicas, selector: { matchLabels: labels }, template: template(image), ...more },
});
const image = (to: string): Json => ({ spec: { template: { spec: { containers: [{ name: "web", image: to }] } } } });
const reasonOf = (object: KubeObject, type: string) => {
  const conditions = at(object, "status", "conditions");
  const list = Array.isArray(conditions) ? (conditions as readonly Json[]) : [];
  return list.flatMap((condition) => (fieldAt(condition, "type") === type ? [fieldAt(condition, "reason")] : []))[0];
};
const isRolledOut = (replicas: number) => (object: KubeObject) =>
  at(object, "status", "observedGeneration") === object.metadata.generation &&
  (at(object, "status", "updatedReplicas") ?? 0) === replicas &&
  (at(object, "status", "replicas") ?? 0) === replicas &&
  (at(object, "status", "availableReplicas") ?? 0) === replicas &&
  (at(object, "status", "terminatingReplicas") ?? 0) === 0 &&
  reasonOf(object, "Progressing") === "NewReplicaSetAvailable";
const isSetRolledOut = (replicas: number) => (object: KubeObject) =>
  at(object, "status", "observedGeneration") === object.metadata.generation &&
  at(object, "status", "readyReplicas") === replicas &&
  at(object, "status", "updatedReplicas") === replicas &&
  at(object, "status", "currentRevision") === at(object, "status", "updateRevision");

export const STORIES: readonly Story[] = [
  {
    name: "a Deployment is created",
    act: async ({ create, until }) => {
      await create(deployments, "web", workload(3, "web:1"));
      await until("rolled out", deployments, "web", isRolledOut(3));
    },
  },
  {
    name: "a Deployment gets another image",
    act: async ({ create, until, patch, count }) => {
      await create(deployments, "web", workload(3, "web:1"));
      await until("rolled out", deployments, "web", isRolledOut(3));
      await patch(deployments, "web", image("web:2"));
      await until("updated", deployments, "web", isRolledOut(3));
      await count("old Pods are gone", pods, 3);
    },
  },
  {
    name: "a Deployment is rolled back, and its revision is the newest again",
    act: async ({ create, until, patch, count }) => {
      await create(deployments, "web", workload(1, "web:1", { revisionHistoryLimit: 2 }));
      await until("rolled out", deployments, "web", isRolledOut(1));
      await patch(deployments, "web", image("web:2"));
      await until("updated", deployments, "web", isRolledOut(1));
      await patch(deployments, "web", image("web:1"));
      await until("back", deployments, "web", isRolledOut(1));
      await count("old Pods are gone", pods, 1);
    },
  },
  {
    name: "a Deployment with an image that cannot be pulled exceeds its deadline",
    act: async ({ create, until, patch }) => {
      await create(deployments, "web", workload(3, "web:1", { progressDeadlineSeconds: 2 }));
      await until("rolled out", deployments, "web", isRolledOut(3));
      await patch(deployments, "web", { spec: { template: template("web:2", {}, { "simulation.lattice.dev/image-pull": "fail" }) } });
      await until("deadline", deployments, "web", (object) => reasonOf(object, "Progressing") === "ProgressDeadlineExceeded");
    },
  },
  {
    name: "a Deployment is scaled up and down",
    act: async ({ create, until, patch, count }) => {
      await create(deployments, "web", workload(2, "web:1"));
      await until("rolled out", deployments, "web", isRolledOut(2));
      await patch(deployments, "web", { spec: { replicas: 5 } });
      await until("larger", deployments, "web", isRolledOut(5));
      await patch(deployments, "web", { spec: { replicas: 1 } });
      await until("smaller", deployments, "web", isRolledOut(1));
      await count("the others are gone", pods, 1);
    },
  },
  {
    name: "a paused Deployment gets no new image until it is resumed",
    act: async ({ create, until, patch, count }) => {
      await create(deployments, "web", workload(2, "web:1"));
      await until("rolled out", deployments, "web", isRolledOut(2));
      await patch(deployments, "web", { spec: { paused: true } });
      await until("paused", deployments, "web", (object) => reasonOf(object, "Progressing") === "DeploymentPaused");
      await patch(deployments, "web", image("web:2"));
      await delay(500);
      await count("no new ReplicaSet", replicaSets, 1);
      await patch(deployments, "web", { spec: { paused: false } });
      await until("resumed", deployments, "web", isRolledOut(2));
      await count("old Pods are gone", pods, 2);
    },
  },
  {
    name: "a Deployment with strategy Recreate never runs two versions at once",
    act: async ({ create, until, patch, count }) => {
      await create(deployments, "web", workload(2, "web:1", { strategy: { type: "Recreate" } }));
      await until("rolled out", deployments, "web", isRolledOut(2));
      await patch(deployments, "web", image("web:2"));
      await until("recreated", deployments, "web", isRolledOut(2));
      await count("old Pods are gone", pods, 2);
    },
  },
  {
    name: "a ReplicationController is created and scaled",
    act: async ({ create, until, patch, count }) => {
      await create(controllers, "old", { spec: { replicas: 2, selector: labels, template: template("web:1") } });
      await until("ready", controllers, "old", (object) => at(object, "status", "availableReplicas") === 2);
      await patch(controllers, "old", { spec: { replicas: 1 } });
      await count("one is gone", pods, 1);
      await until("observed", controllers, "old", (object) => at(object, "status", "replicas") === 1);
    },
  },
  {
    name: "a StatefulSet is created and updated in order",
    act: async ({ create, until, patch }) => {
      await create(statefulSets, "db", {
        spec: { serviceName: "db", replicas: 3, selector: { matchLabels: labels }, template: template("db:1") },
      });
      await until("created", statefulSets, "db", isSetRolledOut(3));
      await patch(statefulSets, "db", image("db:2"));
      await until("updated", statefulSets, "db", isSetRolledOut(3));
    },
  },
  {
    name: "a StatefulSet with a partition updates only above it, and is scaled down",
    act: async ({ create, until, patch, count }) => {
      const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
      const spec = {
        serviceName: "db",
        replicas: 3,
        podManagementPolicy: "Parallel",
        updateStrategy,
        selector: { matchLabels: labels },
        template: template("db:1"),
      };
      await create(statefulSets, "db", { spec });
      await until("created", statefulSets, "db", isSetRolledOut(3));
      await patch(statefulSets, "db", image("db:2"));
      await until(
        "updated",
        statefulSets,
        "db",
        (object) => at(object, "status", "updatedReplicas") === 2 && at(object, "status", "readyReplicas") === 3,
      );
      await patch(statefulSets, "db", { spec: { replicas: 2 } });
      await count("one is gone", pods, 2);
      await until("observed", statefulSets, "db", (object) => at(object, "status", "replicas") === 2);
    },
  },
  {
    name: "a StatefulSet with claims that are deleted with their Pods",
    ignoreEvents: "binding and ownership of a claim are written at the same time; the second writer reports a conflict",
    act: async ({ create, until, patch, count }) => {
      const claim = {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], storageClassName: "standard", resources: { requests: { storage: "1Gi" } } },
      };
      const persistentVolumeClaimRetentionPolicy = { whenScaled: "Delete", whenDeleted: "Delete" };
      const spec = { serviceName: "db", replicas: 2, selector: { matchLabels: labels }, template: template("db:1") };
      await create(statefulSets, "db", { spec: { ...spec, volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy } });
      await until("created", statefulSets, "db", isSetRolledOut(2));
      await patch(statefulSets, "db", { spec: { replicas: 1 } });
      await count("a Pod is gone", pods, 1);
      await until("observed", statefulSets, "db", (object) => at(object, "status", "replicas") === 1);
    },
  },
  {
    name: "a ReplicaSet adopts a Pod that its selector matches, and releases one that it does not",
    act: async ({ create, until, patch, count }) => {
      await create(pods, "stray", {
        metadata: { name: "stray", labels },
        spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "web", image: "web:1" }] },
      });
      await create(replicaSets, "web", workload(2, "web:1"));
      await until("ready", replicaSets, "web", (object) => at(object, "status", "availableReplicas") === 2);
      await patch(pods, "stray", { metadata: { labels: { app: "other" } } });
      await count("another in its place", pods, 3);
      await until("ready again", replicaSets, "web", (object) => at(object, "status", "availableReplicas") === 2);
    },
  },
  {
    name: "a Deployment waits for minReadySeconds",
    act: async ({ create, until }) => {
      await create(deployments, "web", workload(2, "web:1", { minReadySeconds: 2 }));
      await until("rolled out", deployments, "web", isRolledOut(2));
    },
  },
  {
    name: "a Deployment whose Pods never become ready exceeds its deadline",
    act: async ({ create, until }) => {
      const containers = [{ name: "web", image: "web:1", readinessProbe: { httpGet: { port: 80 } } }];
      const failing = template("web:1", { containers }, { "simulation.lattice.dev/fail-probe": "readiness" });
      const spec = { replicas: 2, progressDeadlineSeconds: 2, selector: { matchLabels: labels }, template: failing };
      await create(deployments, "web", { spec });
      await until("deadline", deployments, "web", (object) => reasonOf(object, "Progressing") === "ProgressDeadlineExceeded");
    },
  },
  {
    name: "a Deployment whose containers crash loses its availability",
    act: async ({ create, until }) => {
      const crashing = template("web:1", {}, { "simulation.lattice.dev/exit-code": "1", "simulation.lattice.dev/exit-after": "1s" });
      await create(deployments, "web", { spec: { replicas: 2, selector: { matchLabels: labels }, template: crashing } });
      await until("available", deployments, "web", (object) => reasonOf(object, "Available") === "MinimumReplicasAvailable");
      await delay(2_500);
      await until("down", deployments, "web", (object) => reasonOf(object, "Available") === "MinimumReplicasUnavailable");
    },
  },
  {
    name: "a Job retries inside its Pod, and fails after its limit",
    act: async ({ create, until }) => {
      const failing = template("work:1", { restartPolicy: "OnFailure" }, { "simulation.lattice.dev/exit-code": "1" });
      await create(jobs, "work", { spec: { backoffLimit: 1, template: failing } });
      await until("failed", jobs, "work", (object) => reasonOf(object, "Failed") !== undefined);
    },
  },
  {
    name: "a Job succeeds",
    act: async ({ create, until }) => {
      await create(jobs, "work", { spec: { completions: 3, parallelism: 2, template: template("work:1", { restartPolicy: "Never" }) } });
      await until("complete", jobs, "work", (object) => reasonOf(object, "Complete") !== undefined);
    },
  },
  {
    name: "a Job fails",
    act: async ({ create, until }) => {
      const failing = template("work:1", { restartPolicy: "Never" }, { "simulation.lattice.dev/exit-code": "3" });
      await create(jobs, "work", { spec: { backoffLimit: 0, template: failing } });
      await until("failed", jobs, "work", (object) => reasonOf(object, "Failed") !== undefined);
    },
  },
  {
    name: "an indexed Job succeeds, and one with a failure policy fails at once",
    act: async ({ create, until }) => {
      await create(jobs, "indexed", {
        spec: { completionMode: "Indexed", completions: 3, parallelism: 3, template: template("work:1", { restartPolicy: "Never" }) },
      });
      const failing = template("work:1", { restartPolicy: "Never" }, { "simulation.lattice.dev/exit-code": "42" });
      const rules = [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }];
      await create(jobs, "strict", { spec: { podFailurePolicy: { rules }, template: failing } });
      await until("complete", jobs, "indexed", (object) => reasonOf(object, "Complete") !== undefined);
      await until("failed", jobs, "strict", (object) => reasonOf(object, "Failed") !== undefined);
    },
  },
  {
    name: "a Job is suspended and resumed",
    act: async ({ create, until, patch }) => {
      const slow = template(
        "work:1",
        { restartPolicy: "Never" },
        { "simulation.lattice.dev/exit-code": "0", "simulation.lattice.dev/exit-after": "3s" },
      );
      await create(jobs, "work", { spec: { template: slow } });
      await until("running", jobs, "work", (object) => at(object, "status", "ready") === 1);
      await patch(jobs, "work", { spec: { suspend: true } });
      await until(
        "suspended",
        jobs,
        "work",
        (object) => reasonOf(object, "Suspended") === "JobSuspended" && (at(object, "status", "terminating") ?? 0) === 0,
      );
      await patch(jobs, "work", { spec: { suspend: false } });
      await until("complete", jobs, "work", (object) => reasonOf(object, "Complete") !== undefined);
    },
  },
  {
    name: "a Job runs out of time",
    act: async ({ create, until }) => {
      const slow = template(
        "work:1",
        { restartPolicy: "Never" },
        { "simulation.lattice.dev/exit-code": "0", "simulation.lattice.dev/exit-after": "1h" },
      );
      await create(jobs, "work", { spec: { activeDeadlineSeconds: 2, template: slow } });
      await until("failed", jobs, "work", (object) => reasonOf(object, "Failed") !== undefined);
    },
  },
  {
    name: "a CronJob starts a Job on its tick",
    act: async ({ create, until, patch }) => {
      const jobTemplate = { spec: { template: template("work:1", { restartPolicy: "Never" }) } };
      await create(cronJobs, "tick", {
        spec: { schedule: "@every 2s", startingDeadlineSeconds: 60, concurrencyPolicy: "Forbid", jobTemplate },
      });
      await until("ran", cronJobs, "tick", (object) => at(object, "status", "lastSuccessfulTime") !== undefined);
      await patch(cronJobs, "tick", { spec: { suspend: true, successfulJobsHistoryLimit: 0 } });
      await until("quiet", cronJobs, "tick", (object) => at(object, "status", "active") === undefined);
    },
  },
  {
    name: "a DaemonSet runs on both nodes and is updated",
    act: async ({ create, until, patch, count }) => {
      await create(daemonSets, "agent", { spec: { selector: { matchLabels: labels }, template: template("agent:1") } });
      await until("runs", daemonSets, "agent", (object) => at(object, "status", "numberAvailable") === 2);
      await patch(daemonSets, "agent", image("agent:2"));
      const isUpdated = (object: KubeObject) =>
        at(object, "status", "observedGeneration") === object.metadata.generation &&
        at(object, "status", "updatedNumberScheduled") === 2 &&
        at(object, "status", "numberAvailable") === 2;
      await until("updated", daemonSets, "agent", isUpdated);
      await count("old Pods are gone", pods, 2);
    },
  },
];
