/** MachineDeployments: one MachineSet per template, and the rollout from one to the next. */
import { ok, type Result } from "#base";
import { canonicalJson, capiMachineDeployments, capiMachineSets, fieldAt, isBeingDeleted, keyOf, type JsonObject } from "#kube";
import type { KubeError } from "#kube-client";
import { done, passOf, worstPass, type Pass } from "../../work.ts";
import { isControlledBy } from "../../workloads/pods/owners.ts";
import { fnv1a } from "../../workloads/revisions/hashes.ts";
import { adoptTemplates } from "../adopt-templates.ts";
import { recordEvent, type CapiWork } from "../capi-work.ts";
import {
  CLUSTER_LABEL,
  DEPLOYMENT_LABEL,
  DESIRED_ANNOTATION,
  MACHINE_DEPLOYMENT_FINALIZER,
  MACHINE_SET_FINALIZER,
  MAX_ANNOTATION,
  nameSuffix,
  REVISION_ANNOTATION,
  TEMPLATE_HASH_LABEL,
} from "../names.ts";
import {
  byAge,
  controllerRef,
  flagAt,
  isLive,
  numberAt,
  objectAt,
  ownerReference,
  replicasOf,
  textAt,
  textMap,
  type CapiObject,
} from "../objects.ts";
import { staleTemplate } from "../up-to-date.ts";
import { deleteObject, ensureMetadata, finishDeletion, patchObject, writeStatus } from "../writes.ts";
import { machineDeploymentStatus } from "./machine-deployment-status.ts";
import { planRollout, resolveAmount, type SetView } from "./rollout-plan.ts";

export async function machineDeploymentPass(work: CapiWork, deployment: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  if (cluster === undefined) return done;
  if (isBeingDeleted(deployment)) return remove(work, deployment);
  const labels = { [CLUSTER_LABEL]: cluster.metadata.name, [DEPLOYMENT_LABEL]: deployment.metadata.name };
  const marked = await ensureMetadata(work.client, capiMachineDeployments, deployment, {
    finalizer: MACHINE_DEPLOYMENT_FINALIZER,
    labels: { [CLUSTER_LABEL]: cluster.metadata.name },
    owner: ownerReference(cluster),
    spec: defaultedSpec(deployment, labels),
  });
  if (!marked.ok) return passOf(marked);
  const adopted = await adoptTemplates(work, cluster, objectAt(marked.value, "spec", "template", "spec"));
  const sets = await listSets(work, marked.value);
  if (!sets.ok) return passOf(sets);
  const rolled = await roll(work, marked.value, sets.value);
  if (!rolled.ok) return passOf(rolled);
  const revised = await ensureMetadata(work.client, capiMachineDeployments, marked.value, {
    annotations: { [REVISION_ANNOTATION]: rolled.value.revision },
  });
  if (!revised.ok) return passOf(revised);
  const written = await writeStatus(
    work.client,
    capiMachineDeployments,
    revised.value,
    machineDeploymentStatus(work, revised.value, rolled.value.sets),
  );
  return worstPass([adopted, passOf(written)]);
}

/** The webhook of the real MachineDeployment fills these in. */
function defaultedSpec(deployment: CapiObject, labels: Readonly<Record<string, string>>): JsonObject {
  const selector = objectAt(deployment, "spec", "selector", "matchLabels");
  const template = objectAt(deployment, "spec", "template", "metadata", "labels");
  const isSelected = Object.keys(selector).length > 0;
  const isLabelled = Object.entries(labels).every(([key, value]) => template[key] === value);
  return {
    ...(isSelected ? {} : { selector: { matchLabels: labels } }),
    ...(isLabelled ? {} : { template: { metadata: { labels } } }),
  };
}

/** From the server: the cache may lack the set that the last pass created. */
async function listSets(work: CapiWork, deployment: CapiObject): Promise<Result<readonly CapiObject[], KubeError>> {
  const { namespace } = deployment.metadata;
  const listed = await work.client.list<CapiObject>(capiMachineSets, {
    namespace,
    labelSelector: `${DEPLOYMENT_LABEL}=${deployment.metadata.name}`,
  });
  return listed.ok ? ok(listed.value.items.filter((set) => isControlledBy(set, deployment)).toSorted(byAge)) : listed;
}

type Rolled = { readonly sets: readonly CapiObject[]; readonly revision: string };

async function roll(work: CapiWork, deployment: CapiObject, sets: readonly CapiObject[]): Promise<Result<Rolled, KubeError>> {
  const live = sets.filter(isLive);
  const found = live.find((set) => staleTemplate(set, deployment).length === 0);
  const known = Math.max(0, ...sets.map(revisionOf));
  if (found === undefined && flagAt(deployment, "spec", "paused")) return ok({ sets, revision: String(known) });
  const limits = limitsOf(deployment);
  if (found === undefined) {
    const created = await createSet(work, deployment, { sets: live, revision: known + 1, limits });
    return created.ok ? ok({ sets: [...sets, created.value], revision: String(known + 1) }) : created;
  }
  const old = live.filter((set) => set !== found);
  const plan = planRollout({
    replicas: replicasOf(deployment),
    ...limits,
    current: viewOf(found),
    old: old.map(viewOf),
    onDelete: textAt(deployment, "spec", "rollout", "strategy", "type") === "OnDelete",
  });
  for (const set of live) {
    const replicas = plan.get(set.metadata.name);
    const written = await scaleSet(work, { deployment, set, replicas, limits });
    if (!written.ok) return written;
  }
  const removed = await removeEmpty(
    work,
    old.filter((set) => !plan.has(set.metadata.name)),
  );
  return removed.ok ? ok({ sets, revision: String(revisionOf(found)) }) : removed;
}

