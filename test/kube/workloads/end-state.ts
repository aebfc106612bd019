/**
 * The final state of a namespace, without values that differ: times, uids, random names, addresses. Hashes become revisions, so that
 * two clusters that hash differently compare equal, and two that roll out differently do not.
 */
import { expectOk } from "#base";
import { defineResource, events, isJsonObject, type Json, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";

const kind = (group: string, name: string, plural: string) =>
  defineResource<KubeObject>({ group, version: "v1", kind: name, plural, namespaced: true });

export const KINDS = {
  deployments: kind("apps", "Deployment", "deployments"),
  replicaSets: kind("apps", "ReplicaSet", "replicasets"),
  statefulSets: kind("apps", "StatefulSet", "statefulsets"),
  daemonSets: kind("apps", "DaemonSet", "daemonsets"),
  revisions: kind("apps", "ControllerRevision", "controllerrevisions"),
  jobs: kind("batch", "Job", "jobs"),
  cronJobs: kind("batch", "CronJob", "cronjobs"),
  controllers: kind("", "ReplicationController", "replicationcontrollers"),
  pods: kind("", "Pod", "pods"),
  claims: kind("", "PersistentVolumeClaim", "persistentvolumeclaims"),
} as const satisfies Record<string, Resource>;

const DROPPED = new Set([
  "managedFields", "resourceVersion", "uid", "creationTimestamp", "selfLink", "generation", "observedGeneration", "containerID", "imageID", "podIP", "podIPs", "nodeName",
  "hostIP", "hostIPs", "clusterIP", "serviceAccountName", "serviceAccount", "volumes", "volumeMounts", "tolerations", "lastProbeTime", "preemptionPolicy", "priority",
]); // prettier-ignore

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

export async function endState(client: KubeClient, namespace: string): Promise<Json> {
  const objects: Record<string, Json[]> = {};
  const raw: KubeObject[] = [];
  for (const resource of Object.values(KINDS)) raw.push(...expectOk(await client.list<KubeObject>(resource, { namespace })).items);
  const names = renaming(raw);
  for (const object of raw) (objects[object.kind] ??= []).push(normalise(object as unknown as Json, names));
  const sorted = Object.entries(objects).map(([name, list]) => [name, list.toSorted((a, b) => (text(a) < text(b) ? -1 : 1))] as const);
  return { ...Object.fromEntries(sorted), events: await eventsOf(client, namespace, names) };
}

function text(value: Json): string {
  return JSON.stringify(value);
}

/** Longest first: "web-6d4b-x2v9z" is replaced before "web-6d4b" and that before "6d4b". */
function renaming(objects: readonly KubeObject[]): readonly (readonly [string, string])[] {
  const pairs = objects.flatMap((object): (readonly [string, string])[] => {
    const { name, labels = {}, annotations = {}, generateName } = object.metadata;
    const revision = annotations["deployment.kubernetes.io/revision"] ?? String((object as { revision?: number }).revision ?? "");
    const hash = labels["pod-template-hash"] ?? labels["controller.kubernetes.io/hash"] ?? labels["controller-revision-hash"];
    if (object.kind === "ReplicaSet" || object.kind === "ControllerRevision") {
      const own = hash === undefined || hash === "" ? [] : [[hash, `HASH${revision}`] as const];
      return [[name, `${object.metadata.ownerReferences?.[0]?.name ?? name}-HASH${revision}`], ...own];
    }
    const isNamed = object.kind === "Pod" && generateName !== undefined && /-[a-z0-9]{5}$/.test(name);
    return isNamed ? [[name, `${generateName}RANDOM`]] : [];
  });
  return pairs.toSorted(([a], [b]) => b.length - a.length);
}

function rename(value: string, names: readonly (readonly [string, string])[]): string {
  if (TIME.test(value)) return "TIME";
  const renamed = names.reduce((now, [from, to]) => now.replaceAll(from, to), value);
  return renamed.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID");
}

function normalise(value: Json, names: readonly (readonly [string, string])[]): Json {
  if (typeof value === "string") return rename(value, names);
  if (Array.isArray(value)) return value.map((item: Json) => normalise(item, names));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name, item]) => !DROPPED.has(name) && item !== undefined && item !== null);
  return Object.fromEntries(
    kept
      .map(([name, item]) => [rename(name, names), name === "image" ? (item ?? null) : normalise(item ?? null, names)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The distinct events without their counts, which depend on aggregation. Events about Pods are left out: simulated nodes write them in both worlds. */
async function eventsOf(client: KubeClient, namespace: string, names: readonly (readonly [string, string])[]): Promise<Json> {
  const found = expectOk(await client.list(events, { namespace })).items;
  const lines = found
    .filter(({ regarding }) => regarding["kind"] !== "Pod")
    .map(
      ({ regarding, type, reason, note }) =>
        `${regarding["kind"]} ${type} ${reason}: ${rename(note ?? "", names).replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "-RANDOM")}`,
    );
  return [...new Set(lines)].toSorted();
}
