/**
 * Eviction: the deletion of a Pod, if its PodDisruptionBudget allows it.
 *
 * Every eviction decreases `disruptionsAllowed` of the budget. A Pod that is finished, pending or terminating needs no budget; a Pod that is
 * not ready needs none if enough others are healthy.
 */
import { ok, timestamp, whenOk, type Later, type Result } from "#base";
import { field, fieldAt, isJsonObject, matches, requirementsOf, type Json, type JsonObject, type KubeObject } from "#kube";
import { inVersion, type RequestContext } from "../../protocol/core.ts";
import { checkPreconditions, deleteWithoutAdmission } from "../delete-object.ts";
import { checkedOptions, type DeleteRequestOptions } from "../delete-options.ts";
import { plainText } from "../../protocol/go-format.ts";
import { asJsonObject, asObject } from "../../protocol/managed-kinds.ts";
import { valueResponse, type PendingResponse } from "../../protocol/respond.ts";
import { invalid, refuse, success, errorWithoutReason, type Failure } from "../../protocol/status.ts";
import { updateObject } from "../update-object.ts";
import { actOnPod, objectIn, podOf, type PodAction } from "./pods.ts";
import type { Stored } from "../../store/index.ts";

export function evictPod(call: RequestContext): PendingResponse {
  return actOnPod(call, "Eviction", (action) => evict(call, action));
}

const BROKEN_STORE = "ignoreStoreReadErrorWithClusterBreakingPotential";

function evict(call: RequestContext, { body, options }: PodAction): PendingResponse {
  if (fieldAt(body, "deleteOptions", BROKEN_STORE) === true) return refuseBrokenStore(call);
  const pod = podOf(call);
  if (!pod.ok) return pod;
  const asked = checkedOptions(fieldAt(body, "deleteOptions") ?? {});
  if (!asked.ok) return asked;
  const dryRun = options.dryRun || asked.value.dryRun;
  const allowed = needsNoBudget(pod.value.object) ? ok(undefined) : checkBudgets(call, pod.value.object, dryRun);
  return whenOk(allowed, () =>
    whenOk(markDisrupted(call, asked.value, dryRun), (latest) => {
      const deleting = { ...call, target: { ...call.target, subresource: undefined } };
      // the version was checked before the condition was set, which changed it
      const options = dryRun ? asked.value : { ...asked.value, resourceVersion: undefined };
      const deleted = deleteWithoutAdmission(deleting, latest, { ...options, dryRun });
      return whenOk(deleted, () => ok(valueResponse(call, 201, success(undefined, 201))));
    }),
  );
}

function refuseBrokenStore({ target }: RequestContext): Result<never, Failure> {
  const detail = "Invalid value: true: can not be set for pod eviction, try after removing the option";
  const cause = { reason: "FieldValueInvalid", field: `deleteOptions.${BROKEN_STORE}`, detail } as const;
  return invalid({ group: "policy", kind: "Eviction", name: target.name ?? "" }, [cause]);
}

function needsNoBudget(pod: KubeObject): boolean {
  const dying = fieldAt(pod, "metadata", "deletionTimestamp") !== undefined;
  return dying || ["Succeeded", "Failed", "Pending"].includes(plainText(fieldAt(pod, "status", "phase") ?? ""));
}

/** Sets the condition DisruptionTarget, so that clients see the reason for the deletion. */
function markDisrupted(call: RequestContext, asked: DeleteRequestOptions, dryRun: boolean): Later<Result<Stored, Failure>> {
  const pod = podOf(call);
  if (!pod.ok || dryRun) return pod;
  const meant = checkPreconditions(call.target.type, pod.value.object, asked);
  if (!meant.ok) return meant;
  const marked = withCondition(inVersion(call.target.type, pod.value.object), {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timestamp(call.core.clock),
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  });
  if (marked === undefined) return pod;
  const options = { dryRun: false, fieldManager: "" };
  const change = { previous: pod.value, next: marked, options, tracked: true, prepare: (object: KubeObject) => object, trusted: true };
  return whenOk(updateObject(call, change), () => podOf(call));
}

/** `undefined`: the object has this condition already. */
function withCondition(object: KubeObject, condition: JsonObject): KubeObject | undefined {
  const status = objectIn(asJsonObject(object), "status");
  const known = field(status, "conditions");
  const conditions: readonly Json[] = Array.isArray(known) ? (known as readonly Json[]) : [];
  const old = conditions.find((one) => field(one, "type") === condition["type"]);
  if (old !== undefined && field(old, "status") === condition["status"]) return undefined;
  return asObject({
    ...asJsonObject(object),
    status: { ...status, conditions: [...conditions.filter((one) => one !== old), condition] },
  });
}

