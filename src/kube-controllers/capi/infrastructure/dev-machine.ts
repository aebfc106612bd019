/**
 * DevMachines, in memory: VM, Node, etcd and API server are provisioned one after the other, each after its `startupDuration`. They have no API
 * server and register no Node.
 */
import { capiMachines, devMachines, isBeingDeleted, type JsonObject } from "#kube";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import { resolveController } from "../../workloads/pods/owners.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, notPaused } from "../conditions.ts";
import { summarize } from "../merge-conditions.ts";
import { BOOTSTRAPPED_ANNOTATION } from "../names.ts";
import {
  hasInfrastructure,
  isControlPlane,
  isInitialized,
  objectAt,
  providerIdOf,
  statusOf,
  textAt,
  trueSince,
  type CapiObject,
} from "../objects.ts";
import { ensureMetadata, removeFinalizer, writeStatus } from "../writes.ts";
import { startParts, type StartedParts } from "./dev-machine-parts.ts";

const FINALIZER = "dockermachine.infrastructure.cluster.x-k8s.io";

export async function devMachinePass(work: CapiWork, object: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  if (isBeingDeleted(object)) return passOf(await removeFinalizer(work.client, devMachines, object, FINALIZER));
  const machine = resolveController(work.caches.of("machines"), capiMachines, object);
  if (cluster === undefined || machine === undefined) return done;
  const started = startParts(object, {
    now: work.clock.now(),
    dataSince: trueSince(machine, "BootstrapConfigReady") ?? work.clock.now(),
    controlPlane: isControlPlane(machine),
    waiting: waitingFor(machine, cluster),
    // a moved object has lost its status; its machine runs
    bootstrapped: Object.hasOwn(machine.metadata.annotations ?? {}, BOOTSTRAPPED_ANNOTATION),
  });
  const marked = await ensureMetadata(work.client, devMachines, object, {
    finalizer: FINALIZER,
    ...(started.hasVm && providerIdOf(object) === undefined ? { spec: { providerID: providerId(object) } } : {}),
  });
  if (!marked.ok) return passOf(marked);
  const written = await writeStatus(work.client, devMachines, marked.value, statusWith(work, marked.value, started));
  if (!started.isComplete) return worstPass([passOf(written), started.nextMs === undefined ? done : again(started.nextMs)]);
  const noted = await ensureMetadata(work.client, capiMachines, machine, { annotations: { [BOOTSTRAPPED_ANNOTATION]: "" } });
  return worstPass([passOf(written), passOf(noted)]);
}

function waitingFor(machine: CapiObject, cluster: CapiObject): string | undefined {
  if (!hasInfrastructure(cluster)) return "WaitingForClusterInfrastructureReady";
  if (textAt(machine, "spec", "bootstrap", "dataSecretName") !== undefined) return undefined;
  return isControlPlane(machine) || isInitialized(cluster) ? "WaitingForBootstrapData" : "WaitingForControlPlaneInitialized";
}

function providerId({ spec, metadata }: CapiObject): string {
  return Object.hasOwn(objectAt({ spec: spec ?? {} }, "spec", "backend"), "docker")
    ? `docker:////${metadata.name}`
    : `in-memory://${metadata.name}`;
}

function statusWith(work: CapiWork, object: CapiObject, { conditions, hasVm }: StartedParts): JsonObject {
  const reasons = { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" };
  const ready = summarize({ type: "Ready", conditions, reasons });
  return {
    ...statusOf(object),
    ...(hasVm ? { initialization: { provisioned: true } } : {}),
    conditions: conditionsWith(object, [ready, ...conditions, notPaused], nowOf(work)),
  };
}
