/** Label selectors as Cilium and Istio evaluate them. */
import { memoizeByObject } from "#base";
import { fieldAt, isJsonObject, type JsonObject } from "#kube";
import { labelsIn, objectsIn, textsIn, type LabelSet, type PodIdentity } from "./peers.ts";

const NAMESPACE_KEY = "io.kubernetes.pod.namespace";
const NAMESPACE_LABELS = "io.cilium.k8s.namespace.labels.";
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** `k8s:x`, `any:x` and `x` are the same key. */
function bareKey(key: string): string {
  return key.replace(/^(k8s|any)[:.]/, "");
}

type Requirement = { readonly key: string; readonly operator: string; readonly values: readonly string[] };

/** Cached, because one selector is matched against all pods. */
const requirementsOf = memoizeByObject((selector: JsonObject): readonly Requirement[] => {
  const exact = Object.entries(labelsIn(selector["matchLabels"])).map(([key, value]) => ({
    key: bareKey(key),
    operator: "In",
    values: [value],
  }));
  const others = objectsIn(selector["matchExpressions"]).map((one) => ({
    key: bareKey(typeof one["key"] === "string" ? one["key"] : ""),
    operator: typeof one["operator"] === "string" ? one["operator"] : "",
    values: textsIn(one["values"]),
  }));
  return [...exact, ...others];
});

/** A value that is not a legal label value invalidates the policy that contains it. */
export function isLegal(selector: JsonObject): boolean {
  return requirementsOf(selector).every(({ values }) => values.every((value) => LABEL_VALUE.test(value) && value.length <= 63));
}

function valueOf({ labels, namespace, namespaceLabels }: PodIdentity, key: string): string | undefined {
  if (key === NAMESPACE_KEY) return namespace;
  if (key.startsWith(NAMESPACE_LABELS)) return namespaceLabels[key.slice(NAMESPACE_LABELS.length)];
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function holds(value: string | undefined, { operator, values }: Requirement): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

/** `home`: the namespace of a peer selector without one; undefined: all namespaces. */
export function ciliumSelects(selector: JsonObject, pod: PodIdentity, home: string | undefined): boolean {
  const requirements = requirementsOf(selector);
  const namesNamespace = requirements.some(({ key }) => key === NAMESPACE_KEY || key.startsWith(NAMESPACE_LABELS));
  if (home !== undefined && !namesNamespace && pod.namespace !== home) return false;
  return requirements.every((requirement) => holds(valueOf(pod, requirement.key), requirement));
}

/** Istio's selector has matchLabels only; without a selector every workload matches. */
export function istioSelects(spec: unknown, labels: LabelSet): boolean {
  const selector = fieldAt(spec, "selector", "matchLabels");
  if (!isJsonObject(selector)) return true;
  return Object.entries(labelsIn(selector)).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}
