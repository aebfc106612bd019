/** The rules of every kind that has any, by "group/Kind". */
import { jsonEqual, type KubeObject } from "#kube";
import { flowSchemaCells, priorityLevelCells, resourceClaimCells, valuesThenAge } from "../cells/others.ts";
import { at, objectAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { forbidden, immutable, invalid, notSupported, required, type Causes } from "../rules/causes.ts";
import { dnsLabel, longName } from "../rules/formats.ts";
import { validateLabels } from "../rules/object-meta.ts";
import { validateRequirements } from "../rules/pod/resources.ts";
import { validateTolerations } from "../rules/pod/scheduling.ts";
import { oneOf, requiredText } from "../rules/shared.ts";
import type { ServiceAddresses } from "../service-addresses.ts";
import { admissionKinds } from "./admission.ts";
import { registrationKinds } from "./api-service.ts";
import { appsKinds } from "./apps.ts";
import { certificateKinds } from "./certificates.ts";
import { batchKinds } from "./batch.ts";
import { configKinds } from "./config.ts";
import { coreKinds } from "./core.ts";
import { eventKinds } from "./event.ts";
import { discoveryKinds } from "./endpoint-slice.ts";
import { networkingKinds } from "./networking.ts";
import { podKinds } from "./pod.ts";
import { rbacKinds } from "./rbac.ts";
import { coordinationKinds, policyKinds, schedulingKinds } from "./scaling.ts";
import { autoscalingKinds } from "./autoscaler.ts";
import { serviceRules } from "./service.ts";
import { storageKinds, volumeKinds } from "./volumes.ts";

const specOf: KindRules["generation"] = (object) => at(object, "spec");

/** Kinds that few people meet: generation, deletion and their row in a table. */
const flowcontrolKinds: RulesByKind = {
  FlowSchema: {
    statusKeepsMeta: true,
    generation: specOf,
    validate: (object) => {
      const method = textAt(object, "spec", "distinguisherMethod", "type");
      return [
        ...(textAt(object, "spec", "priorityLevelConfiguration", "name") === ""
          ? [required("spec.priorityLevelConfiguration.name", "must reference a priority level")]
          : []),
        ...(objectAt(object, "spec", "distinguisherMethod") === undefined || ["ByNamespace", "ByUser"].includes(method)
          ? []
          : [notSupported("spec.distinguisherMethod.type", { Type: method }, ["ByNamespace", "ByUser"])]),
      ];
    },
    cells: flowSchemaCells,
  },
  PriorityLevelConfiguration: {
    statusKeepsMeta: true,
    generation: specOf,
    validate: validatePriorityLevel,
    cells: priorityLevelCells,
  },
};

function validatePriorityLevel(object: KubeObject): Causes {
  const type = textAt(object, "spec", "type");
  const exempt = (textAt(object, "metadata", "name") === "exempt") === (type === "Exempt");
  const rank = exempt ? [] : [invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'")];
  return [...rank, ...oneOf("spec.type", type, ["Exempt", "Limited"]), ...(type === "Limited" ? validateLimited(object) : [])];
}

function validateLimited(object: KubeObject): Causes {
  const limited = objectAt(object, "spec", "limited");
  if (limited === undefined) return [required("spec.limited", "must not be empty when type is Limited")];
  const path = "spec.limited.limitResponse";
  const [type, queuing] = [textAt(limited, "limitResponse", "type"), objectAt(limited, "limitResponse", "queuing")];
  return [
    ...oneOf(`${path}.type`, type, ["Queue", "Reject"]),
    ...(type === "Queue" && queuing === undefined
      ? [required(`${path}.queuing`, "must not be empty if limited.limitResponse.type is Limited")]
      : []),
    ...(type === "Reject" && queuing !== undefined
      ? [forbidden(`${path}.queuing`, "must be nil if limited.limitResponse.type is not Limited")]
      : []),
  ];
}

const fixedSpec: KindRules["validateUpdate"] = (next, previous) =>
  jsonEqual(at(next, "spec"), at(previous, "spec")) ? [] : [immutable("spec", at(next, "spec") ?? null)];

const resourceKinds: RulesByKind = {
  DeviceClass: {
    name: longName,
    anyGenerateName: true,
    generation: specOf,
    onUpdate: "meta-and-spec-first",
    deletion: { answersObject: true },
  },
  ResourceClaim: {
    onUpdate: "meta-and-spec-first",
    statusKeepsMeta: true,
    validateUpdate: fixedSpec,
    deletion: { answersObject: true },
    cells: resourceClaimCells,
  },
  ResourceClaimTemplate: { onUpdate: "meta-and-spec-first", validateUpdate: fixedSpec, deletion: { answersObject: true } },
  ResourceSlice: {
    generation: specOf,
    fieldSelectors: {
      "spec.driver": (object) => textAt(object, "spec", "driver"),
      "spec.nodeName": (object) => textAt(object, "spec", "nodeName"),
    },
    deletion: { answersObject: true },
    cells: valuesThenAge(
      (object) => textAt(object, "spec", "nodeName"),
      (object) => textAt(object, "spec", "driver"),
      (object) => textAt(object, "spec", "pool", "name"),
    ),
  },
};

const nodeKinds: RulesByKind = {
  RuntimeClass: {
    ownMeta: "plain",
    onUpdate: "meta-and-spec-first",
    createOnUpdate: true,
    needsVersionOnUpdate: true,
    validate: (object) => [
      ...requiredText("handler", textAt(object, "handler"), dnsLabel),
      ...validateRequirements({ limits: objectAt(object, "overhead", "podFixed") ?? {} }, "overhead", new Set()),
      ...validateLabels(at(object, "scheduling", "nodeSelector"), "scheduling.nodeSelector"),
      ...validateTolerations(objectAt(object, "scheduling") ?? {}, "scheduling.tolerations"),
    ],
    validateUpdate: (next, previous) => {
      const handler = textAt(next, "handler");
      return handler === textAt(previous, "handler") ? [] : [immutable("handler", handler)];
    },
    cells: valuesThenAge((object) => textAt(object, "handler")),
  },
};

const GROUPS: readonly (readonly [string, RulesByKind])[] = [
  ["", { ...coreKinds, ...podKinds, ...configKinds, ...volumeKinds }],
  ["apps", appsKinds],
  ["batch", batchKinds],
  ["autoscaling", autoscalingKinds],
  ["policy", policyKinds],
  ["networking.k8s.io", networkingKinds],
  ["discovery.k8s.io", discoveryKinds],
  ["rbac.authorization.k8s.io", rbacKinds],
  ["storage.k8s.io", storageKinds],
  ["coordination.k8s.io", coordinationKinds],
  ["scheduling.k8s.io", schedulingKinds],
  ["admissionregistration.k8s.io", admissionKinds],
  ["events.k8s.io", eventKinds],
  ["flowcontrol.apiserver.k8s.io", flowcontrolKinds],
  ["resource.k8s.io", resourceKinds],
  ["node.k8s.io", nodeKinds],
  ["certificates.k8s.io", certificateKinds],
  ["apiregistration.k8s.io", registrationKinds],
];

export function rulesOf(addresses: ServiceAddresses | undefined): ReadonlyMap<string, KindRules> {
  const all = GROUPS.flatMap(([group, kinds]) => Object.entries(kinds).map(([kind, rules]) => [`${group}/${kind}`, rules] as const));
  return new Map([...all, ["/Service", serviceRules(addresses)]]);
}
