/** What a cluster protects and notes by itself: its first namespaces and priorities, nodes that are not ready yet, who asks for a certificate. */
import { ok } from "#base";
import { fieldAt, type Json } from "#kube";
import { metaText } from "../../protocol/object-meta.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin } from "../../protocol/admission-port.ts";
import { withSpec, written } from "./change.ts";

const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

export const immortalNamespaces: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  mutate: (attributes) => {
    const { operation, type, name, object, subresource } = attributes;
    const going = operation === "DELETE" && type.collection === "/namespaces" && subresource === undefined;
    return going && IMMORTAL.has(name) ? forbid(attributes, "this namespace may not be deleted") : ok(object);
  },
};

/** Who deletes a definition wants its objects gone: there are no new ones, whatever the old ones wait for. */
export function dyingDefinitions({ store }: AdmissionContext): AdmissionPlugin {
  return {
    name: "DyingDefinitions",
    mutate: (attributes) => {
      const { operation, type, object } = attributes;
      if (operation !== "CREATE" || !type.custom) return ok(object);
      const definition = store.get(DEFINITIONS, `${type.resource.plural}.${type.resource.group}`)?.object;
      const dying = definition !== undefined && metaText(definition, "deletionTimestamp") !== "";
      return dying ? forbid(attributes, "create not allowed while custom resource definition is terminating") : ok(object);
    },
  };
}

const SYSTEM_CLASSES = new Set(["system-node-critical", "system-cluster-critical"]);

/** Asked for by name, that is: a real server lets them go with their collection. */
export const systemPriorityClasses: AdmissionPlugin = {
  name: "SystemPriorityClasses",
  mutate: (attributes) => {
    const { operation, type, name, object } = attributes;
    const going = operation === "DELETE" && type.collection === "scheduling.k8s.io/priorityclasses";
    return going && SYSTEM_CLASSES.has(name) ? forbid(attributes, "this is a system priority class and cannot be deleted") : ok(object);
  },
};

const NOT_READY = "node.kubernetes.io/not-ready";

/** Nothing is scheduled on a node before somebody has said that it is ready. */
export const newNodesAreNotReady: AdmissionPlugin = {
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

/** Whatever a request says of its author, the server knows better. */
export const certificateRequesters: AdmissionPlugin = {
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
