/** Namespace, Node, Event, Endpoints, LimitRange, ResourceQuota. */
import type { Json, JsonObject, KubeObject } from "#kube";
import { eventCells, namespaceCells, nodeCells } from "../cells/core.ts";
import { at, childOf, isTrueAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, duplicate, forbidden, invalid, invalidEach, required } from "../rules/causes.ts";
import { dnsLabel, labelValue, qualifiedName } from "../rules/formats.ts";
import { kubeFinalizer } from "../rules/object-meta.ts";
import { CIDR_MESSAGE, isCidr, oneOf } from "../rules/shared.ts";
import { endpoints } from "./endpoints.ts";
import { limitRange, resourceQuota } from "./quotas.ts";

const namespace: KindRules = {
  name: dnsLabel,
  onUpdate: "meta-and-spec-first",
  prepareCreate: (draft) => {
    const finalizers = textsAt(draft, "spec", "finalizers");
    if (!finalizers.includes("kubernetes")) childOf(draft, "spec")["finalizers"] = [...finalizers, "kubernetes"];
    draft["status"] = { phase: "Active" };
  },
  prepareUpdate: (draft, previous) => {
    const finalizers = at(previous, "spec", "finalizers");
    const spec = childOf(draft, "spec");
    if (finalizers === undefined) delete spec["finalizers"];
    else spec["finalizers"] = finalizers;
  },
  validate: (object) =>
    textsAt(object, "spec", "finalizers").flatMap((finalizer) => [
      ...invalidEach("spec.finalizers", finalizer, qualifiedName(finalizer)),
      ...kubeFinalizer(finalizer, "spec.finalizers"),
    ]),
  validateStatus: (next) => {
    const [dying, phase] = [textAt(next, "metadata", "deletionTimestamp") !== "", textAt(next, "status", "phase")];
    const [only, when] = dying ? ["Terminating", "is not empty"] : ["Active", "is empty"];
    return phase === only ? [] : [invalid("status.Phase", phase, `may only be '${only}' if \`deletionTimestamp\` ${when}`)];
  },
  deletion: { answersObject: true },
  fieldSelectors: { "status.phase": (object) => textAt(object, "status", "phase"), name: (object) => object.metadata.name },
  cells: namespaceCells,
};

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const node: KindRules = {
  keepsStatusOnCreate: true,
  validate: (object) => [...validateTaints(objectsAt(object, "spec", "taints")), ...validatePodCidrs(object)],
  validateUpdate: validateNodeUpdate,
  fieldSelectors: { "spec.unschedulable": (object) => String(isTrueAt(object, "spec", "unschedulable")) },
  cells: nodeCells,
};

function validateTaints(taints: readonly JsonObject[]): Causes {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const path = `metadata.taints[${index}]`;
    const [key, value, effect] = [textAt(taint, "key"), textAt(taint, "value"), textAt(taint, "effect")];
    const id = `${key}:${effect}`;
    const again = seen.has(id);
    seen.add(id);
    const wrongValue = labelValue(value);
    return [
      ...invalidEach(`${path}.key`, key, qualifiedName(key)),
      ...(wrongValue.length === 0 ? [] : [invalid(`${path}.value`, value, wrongValue.join(";"))]),
      ...oneOf(`${path}.effect`, effect, EFFECTS),
      ...(again ? [repeatedTaint(path, taint)] : []),
    ];
  });
}

function repeatedTaint(path: string, taint: JsonObject): Causes[number] {
  const shown: Json = {
    Key: textAt(taint, "key"),
    Value: textAt(taint, "value"),
    Effect: textAt(taint, "effect"),
    TimeAdded: at(taint, "timeAdded") ?? null,
  };
  const cause = duplicate(path, shown);
  return { ...cause, detail: `${cause.detail}: taints must be unique by key and effect pair` };
}

const ONCE = 'except from "" to valid';

/** What the controller manager fills in stays. */
function validateNodeUpdate(next: KubeObject, previous: KubeObject): Causes {
  const [now, before] = [textsAt(next, "spec", "podCIDRs"), textsAt(previous, "spec", "podCIDRs")];
  const moved = now.length === before.length ? before.filter((cidr, index) => cidr !== now[index]).length : Math.sign(before.length);
  const provider = textAt(previous, "spec", "providerID");
  return [
    ...Array.from({ length: moved }, () => forbidden("spec.podCIDRs", `node updates may not change podCIDR ${ONCE}`)),
    ...(provider !== "" && provider !== textAt(next, "spec", "providerID")
      ? [forbidden("spec.providerID", `node updates may not change providerID ${ONCE}`)]
      : []),
  ];
}

function validatePodCidrs(object: KubeObject): Causes {
  return textsAt(object, "spec", "podCIDRs").flatMap((cidr, index) =>
    isCidr(cidr) ? [] : [invalid(`spec.podCIDRs[${index}]`, cidr, CIDR_MESSAGE)],
  );
}

const EVENT_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;

/** Events of either group; they are stored and selected as core/v1. */
const event: KindRules = {
  name: () => [],
  createOnUpdate: true,
  validate: (object) => {
    const [namespace, own] = [textAt(object, "involvedObject", "namespace"), object.metadata.namespace ?? ""];
    const expected = namespace === "" ? "default" : namespace;
    return textAt(object, "eventTime") === "" && own !== expected
      ? [invalid("involvedObject.namespace", namespace, "does not match event.namespace")]
      : [];
  },
  fieldSelectors: {
    ...Object.fromEntries(
      EVENT_FIELDS.map((name) => [`involvedObject.${name}`, (object: KubeObject) => textAt(object, "involvedObject", name)]),
    ),
    reason: (object) => textAt(object, "reason"),
    reportingComponent: (object) => textAt(object, "reportingComponent"),
    source: (object) => textAt(object, "source", "component") || textAt(object, "reportingComponent"),
    type: (object) => textAt(object, "type"),
  },
  cells: eventCells,
};

const newEvent: KindRules = {
  name: () => [],
  createOnUpdate: true,
  validate: validateNewEvent,
  fieldSelectors: {
    ...Object.fromEntries(EVENT_FIELDS.map((name) => [`regarding.${name}`, (object: KubeObject) => textAt(object, "regarding", name)])),
    reason: (object) => textAt(object, "reason"),
    reportingController: (object) => textAt(object, "reportingController"),
    type: (object) => textAt(object, "type"),
  },
};

function validateNewEvent(object: KubeObject, previous: KubeObject | undefined): Causes {
  if (previous !== undefined && textAt(previous, "eventTime") === "") return [];
  const missing = (name: string) => (textAt(object, name) === "" ? [required(name)] : []);
  const type = textAt(object, "type");
  const wrongType = ["Normal", "Warning"].includes(type) ? [] : [invalid("type", "", `has invalid value: ${type}`)];
  if (textAt(object, "eventTime") === "") return [required("eventTime"), ...wrongType];
  return [
    ...missing("reportingController"),
    ...invalidEach("reportingController", textAt(object, "reportingController"), qualifiedName(textAt(object, "reportingController"))),
    ...missing("reportingInstance"),
    ...missing("action"),
    ...missing("reason"),
    ...wrongType,
  ];
}

export const coreKinds: RulesByKind = {
  Namespace: namespace,
  Node: node,
  Event: event,
  Endpoints: endpoints,
  LimitRange: limitRange,
  ResourceQuota: resourceQuota,
};

export const eventKinds: RulesByKind = { Event: newEvent };
