/** PodDisruptionBudget, Lease, PriorityClass. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { disruptionBudgetCells, priorityClassCells, valuesThenAge } from "../cells/others.ts";
import { at, childOf, type Draft, numberAt, objectAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, immutable, invalid, nonNegative } from "../rules/causes.ts";
import { validateConditions } from "../rules/conditions.ts";
import { pathSegment } from "../rules/formats.ts";
import { ifSetOneOf, intOrPercent, notMoreThan100Percent, validateLabelSelector } from "../rules/shared.ts";

const disruptionBudget: KindRules = {
  ownMeta: "none",
  name: pathSegment,
  needsVersionOnUpdate: true,
  generation: (object) => at(object, "spec"),
  validate: (object) => {
    const [min, max] = [at(object, "spec", "minAvailable"), at(object, "spec", "maxUnavailable")];
    return [
      ...(min !== undefined && max !== undefined
        ? [invalid("spec", shownBudget(object), "minAvailable and maxUnavailable cannot be both set")]
        : []),
      ...["minAvailable", "maxUnavailable"].flatMap((name) => [
        ...intOrPercent(`spec.${name}`, at(object, "spec", name)),
        ...notMoreThan100Percent(`spec.${name}`, at(object, "spec", name)),
      ]),
      ...validateLabelSelector(objectAt(object, "spec", "selector"), "spec.selector"),
      ...ifSetOneOf("spec.unhealthyPodEvictionPolicy", at(object, "spec", "unhealthyPodEvictionPolicy"), [
        "AlwaysAllow",
        "IfHealthyBudget",
      ]),
    ];
  },
  validateStatus: (next) => [
    ...validateConditions(objectAt(next, "status"), "status.conditions"),
    ...["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"].flatMap((name) =>
      nonNegative(`status.${name}`, numberAt(next, "status", name)),
    ),
  ],
  cells: disruptionBudgetCells,
};

/** The server shows its internal struct here. */
function shownBudget(object: KubeObject): JsonObject {
  const names = ["MinAvailable", "Selector", "MaxUnavailable", "UnhealthyPodEvictionPolicy"];
  return Object.fromEntries(names.map((name) => [name, at(object, "spec", name.charAt(0).toLowerCase() + name.slice(1)) ?? null]));
}

/** Elections that the server coordinates are not on by default: their fields are dropped where they are new. */
function dropCoordination(spec: Draft, old: JsonObject | undefined): void {
  for (const name of ["strategy", "preferredHolder"]) if (at(old, name) === undefined) delete spec[name];
}

const lease: KindRules = {
  prepareCreate: (draft) => dropCoordination(childOf(draft, "spec"), undefined),
  prepareUpdate: (draft, previous) => dropCoordination(childOf(draft, "spec"), objectAt(previous, "spec")),
  createOnUpdate: true,
  needsVersionOnUpdate: true,
  ownMeta: "plain",
  onUpdate: "spec-between",
  validate: (object) => {
    const [seconds, transitions] = [numberAt(object, "spec", "leaseDurationSeconds"), numberAt(object, "spec", "leaseTransitions")];
    return [
      ...(seconds !== undefined && seconds <= 0 ? [invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")] : []),
      ...(transitions !== undefined && transitions < 0
        ? [invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")]
        : []),
    ];
  },
  cells: valuesThenAge((object) => textAt(object, "spec", "holderIdentity")),
};

const HIGHEST = 1_000_000_000;

const SYSTEM = new Set(["system-node-critical", "system-cluster-critical"]);

const priorityClass: KindRules = {
  /** The generation is set and never changes. */
  generation: () => null,
  onUpdate: "no-spec",
  validate: (object) => {
    const [name, value] = [textAt(object, "metadata", "name"), numberAt(object, "value") ?? 0];
    const reserved = name.startsWith("system-") && !SYSTEM.has(name);
    return [
      ...(reserved
        ? [
            forbidden(
              "metadata.name",
              `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
            ),
          ]
        : []),
      ...(!name.startsWith("system-") && value > HIGHEST
        ? [forbidden("value", `maximum allowed value of a user defined priority is ${HIGHEST}`)]
        : []),
      ...ifSetOneOf("preemptionPolicy", at(object, "preemptionPolicy"), ["PreemptLowerPriority", "Never"]),
    ];
  },
  validateUpdate: (next, previous) => [
    ...(numberAt(next, "value") === numberAt(previous, "value") ? [] : [forbidden("value", "may not be changed in an update.")]),
    ...(jsonEqual(at(next, "preemptionPolicy"), at(previous, "preemptionPolicy"))
      ? []
      : [immutable("preemptionPolicy", at(next, "preemptionPolicy") ?? null)]),
  ],
  cells: priorityClassCells,
};

export const policyKinds: RulesByKind = { PodDisruptionBudget: disruptionBudget };

export const coordinationKinds: RulesByKind = { Lease: lease };

export const schedulingKinds: RulesByKind = { PriorityClass: priorityClass };