const BUDGETS = { group: "policy", version: "v1", plural: "poddisruptionbudgets" } as const;

function checkBudgets(call: RequestContext, pod: KubeObject, dryRun: boolean): Later<Result<unknown, Failure>> {
  const { core, target } = call;
  const type = core.types.find(BUDGETS.group, BUDGETS.version, BUDGETS.plural);
  if (type === undefined) return ok(undefined);
  const listed = core.store.list(type.collection, { namespace: target.namespace });
  const [budget, second] = listed.ok ? listed.value.items.filter(({ object }) => selects(object, pod)) : [];
  if (budget === undefined) return ok(undefined);
  if (second !== undefined)
    return errorWithoutReason("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  if (!isReady(pod) && sparesUnhealthy(budget.object)) return ok(undefined);
  const refused = refusal(budget.object);
  if (refused !== undefined) return refuse(refused);
  if (dryRun) return ok(undefined);
  const { name } = budget.object.metadata;
  const counting: RequestContext = {
    ...call,
    target: { type, namespace: target.namespace, name, subresource: "status", rest: [], verb: "update" },
  };
  const next = counted(budget.object, pod.metadata.name, timestamp(core.clock));
  return updateObject(counting, {
    previous: budget,
    next,
    options: { dryRun: false, fieldManager: "kube-apiserver" },
    tracked: false,
    trusted: true,
  });
}

function selects(budget: KubeObject, pod: KubeObject): boolean {
  const selector = fieldAt(budget, "spec", "selector");
  return isJsonObject(selector) && matches(requirementsOf(selector), pod.metadata.labels);
}

function isReady(pod: KubeObject): boolean {
  const conditions = fieldAt(pod, "status", "conditions");
  return Array.isArray(conditions) && conditions.some((one) => field(one, "type") === "Ready" && field(one, "status") === "True");
}

function numberIn(budget: KubeObject, name: string): number {
  const value = fieldAt(budget, "status", name);
  return typeof value === "number" ? value : 0;
}

/** A Pod that is not ready may be evicted if enough others are healthy, or if the policy is AlwaysAllow. */
function sparesUnhealthy(budget: KubeObject): boolean {
  if (fieldAt(budget, "spec", "unhealthyPodEvictionPolicy") === "AlwaysAllow") return true;
  const desired = numberIn(budget, "desiredHealthy");
  return desired > 0 && numberIn(budget, "currentHealthy") >= desired;
}

function refusal(budget: KubeObject) {
  const { name, generation = 0 } = budget.metadata;
  if (numberIn(budget, "observedGeneration") < generation)
    return tooMany(`The disruption budget ${name} is still being processed by the server.`, 10);
  return numberIn(budget, "disruptionsAllowed") <= 0 ? tooMany(whyNot(budget)) : undefined;
}

function tooMany(message: string, retryAfterSeconds?: number) {
  return {
    code: 429,
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [{ reason: "DisruptionBudget", message }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  };
}

function whyNot(budget: KubeObject): string {
  const { name } = budget.metadata;
  const known = fieldAt(budget, "status", "conditions");
  const condition = Array.isArray(known) ? known.find((one) => field(one, "type") === "DisruptionAllowed") : undefined;
  const [reason, message] = ["reason", "message"].map((part) => plainText(field(condition, part) ?? ""));
  const hasMessage = field(condition, "status") === "False" && message !== "";
  if (hasMessage && reason === "SyncFailed")
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${message}`;
  const [desired, healthy] = [numberIn(budget, "desiredHealthy"), numberIn(budget, "currentHealthy")];
  if (healthy <= desired) return `The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`;
  return `The disruption budget ${name} does not allow evicting pods currently${hasMessage ? ` (${reason}): ${message}` : ""}`;
}

/** Decreases the budget and records the Pod; the disruption controller removes the record when the Pod is deleted. */
function counted(budget: KubeObject, pod: string, now: string): KubeObject {
  const status = objectIn(asJsonObject(budget), "status");
  const left = numberIn(budget, "disruptionsAllowed") - 1;
  const disruptedPods = { ...objectIn(status, "disruptedPods"), [pod]: now };
  const next = asObject({ ...asJsonObject(budget), status: { ...status, disruptionsAllowed: left, disruptedPods } });
  if (left > 0) return next;
  const observedGeneration = numberIn(budget, "observedGeneration");
  const spent = {
    type: "DisruptionAllowed",
    status: "False",
    observedGeneration,
    lastTransitionTime: now,
    reason: "InsufficientPods",
    message: "",
  };
  return withCondition(next, spent) ?? next;
}
