/** The rules of every kind that has any, by "group/Kind". */
import { flowSchemaCells, priorityLevelCells, resourceClaimCells, valuesThenAge } from "../cells/others.ts";
import { at, objectAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { immutable, notSupported, required } from "../rules/causes.ts";
import { dnsLabel, pathSegment } from "../rules/formats.ts";
import { requiredText } from "../rules/shared.ts";
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
    name: pathSegment,
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
    name: pathSegment,
    generation: specOf,
    validate: (object) =>
      textAt(object, "spec", "type") === "Limited" && textAt(object, "spec", "limited", "limitResponse", "type") === ""
        ? [required("spec.limited.limitResponse.type")]
        : [],
    cells: priorityLevelCells,
  },
};

const resourceKinds: RulesByKind = {
  DeviceClass: { generation: specOf, deletion: { answersObject: true } },
  ResourceClaim: { deletion: { answersObject: true }, cells: resourceClaimCells },
  ResourceClaimTemplate: { deletion: { answersObject: true } },
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
    createOnUpdate: true,
    needsVersionOnUpdate: true,
    validate: (object) => requiredText("handler", textAt(object, "handler"), dnsLabel),
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
