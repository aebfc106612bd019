/**
 * Defaults that depend on other fields, by the type they belong to. They change the draft they are given, and what is nested in it only by
 * way of `childOf` and `draftsAt`; parents come before children.
 */
import type { JsonObject } from "#kube";
import { at, childOf, type Draft, draftsAt, isTrueAt, listAt, numberAt, objectAt, objectsAt, setField, textAt, textsAt } from "../draft.ts";
import { defaultPodResources } from "./pod-resources.ts";
import { mergeStringData } from "./secret-data.ts";
import {
  defaultAutoscaler,
  defaultController,
  defaultJob,
  defaultRollingUpdate,
  defaultStatefulSetStrategy,
  fillIn,
  nameClaimTemplates,
} from "./workload-defaults.ts";

export type ComputeDefaults = (draft: Draft) => void;

export const COMPUTED_DEFAULTS: ReadonlyMap<string, ComputeDefaults> = new Map<string, ComputeDefaults>([
  ["core.v1.Pod", defaultPod],
  ["core.v1.PodSpec", alignServiceAccount],
  ["core.v1.PodStatus", alignAddresses],
  ["core.v1.Container", defaultPullPolicy],
  ["core.v1.EphemeralContainer", defaultPullPolicy],
  ["core.v1.Volume", defaultVolume],
  ["core.v1.ServiceSpec", defaultService],
  ["core.v1.LoadBalancerIngress", defaultIpMode],
  ["core.v1.Namespace", defaultNamespace],
  ["core.v1.Secret", mergeStringData],
  ["core.v1.NodeStatus", (status) => fillIn(status, "allocatable", at(status, "capacity"))],
  ["core.v1.NodeSpec", alignPodCidrs],
  ["core.v1.LimitRangeItem", defaultLimits],
  ["core.v1.ReplicationController", defaultController],
  ["core.v1.PersistentVolumeClaim", (claim) => fillIn(childOf(claim, "status"), "phase", "Pending")],
  ["apps.v1.DeploymentStrategy", (strategy) => defaultRollingUpdate(strategy)],
  ["apps.v1.DaemonSetUpdateStrategy", (strategy) => defaultRollingUpdate(strategy)],
  ["apps.v1.StatefulSetUpdateStrategy", defaultStatefulSetStrategy],
  ["apps.v1.StatefulSetSpec", nameClaimTemplates],
  ["batch.v1.Job", defaultJob],
  ["autoscaling.v2.HorizontalPodAutoscalerSpec", defaultAutoscaler],
  ["networking.v1.NetworkPolicySpec", defaultPolicyTypes],
  ["rbac.v1.RoleBinding", defaultRoleRef],
  ["rbac.v1.ClusterRoleBinding", defaultRoleRef],
  ["rbac.v1.Subject", defaultSubject],
  ["resource.v1.ExactDeviceRequest", defaultDeviceCount],
  ["resource.v1.DeviceSubRequest", defaultDeviceCount],
]);

function defaultPod(pod: Draft): void {
  const spec = childOf(pod, "spec");
  defaultPodResources(spec);
  fillIn(spec, "enableServiceLinks", true);
  if (!isTrueAt(spec, "hostNetwork")) return;
  for (const list of ["containers", "initContainers"]) {
    for (const port of draftsAt(spec, list).flatMap((container) => draftsAt(container, "ports"))) {
      if ((numberAt(port, "hostPort") ?? 0) === 0) port["hostPort"] = numberAt(port, "containerPort") ?? 0;
    }
  }
}

/** The old name of the field still works, and is always shown with the new one. */
function alignServiceAccount(spec: Draft): void {
  const name = textAt(spec, "serviceAccountName") || textAt(spec, "serviceAccount");
  if (name === "") return;
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
}

/** podIP is the first of podIPs, whichever of the two was set; the older field takes precedence. Host addresses have no such rule. */
function alignAddresses(status: Draft): void {
  const [single, first] = [textAt(status, "podIP"), textAt(objectsAt(status, "podIPs")[0], "ip")];
  if (single === first) return;
  if (single === "") status["podIP"] = first;
  else status["podIPs"] = [{ ip: single }];
}

