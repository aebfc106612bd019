/**
 * Machines: adopts the bootstrap config and the infrastructure machine, copies what they provide, and links the Node that has the same
 * provider id in the child.
 */
import { ok, type Result } from "#base";
import { capiMachines, isBeingDeleted, type JsonObject, type OwnerReference } from "#kube";
import type { KubeError } from "#kube-client";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import { resourceOf } from "../caches.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { CLUSTER_LABEL, MACHINE_FINALIZER } from "../names.ts";
import {
  controllerRef,
  conditionOf,
  flagAt,
  listAt,
  numberAt,
  objectAt,
  ownerReference,
  providerIdOf,
  refAt,
  textAt,
  type CapiObject,
  type CapiRef,
} from "../objects.ts";
import { ensureMetadata, patchObject, writeStatus } from "../writes.ts";
import { controllerOf } from "../../workloads/pods/owners.ts";
import { markNode, nodeOf } from "./machine-node.ts";
import { deleteMachine } from "./machine-deletion.ts";
import { machineStatus } from "./machine-status.ts";
import type { MachineParts } from "./machine-parts.ts";

/** The Available condition follows Ready after `minReadySeconds`; connections are judged again at this interval. */
const RECHECK_MS = 30_000;

export async function machinePass(work: CapiWork, machine: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  if (cluster === undefined) return done;
  return isBeingDeleted(machine) ? deleteMachine(work, machine, cluster) : reconcile(work, machine, cluster);
}

async function reconcile(work: CapiWork, machine: CapiObject, cluster: CapiObject): Promise<Pass> {
  const marked = await ensureMetadata(work.client, capiMachines, machine, {
    finalizer: MACHINE_FINALIZER,
    labels: { [CLUSTER_LABEL]: cluster.metadata.name },
    owner: controllerOf(machine) === undefined ? ownerReference(cluster) : undefined,
  });
  if (!marked.ok) return passOf(marked);
  const config = await adopt(work, marked.value, refAt(machine, "spec", "bootstrap", "configRef"));
  const infrastructure = await adopt(work, marked.value, refAt(machine, "spec", "infrastructureRef"));
  if (!config.ok) return passOf(config);
  if (!infrastructure.ok) return passOf(infrastructure);
  const filled = await copyFields(work, marked.value, config.value, infrastructure.value);
  if (!filled.ok) return passOf(filled);
  const current = filled.value;
  const node = nodeOf(work, current, cluster);
  const parts: MachineParts = { cluster, config: config.value, infrastructure: infrastructure.value, ...node };
  const noted = await markNode(work, current, parts);
  const status = machineStatus(work, current, parts, fieldsOf(work, current, parts));
  const written = await writeStatus(work.client, capiMachines, current, status);
  return worstPass([passOf(noted), passOf(written), written.ok ? recheck(written.value) : done]);
}

/** A machine takes over the objects that its creator owned until now. */
async function adopt(work: CapiWork, machine: CapiObject, ref: CapiRef | undefined): Promise<Result<CapiObject | undefined, KubeError>> {
  const kind = ref === undefined ? undefined : work.caches.kindOf(ref);
  const object = work.caches.resolve(machine.metadata.namespace, ref);
  if (kind === undefined || object === undefined || isBeingDeleted(object)) return ok(object);
  return ensureMetadata(work.client, resourceOf(kind), object, {
    labels: { [CLUSTER_LABEL]: textAt(machine, "spec", "clusterName") ?? "" },
    owner: controllerRef(machine),
    formerOwners: ({ kind: owner }: OwnerReference) => owner === "MachineSet" || owner === "KubeadmControlPlane",
  });
}

type Filled = Promise<Result<CapiObject, KubeError>>;

async function copyFields(
  work: CapiWork,
  machine: CapiObject,
  config: CapiObject | undefined,
  infrastructure: CapiObject | undefined,
): Filled {
  const spec: Record<string, JsonObject | string> = {};
  const secret = flagAt(config, "status", "initialization", "dataSecretCreated") ? textAt(config, "status", "dataSecretName") : undefined;
  if (secret !== undefined && textAt(machine, "spec", "bootstrap", "dataSecretName") === undefined)
    spec["bootstrap"] = { dataSecretName: secret };
  const provided = flagAt(infrastructure, "status", "initialization", "provisioned")
    ? textAt(infrastructure, "spec", "providerID")
    : undefined;
  const hasData = secret !== undefined || textAt(machine, "spec", "bootstrap", "dataSecretName") !== undefined;
  if (provided !== undefined && hasData && providerIdOf(machine) !== provided) spec["providerID"] = provided;
  return Object.keys(spec).length === 0 ? ok(machine) : patchObject(work.client, capiMachines, machine, { spec });
}

function fieldsOf(work: CapiWork, machine: CapiObject, { infrastructure, node }: MachineParts): JsonObject {
  const known = objectAt(machine, "status", "initialization");
  const hasData = textAt(machine, "spec", "bootstrap", "dataSecretName") !== undefined;
  const addresses = listAt(infrastructure, "status", "addresses");
  const initialization = {
    ...known,
    ...(hasData ? { bootstrapDataSecretCreated: true } : {}),
    ...(hasData && providerIdOf(machine) !== undefined ? { infrastructureProvisioned: true } : {}),
  };
  return {
    ...(Object.keys(initialization).length === 0 ? {} : { initialization }),
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(node === undefined ? {} : { nodeRef: { name: node.metadata.name }, nodeInfo: objectAt(node, "status", "nodeInfo") }),
    observedGeneration: machine.metadata.generation ?? 0,
    ...(textAt(machine, "status", "lastUpdated") === undefined ? { lastUpdated: nowOf(work) } : {}),
  };
}

function recheck(machine: CapiObject): Pass {
  const waiting = conditionOf(machine, "Available")?.reason === "WaitingForMinReadySeconds";
  if (waiting) return again((numberAt(machine, "spec", "minReadySeconds") ?? 0) * 1_000);
  return again(RECHECK_MS);
}
