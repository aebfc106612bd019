/**
 * MachineHealthChecks: mark unhealthy machines for their owners, which replace them.
 *
 * Nothing is judged while the child cannot be reached: a lost connection is no proof that Nodes are gone.
 */
import {
  capiMachineHealthChecks,
  capiMachines,
  fieldAt,
  isBeingDeleted,
  keyOf,
  keyText,
  matches,
  requirementsOf,
  type JsonObject,
} from "#kube";
import { again, done, passOf, worstPass, type Pass } from "../../work.ts";
import { controllerOf } from "../../workloads/pods/owners.ts";
import { nowOf, recordEvent, type CapiWork } from "../capi-work.ts";
import { conditionsWith, no, notPaused, yes } from "../conditions.ts";
import { resolveAmount } from "../machine-deployment/rollout-plan.ts";
import { nodeOf } from "../machine/machine-node.ts";
import { CLUSTER_LABEL, PAUSED_ANNOTATION, SKIP_REMEDIATION_ANNOTATION } from "../names.ts";
import { conditionOf, isFalse, isTrue, numberAt, objectAt, ownerReference, statusOf, textAt, type CapiObject } from "../objects.ts";
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
  const count = (kind: HealthVerdict["kind"]) => judged.filter(({ verdict }) => verdict.kind === kind).length;
  const allowance = allowanceOf(marked.value, judged.length, count("healthy"));
  const passes: Pass[] = [];
  for (const { machine, verdict } of judged)
    passes.push(await mark(work, { check: marked.value, machine, verdict, isAllowed: allowance.isAllowed }));
  const names = targets.map(({ metadata }) => metadata.name);
  const status = statusWith(work, marked.value, { targets: names, healthy: count("healthy"), unhealthy: count("unhealthy"), ...allowance });
  passes.push(passOf(await writeStatus(work.client, capiMachineHealthChecks, marked.value, status)));
  const waits = judged.flatMap(({ verdict }) => (verdict.kind === "pending" ? [verdict.afterMs] : []));
  return worstPass([...passes, waits.length === 0 ? done : again(Math.max(1, Math.min(...waits)))]);
}

function targetsOf(work: CapiWork, check: CapiObject, cluster: CapiObject): readonly CapiObject[] {
  const selector = requirementsOf(objectAt(check, "spec", "selector"));
  const isChecked = ({ metadata: { labels = {}, annotations = {} } }: CapiObject) =>
    matches(selector, labels) && !Object.hasOwn(annotations, SKIP_REMEDIATION_ANNOTATION) && !Object.hasOwn(annotations, PAUSED_ANNOTATION);
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

type Allowance = { readonly isAllowed: boolean; /** More machines that may become unhealthy. */ readonly left: number };

/**
 * "40%" or 3: more machines than this that are not healthy point to a fault of the cluster, which replacing machines would make worse. Machines
 * without a Node count as not healthy.
 */
function allowanceOf(check: CapiObject, targets: number, healthy: number): Allowance {
  const unhealthy = targets - healthy;
  const range = /^\[(\d+)-(\d+)\]$/.exec(textAt(check, "spec", "remediation", "triggerIf", "unhealthyInRange") ?? "");
  const limit = fieldAt(check, "spec", "remediation", "triggerIf", "unhealthyLessThanOrEqualTo");
  const most = range === null ? (resolveAmount(limit, targets, "down") ?? targets) : Number(range[2]);
  const isAllowed = unhealthy <= most && unhealthy >= Number(range?.[1] ?? 0);
  return { isAllowed, left: isAllowed ? most - unhealthy : 0 };
}

type Marking = { readonly check: CapiObject; readonly machine: CapiObject; readonly verdict: HealthVerdict; readonly isAllowed: boolean };

async function mark(work: CapiWork, { check, machine, verdict, isAllowed }: Marking): Promise<Pass> {
  if (verdict.kind === "pending" || verdict.kind === "unchecked") return done;
  if (verdict.kind === "healthy") {
    if (isBeingDeleted(machine) || (isTrue(machine, "HealthCheckSucceeded") && conditionOf(machine, "OwnerRemediated") === undefined))
      return done;
    const conditions = conditionsWith(machine, [yes("HealthCheckSucceeded", "HealthCheckSucceeded")], nowOf(work));
    const kept = conditions.filter((one) => textAt(one, "type") !== "OwnerRemediated");
    return passOf(await writeStatus(work.client, capiMachines, machine, { ...statusOf(machine), conditions: kept }));
  }
  const isOwnersTurn =
    isAllowed && !isBeingDeleted(machine) && controllerOf(machine) !== undefined && conditionOf(machine, "OwnerRemediated") === undefined;
  if (isFalse(machine, "HealthCheckSucceeded") && !isOwnersTurn) return done;
  const drafts = [
    no("HealthCheckSucceeded", verdict.reason, verdict.message),
    ...(isOwnersTurn ? [no("OwnerRemediated", "WaitingForRemediation", "Waiting for remediation")] : []),
  ];
  const [name, by] = [machine, check].map((object) => keyText(keyOf(object)));
  recordEvent(work, machine, "MachineMarkedUnhealthy", `Machine ${name} has been marked as unhealthy by ${by}`);
  const conditions = conditionsWith(machine, drafts, nowOf(work));
  return passOf(await writeStatus(work.client, capiMachines, machine, { ...statusOf(machine), conditions }));
}

type StatusInput = Allowance & { readonly targets: readonly string[]; readonly healthy: number; readonly unhealthy: number };

function statusWith(work: CapiWork, check: CapiObject, input: StatusInput): JsonObject {
  const { targets, healthy, isAllowed, left } = input;
  const drafts = [
    isAllowed ? yes("RemediationAllowed", "RemediationAllowed") : no("RemediationAllowed", "TooManyUnhealthy", refusal(check, input)),
    notPaused,
  ];
  return {
    ...statusOf(check),
    observedGeneration: check.metadata.generation ?? 0,
    expectedMachines: targets.length,
    currentHealthy: healthy,
    remediationsAllowed: left,
    targets,
    conditions: conditionsWith(check, drafts, nowOf(work)),
  };
}

function refusal(check: CapiObject, { targets, unhealthy }: StatusInput): string {
  const triggers = objectAt(check, "spec", "remediation", "triggerIf");
  const range = textAt(triggers, "unhealthyInRange");
  const limit = textAt(triggers, "unhealthyLessThanOrEqualTo") ?? numberAt(triggers, "unhealthyLessThanOrEqualTo") ?? "100%";
  const [rule, setting] =
    range === undefined
      ? ["exceeds maxUnhealthy", `maxUnhealthy: ${limit}`]
      : ["does not fall within the range", `unhealthyRange: ${range}`];
  return `Remediation is not allowed, the number of not started or unhealthy machines ${rule} (total: ${targets.length}, unhealthy: ${unhealthy}, ${setting})`;
}
