/** Plugins for the cluster itself: initial namespaces, system priority classes, taints of new nodes, authors of certificate requests. */
import { ok } from "#base";
import { fieldAt, type Json } from "#kube";
import { metaText } from "../../protocol/object-meta.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin } from "../../protocol/admission-port.ts";
import { withSpec, written } from "./change.ts";

const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";
const PROTECTED = new Set(["default", "kube-system", "kube-public"]);

export const protectedNamespaces: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  mutate: (attributes) => {
    const { operation, type, name, object, subresource } = attributes;
    const isDeletion = operation === "DELETE" && type.collection === "/namespaces" && subresource === undefined;
    return isDeletion && PROTECTED.has(name) ? forbid(attributes, "this namespace may not be deleted") : ok(object);
  },
};

/** No new objects of a definition that is being deleted: otherwise its deletion might never end. */
export function terminatingDefinitions({ store }: AdmissionContext): AdmissionPlugin {
  return {
    name: "TerminatingDefinitions",
    mutate: (attributes) => {
      const { operation, type, object } = attributes;
      if (operation !== "CREATE" || !type.custom) return ok(object);
      const definition = store.get(DEFINITIONS, `${type.resource.plural}.${type.resource.group}`)?.object;
      const terminating = definition !== undefined && metaText(definition, "deletionTimestamp") !== "";
      return terminating ? forbid(attributes, "create not allowed while custom resource definition is terminating") : ok(object);
    },
  };
}

const SYSTEM_CLASSES = new Set(["system-node-critical", "system-cluster-critical"]);

/** Only for a deletion by name: a real server allows the deletion of the whole collection. */
export const systemPriorityClasses: AdmissionPlugin = {
  name: "SystemPriorityClasses",
  mutate: (attributes) => {
    const { operation, type, name, object } = attributes;
    const isDeletion = operation === "DELETE" && type.collection === "scheduling.k8s.io/priorityclasses";
    return isDeletion && SYSTEM_CLASSES.has(name)
      ? forbid(attributes, "this is a system priority class and cannot be deleted")
      : ok(object);
  },
};

const NOT_READY = "node.kubernetes.io/not-ready";

/** No pod is scheduled on a node before the node reports that it is ready. */
export const taintNewNodes: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  mutate: (attributes) => {
    const object = written(attributes);
    if (object === undefined || attributes.operation !== "CREATE" || attributes.type.collection !== "/nodes") return ok(attributes.object);
    const known = fieldAt(object, "spec", "taints");
    const taints: readonly Json[] = Array.isArray(known) ? known : [];
    const has = taints.some((taint) => fieldAt(taint, "key") === NOT_READY && fieldAt(taint, "effect") === "NoSchedule");
    return ok(has ? object : withSpec(object, { taints: [...taints, { key: NOT_READY, effect: "NoSchedule" }] }));
  },
};

/** The author in the spec of a certificate request is the authenticated user, whatever the client sent. */
export const certificateRequester: AdmissionPlugin = {
  name: "CertificateRequester",
  mutate: (attributes) => {
    const object = written(attributes);
    const ofRequest = attributes.type.collection === "certificates.k8s.io/certificatesigningrequests";
    if (object === undefined || attributes.operation !== "CREATE" || !ofRequest) return ok(attributes.object);
    const { name, uid, groups, extra = new Map<string, readonly string[]>() } = attributes.user;
    const more = { uid: uid === "" ? undefined : uid, extra: extra.size === 0 ? undefined : Object.fromEntries(extra) };
    return ok(withSpec(object, { username: name, groups: [...groups], ...more }));
  },
};
