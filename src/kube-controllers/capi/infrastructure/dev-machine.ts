/** DevMachines, in memory: they become ready after `startupDuration`. They have no API server and register no Node. */
import { parseDuration } from "#base";
import { capiMachines, devMachines, isBeingDeleted, type JsonObject } from "#kube";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import { resolveController } from "../../workloads/pods/owners.ts";
import { nowOf, type CapiWork } from "../capi-work.ts";
import { conditionsWith, no, pausedCondition, yes, type ConditionDraft } from "../conditions.ts";
import { summarize } from "../merge-conditions.ts";
import {
  conditionOf,
  hasInfrastructure,
  isControlPlane,
  isInitialized,
  objectAt,
  providerIdOf,
  statusOf,
  textAt,
  type CapiObject,
} from "../objects.ts";
import { ensureMetadata, removeFinalizer, writeStatus } from "../writes.ts";

const FINALIZER = "dockermachine.infrastructure.cluster.x-k8s.io";

export async function devMachinePass(work: CapiWork, object: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  if (isBeingDeleted(object)) return passOf(await removeFinalizer(work.client, devMachines, object, FINALIZER));
  const machine = resolveController(work.caches.of("machines"), capiMachines, object);
  if (cluster === undefined || machine === undefined) return done;
  const wait = waitingFor(machine, cluster);
  const startsAt = wait === undefined ? startOf(work, object) : undefined;
  const left = startsAt === undefined ? 0 : startsAt - work.clock.now();
  const isProvisioned = providerIdOf(object) !== undefined || (wait === undefined && left <= 0);
  const marked = await ensureMetadata(work.client, devMachines, object, {
    finalizer: FINALIZER,
    ...(isProvisioned && providerIdOf(object) === undefined ? { spec: { providerID: providerId(object) } } : {}),
  });
  if (!marked.ok) return passOf(marked);
  const status = statusWith(work, marked.value, { machine, waiting: isProvisioned ? undefined : (wait ?? "WaitingForStartupTimeout") });
  const written = await writeStatus(work.client, devMachines, marked.value, status);
  return worstPass([passOf(written), isProvisioned || wait !== undefined ? done : again(Math.max(1, left))]);
}

function waitingFor(machine: CapiObject, cluster: CapiObject): string | undefined {
  if (!hasInfrastructure(cluster)) return "WaitingForClusterInfrastructureReady";
  if (textAt(machine, "spec", "bootstrap", "dataSecretName") !== undefined) return undefined;
  return isControlPlane(machine) || isInitialized(cluster) ? "WaitingForBootstrapData" : "WaitingForControlPlaneInitialized";
}

/** The startup begins when nothing else is missing: at the transition of the condition. */
function startOf(work: CapiWork, object: CapiObject): number {
  const known = conditionOf(object, "VMProvisioned");
  const began = known?.reason === "WaitingForStartupTimeout" ? Date.parse(known.lastTransitionTime) : work.clock.now();
  const duration = parseDuration(textAt(object, "spec", "backend", "inMemory", "vm", "provisioning", "startupDuration") ?? "0");
  return began + (duration.ok ? duration.value : 0);
}

function providerId({ spec, metadata }: CapiObject): string {
  return Object.hasOwn(objectAt({ spec: spec ?? {} }, "spec", "backend"), "docker")
    ? `docker:////${metadata.name}`
    : `in-memory://${metadata.name}`;
}

type StatusInput = { readonly machine: CapiObject; readonly waiting: string | undefined };

function statusWith(work: CapiWork, object: CapiObject, { machine, waiting }: StatusInput): JsonObject {
  const others = isControlPlane(machine) ? ["NodeProvisioned", "EtcdProvisioned", "APIServerProvisioned"] : ["NodeProvisioned"];
  const drafts: readonly ConditionDraft[] = [
    waiting === undefined ? yes("VMProvisioned", "Provisioned") : no("VMProvisioned", waiting),
    ...others.map((type) => (waiting === undefined ? yes(type, "Provisioned") : no(type, "WaitingForVMProvisioned"))),
  ];
  const ready = summarize({ type: "Ready", conditions: drafts, reasons: { issue: "NotReady", unknown: "ReadyUnknown", info: "Ready" } });
  return {
    ...statusOf(object),
    ...(waiting === undefined ? { initialization: { provisioned: true } } : {}),
    conditions: conditionsWith(object, [ready, ...drafts, pausedCondition(false, { cluster: false })], nowOf(work)),
  };
}
