/**
 * Which fields a write to a built-in kind never owns, because the server puts them back: the status in writes to the object, the spec
 * in writes to its status. From the strategies of Kubernetes 1.36; kinds without a status reset nothing.
 */
import { excluding, type FieldFilter, type ResetFields } from "./field-filter.ts";
import { fieldSetOf } from "./field-set.ts";
import { fieldPath } from "./path-element.ts";

const without = (...paths: readonly (readonly string[])[]): FieldFilter =>
  excluding(fieldSetOf(...paths.map((path) => fieldPath(...path))));

const NO_STATUS = without(["status"]);
const NO_SPEC = without(["spec"]);
const ONLY_STATUS = without(["metadata"], ["spec"]);

/** Kinds with a status whose other metadata may be written through it. */
const SPEC_IS_RESET = new Set(
  "apps/DaemonSet apps/ReplicaSet apps/StatefulSet autoscaling/HorizontalPodAutoscaler batch/CronJob batch/Job networking.k8s.io/Ingress policy/PodDisruptionBudget /Namespace /Node /PersistentVolume /PersistentVolumeClaim /ReplicationController /ResourceQuota /Service".split(
    " ",
  ),
);
/** Kinds with a status through which nothing else may be written; custom resources too. */
const ALL_IS_RESET = new Set(
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy apiextensions.k8s.io/CustomResourceDefinition apiregistration.k8s.io/APIService flowcontrol.apiserver.k8s.io/FlowSchema flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration networking.k8s.io/ServiceCIDR resource.k8s.io/ResourceClaim storage.k8s.io/VolumeAttachment".split(
    " ",
  ),
);

const SPECIAL: ReadonlyMap<string, FieldFilter> = new Map([
  ["apps/Deployment", NO_STATUS],
  ["apps/Deployment/status", without(["spec"], ["metadata", "labels"])],
  ["/Pod", NO_STATUS],
  ["/Pod/status", without(["spec"], ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"])],
  ["/Namespace/finalize", NO_STATUS],
  ["certificates.k8s.io/CertificateSigningRequest", without(["spec"], ["status"])],
  ["certificates.k8s.io/CertificateSigningRequest/status", without(["spec"], ["status", "conditions"])],
  ["certificates.k8s.io/CertificateSigningRequest/approval", without(["spec"], ["status", "certificate"])],
]);

/** `resetFields` of a built-in kind; its versions reset the same fields. */
export function resetFieldsOf(
  kind: { readonly group: string; readonly kind: string; readonly subresource?: string | undefined },
  apiVersions: readonly string[],
): ResetFields {
  const filter = filterOf(`${kind.group}/${kind.kind}`, kind.subresource ?? "");
  return new Map(filter === undefined ? [] : apiVersions.map((apiVersion) => [apiVersion, filter]));
}

/** `resetFields` of a custom resource in one version, when that version has a status subresource. */
export function resetFieldsOfCustom(apiVersion: string, subresource?: string): ResetFields {
  return new Map([[apiVersion, subresource === "status" ? ONLY_STATUS : NO_STATUS]]);
}

function filterOf(name: string, subresource: string): FieldFilter | undefined {
  const special = SPECIAL.get(subresource === "" ? name : `${name}/${subresource}`);
  if (special !== undefined || (subresource !== "" && subresource !== "status")) return special;
  if (SPEC_IS_RESET.has(name)) return subresource === "" ? NO_STATUS : NO_SPEC;
  if (ALL_IS_RESET.has(name)) return subresource === "" ? NO_STATUS : ONLY_STATUS;
  return undefined;
}
