/** HorizontalPodAutoscaler. */
import type { JsonObject } from "#kube";
import { autoscalerCells } from "../cells/others.ts";
import { at, numberAt, objectAt, objectsAt, textAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, forbidden, invalid, invalidEach, notSupported, required } from "../rules/causes.ts";
import { dnsLabel, pathSegment } from "../rules/formats.ts";
import { validateContainerResourceName } from "../rules/pod/resources.ts";
import { ifSetOneOf, requiredText } from "../rules/shared.ts";
import { autoscalerToV2, withCpuTarget } from "../versions/autoscaler.ts";

/** Checked as v2, whatever version it came in. */
const autoscaler: KindRules = {
  onUpdate: "spec-between",
  versionAnnotations: ["metrics", "current-metrics", "conditions", "behavior"].map((name) => `autoscaling.alpha.kubernetes.io/${name}`),
  complete: withCpuTarget,
  isComplete: ({ apiVersion }) => apiVersion !== "autoscaling/v1",
  validate: (object) => validateAutoscaler(objectAt(autoscalerToV2(object), "spec") ?? {}),
  cells: (object, now) => autoscalerCells(autoscalerToV2(object), now),
};

function validateAutoscaler(spec: JsonObject): Causes {
  const [min, max] = [numberAt(spec, "minReplicas"), numberAt(spec, "maxReplicas") ?? 0];
  return [
    ...(min !== undefined && min < 1 ? [invalid("spec.minReplicas", min, "must be greater than or equal to 1")] : []),
    ...(max === 0 ? [required("spec.maxReplicas", "must be set and greater than 0")] : []),
    ...(max < 0 ? [invalid("spec.maxReplicas", max, "must be greater than or equal to 1")] : []),
    ...(min !== undefined && max < min ? [invalid("spec.maxReplicas", max, "must be greater than or equal to `minReplicas`")] : []),
    ...validateTarget(objectAt(spec, "scaleTargetRef") ?? {}),
    ...objectsAt(spec, "metrics").flatMap((metric, index) => validateMetric(metric, `spec.metrics[${index}]`)),
    ...(min === 0 && !objectsAt(spec, "metrics").some(({ type }) => type === "Object" || type === "External")
      ? [forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas")]
      : []),
    ...["scaleUp", "scaleDown"].flatMap((direction) =>
      validateScalingRules(objectAt(spec, "behavior", direction), `spec.behavior.${direction}`),
    ),
  ];
}

function validateTarget(target: JsonObject): Causes {
  const apiVersion = textAt(target, "apiVersion");
  const ungrouped = !apiVersion.includes("/") && !(apiVersion === "v1" && textAt(target, "kind") === "ReplicationController");
  return [
    ...requiredText("spec.scaleTargetRef.kind", textAt(target, "kind"), pathSegment),
    ...requiredText("spec.scaleTargetRef.name", textAt(target, "name"), pathSegment),
    ...(ungrouped ? [invalid("spec.scaleTargetRef.apiVersion", apiVersion, "apiVersion must specify API group")] : []),
  ];
}

const SOURCES = new Map([
  ["ContainerResource", "containerResource"],
  ["External", "external"],
  ["Object", "object"],
  ["Pods", "pods"],
  ["Resource", "resource"],
]);

function validateMetric(metric: JsonObject, path: string): Causes {
  const type = textAt(metric, "type");
  const source = SOURCES.get(type);
  if (source === undefined) {
    const unknown = notSupported(`${path}.type`, type, [...SOURCES.keys()]);
    return [...(type === "" ? [required(`${path}.type`, "must specify a metric source type")] : []), unknown, unknown];
  }
  const value = objectAt(metric, source);
  if (value === undefined) return [required(`${path}.${source}`, "must populate information for the given metric source")];
  return source === "resource" || source === "containerResource"
    ? validateResourceMetric(value, `${path}.${source}`)
    : validateNamedMetric(value, source, `${path}.${source}`);
}

function validateNamedMetric(value: JsonObject, source: string, path: string): Causes {
  const name = textAt(value, "metric", "name");
  const target = objectAt(value, "target") ?? {};
  const [amount, average] = [at(target, "value"), at(target, "averageValue")];
  const described =
    source === "object"
      ? ["kind", "name"].flatMap((part) =>
          requiredText(`${path}.describedObject.${part}`, textAt(value, "describedObject", part), pathSegment),
        )
      : [];
  const unset = source === "pods" ? average === undefined : amount === undefined && average === undefined;
  const [field, message] =
    source === "pods"
      ? ["averageValue", "must specify a positive target averageValue"]
      : [
          "averageValue",
          source === "object"
            ? "must set either a target value or averageValue"
            : "must set either a target value for metric or a per-pod target",
        ];
  return [
    ...described,
    ...(name === ""
      ? [required(`${path}.metric.name`, "must specify a metric name")]
      : invalidEach(`${path}.metric.name`, name, pathSegment(name))),
    ...validateTargetType(target, `${path}.target`),
    ...(unset ? [required(`${path}.target.${field}`, message)] : []),
  ];
}

function validateTargetType(target: JsonObject, path: string): Causes {
  const type = textAt(target, "type");
  return [
    ...(type === "" ? [required(`${path}.type`, "must specify a metric target type")] : []),
    ...(["Utilization", "Value", "AverageValue"].includes(type)
      ? []
      : [invalid(`${path}.type`, type, "must be either Utilization, Value, or AverageValue")]),
  ];
}

function validateContainer(container: string, path: string): Causes {
  return container === "" ? [required(path, "must specify a container")] : invalidEach(path, container, dnsLabel(container));
}

function validateResourceMetric(source: JsonObject, path: string): Causes {
  const name = textAt(source, "name");
  const target = objectAt(source, "target") ?? {};
  const [utilisation, average] = [numberAt(target, "averageUtilization"), at(target, "averageValue")];
  return [
    ...(name === "" ? [required(`${path}.name`, "must specify a resource name")] : validateContainerResourceName(name, `${path}.name`)),
    ...(path.endsWith(".containerResource") ? validateContainer(textAt(source, "container"), `${path}.container`) : []),
    ...validateTargetType(target, `${path}.target`),
    ...(utilisation !== undefined && utilisation < 1
      ? [invalid(`${path}.target.averageUtilization`, utilisation, "must be greater than 0")]
      : []),
    ...(utilisation === undefined && average === undefined
      ? [required(`${path}.target.averageUtilization`, "must set either a target raw value or a target utilization")]
      : []),
    ...(utilisation !== undefined && average !== undefined
      ? [forbidden(`${path}.target.averageValue`, "may not set both a target raw value and a target utilization")]
      : []),
  ];
}

function validateScalingRules(rules: JsonObject | undefined, path: string): Causes {
  if (rules === undefined) return [];
  const window = numberAt(rules, "stabilizationWindowSeconds");
  return [
    ...(window !== undefined && window < 0
      ? [invalid(`${path}.stabilizationWindowSeconds`, window, "must be greater than or equal to zero")]
      : []),
    ...(window !== undefined && window > 3600
      ? [invalid(`${path}.stabilizationWindowSeconds`, window, "must be less than or equal to 3600")]
      : []),
    ...ifSetOneOf(`${path}.selectPolicy`, rules["selectPolicy"], ["Disabled", "Max", "Min"]),
    ...(objectsAt(rules, "policies").length === 0 ? [required(`${path}.policies`, "must specify at least one Policy")] : []),
    ...objectsAt(rules, "policies").flatMap((policy, index) => validateScalingPolicy(policy, `${path}.policies[${index}]`)),
  ];
}

function validateScalingPolicy(policy: JsonObject, path: string): Causes {
  const [value, period] = [numberAt(policy, "value") ?? 0, numberAt(policy, "periodSeconds") ?? 0];
  return [
    ...ifSetOneOf(`${path}.type`, textAt(policy, "type"), ["Percent", "Pods"]),
    ...(value <= 0 ? [invalid(`${path}.value`, value, "must be greater than zero")] : []),
    ...(period <= 0 ? [invalid(`${path}.periodSeconds`, period, "must be greater than zero")] : []),
    ...(period > 1800 ? [invalid(`${path}.periodSeconds`, period, "must be less than or equal to 1800")] : []),
  ];
}

export const autoscalingKinds: RulesByKind = { HorizontalPodAutoscaler: autoscaler };
