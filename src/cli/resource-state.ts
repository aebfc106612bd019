/**
 * The state of a service, an environment or an external service in one sentence, for `lattice status` and for the lines of `lattice up`.
 */
import { conditionsOf } from "#controller-runtime";
import { latticeEnvironments, latticeExternalServices, latticeServices } from "#crds";
import { field, fieldAt, findCondition, isJsonObject, keyOf, keyText, type Condition, type KubeObject, type Resource } from "#kube";

export type StateKind = "service" | "environment" | "external";

export const STATE_KINDS: readonly { readonly resource: Resource; readonly kind: StateKind }[] = [
  { resource: latticeEnvironments, kind: "environment" },
  { resource: latticeExternalServices, kind: "external" },
  { resource: latticeServices, kind: "service" },
];

export type ResourceState = {
  readonly kind: StateKind;
  /** `namespace/name`; for an environment only the name. */
  readonly name: string;
  /** Empty: the operator has not written a status yet. */
  readonly phase: string;
  readonly ready: boolean;
  /** All its pods have the newest version and are ready; an available service is Ready earlier. */
  readonly rolledOut: boolean;
  /** Pods are being started or replaced, without errors. */
  readonly progressing: boolean;
  /** The status is of an older version of the resource. */
  readonly stale: boolean;
  /** It does not become Ready without a change. */
  readonly stuck: boolean;
  readonly sentence: string;
  readonly conditions: readonly Condition[];
  /** Dependencies that are closed, by name. */
  readonly closed: readonly string[];
};

export function stateOf(kind: StateKind, object: KubeObject): ResourceState {
  const conditions = conditionsOf(field(object, "status"));
  const phase = textAt(object, "phase");
  const ready = findCondition(conditions, "Ready");
  const rollout = findCondition(conditions, "WorkloadsReady");
  const closed = closedOf(object);
  return {
    kind,
    name: keyText(keyOf(object)),
    phase,
    ready: phase === "Ready" && ready?.status === "True",
    rolledOut: rollout?.status !== "False",
    progressing: rollout?.status === "False" && rollout.reason === "RollingOut",
    stuck: phase === "Failed" || ready?.reason === "WorkloadNotFound",
    stale: isStale(object),
    sentence: sentenceOf(object, closed),
    conditions,
    closed,
  };
}

function textAt(object: KubeObject, name: string): string {
  const value = fieldAt(object, "status", name);
  return typeof value === "string" ? value : "";
}

function isStale({ metadata, ...object }: KubeObject): boolean {
  const observed = fieldAt(object, "status", "observedGeneration");
  return typeof observed === "number" && observed < (metadata.generation ?? 0);
}

function closedOf(object: KubeObject): readonly string[] {
  const closed = fieldAt(object, "status", "closedDependencies");
  return isJsonObject(closed) ? Object.keys(closed).toSorted() : [];
}

const LONGEST_MESSAGE = 400;
const MOST_NAMED = 3;

function sentenceOf(object: KubeObject, closed: readonly string[]): string {
  const { metadata } = object;
  if (metadata.deletionTimestamp !== undefined) return "is being deleted";
  const phase = textAt(object, "phase");
  const message = textAt(object, "message").split("\n")[0] ?? "";
  if (message === "" && phase === "") return "no status yet; is the operator running?";
  const text = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
  return `${isStale(object) ? "changed, and not yet observed by the operator; before: " : ""}${text}${phase === "Ready" ? closedSentence(metadata.name, closed) : ""}`;
}

/** A closed call may be intended, so it is shown and does not affect the phase. */
function closedSentence(name: string, closed: readonly string[]): string {
  const [first] = closed;
  if (first === undefined) return "";
  const named = `${closed.slice(0, MOST_NAMED).join(", ")}${closed.length > MOST_NAMED ? ` and ${closed.length - MOST_NAMED} more` : ""}`;
  return `; may not call ${named} (lattice why ${name} ${first})`;
}