function defaultPullPolicy(container: Draft): void {
  if (textAt(container, "imagePullPolicy") === "") container["imagePullPolicy"] = pullPolicyOf(textAt(container, "image"));
}

/** ":latest", or no tag and no digest, is pulled every time. */
function pullPolicyOf(image: string): string {
  const [repository = "", digest] = image.split("@");
  const tag = /:([\w][\w.-]{0,127})$/.exec(repository)?.[1];
  const parses =
    /^(?:[a-zA-Z0-9.-]+(?::[0-9]+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?$/.test(
      repository,
    );
  return parses && (tag === "latest" || (tag === undefined && digest === undefined)) ? "Always" : "IfNotPresent";
}

function defaultVolume(volume: Draft): void {
  const sources = Object.keys(volume).filter((name) => name !== "name" && volume[name] !== undefined);
  if (sources.length === 0) volume["emptyDir"] = {};
  const image = objectAt(volume, "image");
  if (image !== undefined && textAt(image, "pullPolicy") === "")
    childOf(volume, "image")["pullPolicy"] = pullPolicyOf(textAt(image, "reference"));
}

function defaultService(spec: Draft): void {
  const type = textAt(spec, "type");
  if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"] === "ClientIP" && numberAt(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") === undefined) {
    spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: 10_800 } };
  }
  if (objectsAt(spec, "ports").some(lacksTarget))
    for (const port of draftsAt(spec, "ports")) if (lacksTarget(port)) port["targetPort"] = port["port"];
  const external = type === "NodePort" || type === "LoadBalancer" || (type === "ClusterIP" && listAt(spec, "externalIPs").length > 0);
  if (external && textAt(spec, "externalTrafficPolicy") === "") spec["externalTrafficPolicy"] = "Cluster";
  if (["NodePort", "LoadBalancer", "ClusterIP"].includes(type)) fillIn(spec, "internalTrafficPolicy", "Cluster");
  if (type === "LoadBalancer") fillIn(spec, "allocateLoadBalancerNodePorts", true);
}

function defaultIpMode(place: Draft): void {
  if (textAt(place, "ip") !== "") fillIn(place, "ipMode", "VIP");
}

function lacksTarget({ targetPort }: JsonObject): boolean {
  return targetPort === undefined || targetPort === 0 || targetPort === "";
}

function defaultNamespace(namespace: Draft): void {
  const meta = childOf(namespace, "metadata");
  const name = textAt(meta, "name");
  if (name !== "") childOf(meta, "labels")["kubernetes.io/metadata.name"] = name;
}

/** The old field equals the first item of the new list; the old field takes precedence. */
function alignPodCidrs(spec: Draft): void {
  const [single, list] = [textAt(spec, "podCIDR"), textsAt(spec, "podCIDRs")];
  if (single !== "") spec["podCIDRs"] = single === list[0] ? list : [single];
  else if (list[0] !== undefined) spec["podCIDR"] = list[0];
}

function defaultLimits(item: Draft): void {
  if (item["type"] !== "Container") return;
  const merge = (into: string, from: string) => {
    for (const [name, value] of Object.entries(objectAt(item, from) ?? {})) {
      const target = childOf(item, into);
      if (!Object.hasOwn(target, name)) setField(target, name, value);
    }
  };
  merge("default", "max");
  merge("defaultRequest", "default");
  merge("defaultRequest", "min");
}

function defaultPolicyTypes(spec: Draft): void {
  if (listAt(spec, "policyTypes").length > 0) return;
  spec["policyTypes"] = listAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}

const RBAC = "rbac.authorization.k8s.io";

function defaultRoleRef(binding: Draft): void {
  const roleRef = childOf(binding, "roleRef");
  if (textAt(roleRef, "apiGroup") === "") roleRef["apiGroup"] = RBAC;
}

function defaultSubject(subject: Draft): void {
  const named = subject["kind"] === "User" || subject["kind"] === "Group";
  if (named && textAt(subject, "apiGroup") === "") subject["apiGroup"] = RBAC;
}

function defaultDeviceCount(request: Draft): void {
  if (request["allocationMode"] === "ExactCount" && (numberAt(request, "count") ?? 0) === 0) request["count"] = 1;
}
