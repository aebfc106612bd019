/**
 * MachineHealthChecks: mark unhealthy machines for their owners, which replace them.
 *
 * Nothing is judged while the child cannot be reached: a lost connection is no proof that Nodes are gone.
 */
import { capiMachineHealthChecks, capiMachines, fieldAt, isBeingDeleted, keyOf, matches, requirementsOf, type JsonObject } from "#kube";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import { controllerOf } from "../../workloads/pods/owners.ts";
import { nowOf, recordEvent, type CapiWork } from "../capi-work.ts";
import { conditionsWith, no, pausedCondition, yes } from "../conditions.ts";
import { nodeOf } from "../machine/machine-node.ts";
import { CLUSTER_LABEL, PAUSED_ANNOTATION, SKIP_REMEDIATION_ANNOTATION } from "../names.ts";
import { conditionOf, isFalse, isTrue, objectAt, ownerReference, statusOf, textAt, type CapiObject } from "../objects.ts";
import { ensureMetadata, writeStatus } from "../writes.ts";
import { judge, type HealthVerdict } from "./health.ts";

const RECONNECT_MS = 10_000;

export async function healthCheckPass(work: CapiWork, check: CapiObject, cluster: CapiObject | undefined): Promise<Pass> {
  if (cluster === undefined || isBeingDeleted(check)) return done;
  const draft = { labels: { [CLUSTER_LABEL]: cluster.metadata.name }, owner: ownerReference(cluster) };
  const marked = await ensureMetadata(work.client, capiMachineHealthChecks, check, draft);
  if (!marked.ok) return passOf(marked);
  const child = work.children.view(keyOf(cluster));
  const targets = targetsOf(work, marked.value, cluster);
  if (isTrue(cluster, "ControlPlaneInitialized") && (child === undefined || !child.connected || !child.hasNodes))
    return again(RECONNECT_MS);
  const judged = targets.map((machine) => ({ machine, verdict: verdictOf(work, marked.value, { machine, cluster }) }));
  const unhealthy = judged.filter(({ verdict }) => verdict.kind === "unhealthy").length;
  const allowed = isAllowed(marked.value, judged.length, unhealthy);
  const passes: Pass[] = [];
  for (const { machine, verdict } of judged) passes.push(await mark(work, { machine, verdict, allowed }));
  const status = statusWith(work, marked.value, { targets: targets.map(({ metadata }) => metadata.name), unhealthy, allowed });
  passes.push(passOf(await writeStatus(work.client, capiMachineHealthChecks, marked.value, status)));
  const waits = judged.flatMap(({ verdict }) => (verdict.kind === "healthy" && verdict.afterMs !== undefined ? [verdict.afterMs] : []));
  return worstPass([...passes, waits.length === 0 ? done : again(Math.max(1, Math.min(...waits)))]);
}

function targetsOf(work: CapiWork, check: CapiObject, cluster: CapiObject): readonly CapiObject[] {
  const selector = requirementsOf(objectAt(check, "spec", "selector"));
  const isChecked = ({ metadata: { labels = {}, annotations = {}, deletionTimestamp } }: CapiObject) =>
    deletionTimestamp === undefined &&
    matches(selector, labels) &&
    !Object.hasOwn(annotations, SKIP_REMEDIATION_ANNOTATION) &&
    !Object.hasOwn(annotations, PAUSED_ANNOTATION);
  return work.caches
    .inCluster("machines", keyOf(cluster))
    .filter(isChecked)
    .toSorted((left, right) => left.metadata.name.localeCompare(right.metadata.name));
}

function verdictOf(
  work: CapiWork,
  check: CapiObject,
  { machine, cluster }: { readonly machine: CapiObject; readonly cluster: CapiObject },
): HealthVerdict {
  const { node } = nodeOf(work, machine, cluster);
  return judge({ machine, node, cluster, checks: objectAt(check, "spec", "checks"), now: work.clock.now() });
}

/** "40%" or 3: more unhealthy machines than this point to a fault of the cluster, which replacing machines would make worse. */
function isAllowed(check: CapiObject, targets: number, unhealthy: number): boolean {
  const range = /^\[(\d+)-(\d+)\]$/.exec(textAt(check, "spec", "remediation", "triggerIf", "unhealthyInRange") ?? "");
  if (range !== null) return unhealthy === 0 || (unhealthy >= Number(range[1]) && unhealthy <= Number(range[2]));
  const limit = fieldAt(check, "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo");
  if (typeof limit === "number") return unhealthy <= limit;
  if (typeof limit === "string" && /^\d+%$/.test(limit)) return unhealthy <= Math.floor((Number(limit.slice(0, -1)) * targets) / 100);
  return true;
}

type Marking = { readonly machine: CapiObject; readonly verdict: HealthVerdict; readonly allowed: boolean };

async function mark(work: CapiWork, { machine, verdict, allowed }: Marking): Promise<Pass> {
  if (verdict.kind === "healthy") {
    if (isTrue(machine, "HealthCheckSucceeded") && conditionOf(machine, "OwnerRemediated") === undefined) return done;
    const conditions = conditionsWith(machine, [yes("HealthCheckSucceeded", "HealthCheckSucceeded")], nowOf(work));
    const kept = conditions.filter((one) => textAt(one, "type") !== "OwnerRemediated");
    return passOf(await writeStatus(work.client, capiMachines, machine, { ...statusOf(machine), conditions: kept }));
  }
  const canRemediate = allowed && controllerOf(machine) !== undefined;
  const isMarked = isFalse(machine, "HealthCheckSucceeded") && (!canRemediate || conditionOf(machine, "OwnerRemediated") !== undefined);
  if (isMarked) return done;
  const drafts = [
    no("HealthCheckSucceeded", verdict.reason, verdict.message),
    ...(canRemediate ? [no("OwnerRemediated", "WaitingForRemediation")] : []),
  ];
  recordEvent(work, machine, "MachineMarkedUnhealthy", `Machine ${machine.metadata.name} has been marked as unhealthy`);
  const conditions = conditionsWith(machine, drafts, nowOf(work));
  return passOf(await writeStatus(work.client, capiMachines, machine, { ...statusOf(machine), conditions }));
}

type StatusInput = { readonly targets: readonly string[]; readonly unhealthy: number; readonly allowed: boolean };

function statusWith(work: CapiWork, check: CapiObject, { targets, unhealthy, allowed }: StatusInput): JsonObject {
  const limit = fieldAt(check, "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo");
  const message = `Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (total: ${targets.length}, unhealthy: ${unhealthy}, maxUnhealthy: ${JSON.stringify(limit ?? null)})`;
  const drafts = [
    allowed ? yes("RemediationAllowed", "RemediationAllowed") : no("RemediationAllowed", "TooManyUnhealthy", message),
    pausedCondition(false, { cluster: false }),
  ];
  return {
    ...statusOf(check),
    observedGeneration: check.metadata.generation ?? 0,
    expectedMachines: targets.length,
    currentHealthy: targets.length - unhealthy,
    targets,
    conditions: conditionsWith(check, drafts, nowOf(work)),
  };
}