type Limits = { readonly maxSurge: number; readonly maxUnavailable: number };

function limitsOf(deployment: CapiObject): Limits {
  const replicas = replicasOf(deployment);
  const amount = (name: string, round: "up" | "down") =>
    resolveAmount(fieldAt(deployment, "spec", "rollout", "strategy", "rollingUpdate", name), replicas, round);
  const maxSurge = amount("maxSurge", "up") ?? 1;
  const maxUnavailable = Math.min(replicas, amount("maxUnavailable", "down") ?? 0);
  // with both at 0 nothing could move
  return maxSurge === 0 && maxUnavailable === 0 ? { maxSurge: 0, maxUnavailable: 1 } : { maxSurge, maxUnavailable };
}

const viewOf = (set: CapiObject): SetView => ({
  name: set.metadata.name,
  replicas: replicasOf(set),
  machines: numberAt(set, "status", "replicas") ?? 0,
  available: numberAt(set, "status", "availableReplicas") ?? 0,
});

const revisionOf = (set: CapiObject): number => Number(set.metadata.annotations?.[REVISION_ANNOTATION] ?? 0) || 0;

type ScaleInput = {
  readonly deployment: CapiObject;
  readonly set: CapiObject;
  readonly replicas: number | undefined;
  readonly limits: Limits;
};

async function scaleSet(work: CapiWork, { deployment, set, replicas, limits }: ScaleInput): Promise<Result<unknown, KubeError>> {
  const annotations = replicaAnnotations(deployment, limits);
  const stale = Object.entries(annotations).some(([key, value]) => set.metadata.annotations?.[key] !== value);
  if (replicas === undefined && !stale) return ok(undefined);
  if (replicas !== undefined) {
    const [verb, from] = [replicas > replicasOf(set) ? "up" : "down", replicasOf(set)];
    recordEvent(work, deployment, "SuccessfulScale", `Scaled ${verb} MachineSet ${set.metadata.name}: ${from} -> ${replicas}`);
  }
  return patchObject(work.client, capiMachineSets, set, {
    metadata: { annotations },
    ...(replicas === undefined ? {} : { spec: { replicas } }),
  });
}

function replicaAnnotations(deployment: CapiObject, { maxSurge }: Limits): Record<string, string> {
  const replicas = replicasOf(deployment);
  return { [DESIRED_ANNOTATION]: String(replicas), [MAX_ANNOTATION]: String(replicas + maxSurge) };
}

type NewSet = { readonly sets: readonly CapiObject[]; readonly revision: number; readonly limits: Limits };

async function createSet(
  work: CapiWork,
  deployment: CapiObject,
  { sets, revision, limits }: NewSet,
): Promise<Result<CapiObject, KubeError>> {
  const suffix = nameSuffix(work.random);
  const template = objectAt(deployment, "spec", "template");
  const hash = `${fnv1a(new TextEncoder().encode(canonicalJson(objectAt(template, "spec"))))}-${suffix}`;
  const replicas = replicasOf(deployment);
  const taken = sets.reduce((total, set) => total + replicasOf(set), 0);
  const labels = { ...objectAt(template, "metadata", "labels"), [TEMPLATE_HASH_LABEL]: hash };
  const { namespace } = keyOf(deployment);
  const created = await work.client.create<CapiObject>(capiMachineSets, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineSet",
    metadata: {
      name: `${deployment.metadata.name}-${suffix}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: textMap(labels),
      annotations: {
        ...replicaAnnotations(deployment, limits),
        [REVISION_ANNOTATION]: String(revision),
        "cluster.x-k8s.io/disable-machine-create": "false",
      },
      finalizers: [MACHINE_SET_FINALIZER],
      ownerReferences: [controllerRef(deployment)],
    },
    spec: {
      clusterName: textAt(deployment, "spec", "clusterName") ?? "",
      replicas: Math.min(replicas, Math.max(0, replicas + limits.maxSurge - taken)),
      selector: { matchLabels: { ...objectAt(deployment, "spec", "selector", "matchLabels"), [TEMPLATE_HASH_LABEL]: hash } },
      ...(Object.keys(objectAt(deployment, "spec", "deletion")).length === 0 ? {} : { deletion: objectAt(deployment, "spec", "deletion") }),
      template: { metadata: { ...objectAt(template, "metadata"), labels }, spec: objectAt(template, "spec") },
    },
  });
  if (created.ok) recordEvent(work, deployment, "SuccessfulCreate", `Created MachineSet ${created.value.metadata.name}`);
  return created;
}

/** Old sets are not kept: Cluster API has no rollback. */
async function removeEmpty(work: CapiWork, old: readonly CapiObject[]): Promise<Result<void, KubeError>> {
  const isEmpty = (set: CapiObject) =>
    replicasOf(set) === 0 &&
    numberAt(set, "status", "replicas") === 0 &&
    numberAt(set, "status", "observedGeneration") === set.metadata.generation;
  for (const set of old.filter(isEmpty)) {
    const deleted = await deleteObject(work.client, capiMachineSets, set);
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}

async function remove(work: CapiWork, deployment: CapiObject): Promise<Pass> {
  const sets = await listSets(work, deployment);
  if (!sets.ok) return passOf(sets);
  const status = machineDeploymentStatus(work, deployment, sets.value);
  if (sets.value.length === 0) {
    const finished = { finalizer: MACHINE_DEPLOYMENT_FINALIZER, status };
    return passOf(await finishDeletion(work.client, capiMachineDeployments, deployment, finished));
  }
  for (const set of sets.value) {
    const deleted = await deleteObject(work.client, capiMachineSets, set);
    if (!deleted.ok) return passOf(deleted);
  }
  return passOf(await writeStatus(work.client, capiMachineDeployments, deployment, status));
}
