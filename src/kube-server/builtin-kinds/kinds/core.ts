/** Namespace, Node, Event, Endpoints, LimitRange, ResourceQuota. */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { namespaceCells, nodeCells } from "../cells/core.ts";
import { at, childOf, entriesAt, isTrueAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, duplicate, forbidden, invalid, invalidEach } from "../rules/causes.ts";
import { dnsLabel, labelValue, qualifiedName } from "../rules/formats.ts";
import { kubeFinalizer } from "../rules/object-meta.ts";
import { validateQuantity } from "../rules/pod/resources.ts";
import { CIDR_MESSAGE, isCidr, oneOf } from "../rules/shared.ts";
import { event } from "./event.ts";
import { endpoints } from "./endpoints.ts";
import { limitRange, resourceQuota } from "./quotas.ts";

const namespace: KindRules = {
  name: dnsLabel,
  onUpdate: "meta-and-spec-first",
  prepareCreate: (draft) => {
    const finalizers = textsAt(draft, "spec", "finalizers");
    if (!finalizers.includes("kubernetes")) childOf(draft, "spec")["finalizers"] = [...finalizers, "kubernetes"];
    draft["status"] = { phase: "Active" };
    // a generated name comes too late for the defaults
    const name = textAt(draft, "metadata", "name");
    if (name !== "") childOf(childOf(draft, "metadata"), "labels")["kubernetes.io/metadata.name"] = name;
  },
  prepareUpdate: (draft, previous) => {
    const finalizers = at(previous, "spec", "finalizers");
    const spec = childOf(draft, "spec");
    if (finalizers === undefined) delete spec["finalizers"];
    else spec["finalizers"] = finalizers;
  },
  validate: (object, previous) =>
    textsAt(object, "spec", "finalizers").flatMap((finalizer, index) => {
      // a new one gets all finalizers
      const path = previous === undefined ? "spec.finalizers" : `spec.finalizers[${index}]`;
      return [...invalidEach(path, finalizer, qualifiedName(finalizer)), ...kubeFinalizer(finalizer, path)];
    }),
  validateStatus: (next) => {
    const [dying, phase] = [textAt(next, "metadata", "deletionTimestamp") !== "", textAt(next, "status", "phase")];
    const [only, when] = dying ? ["Terminating", "is not empty"] : ["Active", "is empty"];
    return phase === only ? [] : [invalid("status.Phase", phase, `may only be '${only}' if \`deletionTimestamp\` ${when}`)];
  },
  deletion: { answersObject: true },
  fieldSelectors: { "status.phase": (object) => textAt(object, "status", "phase") },
  cells: namespaceCells,
};

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

const node: KindRules = {
  keepsStatusOnCreate: true,
  onUpdate: "meta-and-spec-first",
  validate: (object) => [
    ...validateTaints(objectsAt(object, "spec", "taints")),
    ...validateNodeResources(object),
    ...validatePodCidrs(object),
  ],
  validateUpdate: validateNodeUpdate,
  validateStatus: validateNodeUpdate,
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

function validateNodeResources(object: KubeObject): Causes {
  return ["capacity", "allocatable"].flatMap((list) =>
    entriesAt(object, "status", list).flatMap(([name, amount]) => validateQuantity(name, amount, `status.${list}.${name}`)),
  );
}

function repeatedAddresses(object: KubeObject): Causes {
  const addresses = objectsAt(object, "status", "addresses").map(({ type, address }) => ({ Type: type ?? "", Address: address ?? "" }));
  return addresses.flatMap((one, index) =>
    addresses.findIndex((other) => jsonEqual(other, one)) < index ? [duplicate(`status.addresses[${index}]`, one)] : [],
  );
}

const ONCE = 'except from "" to valid';

/** podCIDRs and providerID cannot be changed once set. A real server validates the rest twice, so causes are duplicated. */
function validateNodeUpdate(next: KubeObject, previous: KubeObject): Causes {
  const [now, before] = [textsAt(next, "spec", "podCIDRs"), textsAt(previous, "spec", "podCIDRs")];
  const moved = now.length === before.length ? before.filter((cidr, index) => cidr !== now[index]).length : Math.sign(before.length);
  const provider = textAt(previous, "spec", "providerID");
  return [
    ...validateNodeResources(next),
    ...repeatedAddresses(next),
    ...Array.from({ length: moved }, () => forbidden("spec.podCIDRs", `node updates may not change podCIDR ${ONCE}`)),
    ...(provider !== "" && provider !== textAt(next, "spec", "providerID")
      ? [forbidden("spec.providerID", `node updates may not change providerID ${ONCE}`)]
      : []),
    ...validateTaints(objectsAt(next, "spec", "taints")),
  ];
}

function validatePodCidrs(object: KubeObject): Causes {
  const all = textsAt(object, "spec", "podCIDRs");
  const wrong = all.flatMap((cidr, index) => (isCidr(cidr) ? [] : [invalid(`spec.podCIDRs[${index}]`, cidr, CIDR_MESSAGE)]));
  const isDual = all.length === 2 && all.some((cidr) => cidr.includes(":")) && all.some((cidr) => !cidr.includes(":"));
  if (all.length < 2 || wrong.length > 0 || isDual) return wrong;
  return [invalid("spec.podCIDRs", [...all], "may specify no more than one CIDR for each IP family")];
}

export const coreKinds: RulesByKind = {
  Namespace: namespace,
  Node: node,
  Event: event,
  Endpoints: endpoints,
  LimitRange: limitRange,
  ResourceQuota: resourceQuota,
};
