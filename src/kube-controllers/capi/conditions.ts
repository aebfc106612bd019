/** Writes conditions into a status, in the order in which the real controllers keep them. */
import { isBeingDeleted, setConditions, type Condition, type ConditionStatus, type Json, type KubeObject } from "#kube";
import { PAUSED_ANNOTATION } from "./names.ts";
import { conditionsOf } from "./objects.ts";

export type ConditionDraft = {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message?: string | undefined;
};

export const yes = (type: string, reason: string, message = ""): ConditionDraft => ({ type, status: "True", reason, message });
export const no = (type: string, reason: string, message = ""): ConditionDraft => ({ type, status: "False", reason, message });
export const unknown = (type: string, reason: string, message = ""): ConditionDraft => ({ type, status: "Unknown", reason, message });

/** Types after these have no fixed place; `Paused` and `Deleting` come last. */
const FIRST = ["Available", "Ready", "UpToDate"];
const LAST = ["Updating", "Paused", "Deleting"];

/** The conditions of the object with the drafts; types that other controllers set are kept. */
export function conditionsWith(object: KubeObject, drafts: readonly ConditionDraft[], now: string): readonly Json[] {
  const observedGeneration = object.metadata.generation ?? 0;
  const next = drafts.map(({ type, status, reason, message = "" }) => ({ type, status, reason, message, observedGeneration }));
  return [...setConditions(conditionsOf(object), next, now)].toSorted((left, right) => rank(left) - rank(right)).map((one) => ({ ...one }));
}

function rank({ type }: Condition): number {
  const [first, last] = [FIRST.indexOf(type), LAST.indexOf(type)];
  if (first >= 0) return first - FIRST.length;
  return last >= 0 ? last + 1 : 0;
}

export const notPaused: ConditionDraft = no("Paused", "NotPaused");

/** `isClusterPaused`: by the field of the Cluster. */
export function pausedCondition(object: KubeObject, isClusterPaused: boolean): ConditionDraft {
  const isAnnotated = Object.hasOwn(object.metadata.annotations ?? {}, PAUSED_ANNOTATION);
  const messages = [
    ...(isClusterPaused ? ["Cluster spec.paused is set to true"] : []),
    ...(isAnnotated ? [`${object.kind} has the ${PAUSED_ANNOTATION} annotation`] : []),
  ];
  return messages.length === 0 ? notPaused : yes("Paused", "Paused", messages.join(", "));
}

export function deletingCondition(object: KubeObject, reason: string, message: string): ConditionDraft {
  return isBeingDeleted(object) ? yes("Deleting", reason, message) : no("Deleting", "NotDeleting");
}
