/**
 * The total requests and limits of a pod: containers run together, init containers one after the other, sidecars beside both.
 *
 * A pod that is being resized counts with the larger of requested and allocated resources, until the kubelet reports the resize as infeasible.
 */
import { field, fieldAt, isJsonObject, type Json, type JsonObject } from "../json.ts";
import { addAmounts, maxAmounts, NO_AMOUNTS, onlyNamed, readAmounts, type Amounts } from "./amounts.ts";

export type PodResourceRules = {
  /** Include the resources that the kubelet reports in the status. */
  readonly withStatus: boolean;
  readonly withOverhead: boolean;
  /** Resources that can be set in `spec.resources` of the pod. */
  readonly isPodLevel: (name: string) => boolean;
};

type Kind = "requests" | "limits";

export function podRequests(pod: unknown, rules: PodResourceRules): Amounts {
  const asked = onlyNamed(readAmounts(fieldAt(pod, "spec", "resources", "requests")), rules.isPodLevel);
  const total: Amounts = new Map([...aggregate(pod, "requests", rules), ...asked]);
  return rules.withOverhead ? addAmounts(total, readAmounts(fieldAt(pod, "spec", "overhead"))) : total;
}

export function podLimits(pod: unknown, rules: PodResourceRules): Amounts {
  const asked = onlyNamed(readAmounts(fieldAt(pod, "spec", "resources", "limits")), rules.isPodLevel);
  const total: Amounts = new Map([...aggregate(pod, "limits", rules), ...asked]);
  if (!rules.withOverhead) return total;
  // overhead is not added where the pod has no limit
  const overhead = onlyNamed(readAmounts(fieldAt(pod, "spec", "overhead")), (name) => (total.get(name)?.quantity ?? 0n) !== 0n);
  return addAmounts(total, overhead);
}

function aggregate(pod: unknown, kind: Kind, rules: PodResourceRules): Amounts {
  const statuses = rules.withStatus ? containerStatuses(pod) : new Map<string, JsonObject>();
  const refused = isResizeInfeasible(pod);
  const effective = (container: JsonObject) => effectiveAmounts({ container, kind, status: statuses.get(nameOf(container)), refused });
  let total = NO_AMOUNTS;
  for (const container of itemsAt(pod, "spec", "containers")) total = addAmounts(total, effective(container));
  let sidecars = NO_AMOUNTS;
  let starting = NO_AMOUNTS;
  for (const container of itemsAt(pod, "spec", "initContainers")) {
    if (field(container, "restartPolicy") === "Always") {
      const own = effective(container);
      total = addAmounts(total, own);
      sidecars = addAmounts(sidecars, own);
      starting = maxAmounts(starting, sidecars);
    } else {
      starting = maxAmounts(starting, addAmounts(readAmounts(fieldAt(container, "resources", kind)), sidecars));
    }
  }
  return maxAmounts(total, starting);
}

type Measured = {
  readonly container: JsonObject;
  readonly kind: Kind;
  readonly status: JsonObject | undefined;
  /** The kubelet has reported that the resize is infeasible. */
  readonly refused: boolean;
};

function effectiveAmounts({ container, kind, status, refused }: Measured): Amounts {
  const wanted = readAmounts(fieldAt(container, "resources", kind));
  if (!isJsonObject(field(status, "resources"))) return wanted;
  const given = readAmounts(fieldAt(status, "resources", kind));
  const reserved = kind === "requests" ? readAmounts(field(status, "allocatedResources")) : NO_AMOUNTS;
  const has = maxAmounts(given, reserved);
  return refused ? has : maxAmounts(wanted, has);
}

function containerStatuses(pod: unknown): Map<string, JsonObject> {
  const all = [...itemsAt(pod, "status", "containerStatuses"), ...itemsAt(pod, "status", "initContainerStatuses")];
  return new Map(all.map((status) => [nameOf(status), status]));
}

function isResizeInfeasible(pod: unknown): boolean {
  const pending = itemsAt(pod, "status", "conditions").find((condition) => field(condition, "type") === "PodResizePending");
  return field(pending, "reason") === "Infeasible";
}

/** QoS class BestEffort: no requests and no limits of CPU or memory. */
export function isBestEffort(pod: unknown): boolean {
  const known = fieldAt(pod, "status", "qosClass");
  if (typeof known === "string" && known !== "") return known === "BestEffort";
  const whole = fieldAt(pod, "spec", "resources");
  const parts = isJsonObject(whole) ? [whole] : containersOf(pod).map((container) => field(container, "resources"));
  return !parts.some((resources) => setsCompute(resources));
}

function setsCompute(resources: Json | undefined): boolean {
  const amounts = [readAmounts(field(resources, "requests")), readAmounts(field(resources, "limits"))];
  return amounts.some((list) => ["cpu", "memory"].some((name) => (list.get(name)?.quantity ?? 0n) > 0n));
}

/** Containers and init containers, in this order. */
export function containersOf(pod: unknown): readonly JsonObject[] {
  return [...itemsAt(pod, "spec", "containers"), ...itemsAt(pod, "spec", "initContainers")];
}

export function itemsAt(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  const items = fieldAt(value, ...path);
  return Array.isArray(items) ? items.filter(isJsonObject) : [];
}

export function nameOf(value: unknown): string {
  const name = field(value, "name");
  return typeof name === "string" ? name : "";
}
