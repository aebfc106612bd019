/**
 * Annotations that a service gives its Deployment and its pods. Some configure the node, the mesh or the network, like privileged fields:
 * those need the pod security level that allows everything.
 */
import type { CompileError } from "../errors.ts";
import type { Grants } from "../grants/index.ts";
import { levelError } from "./security-errors.ts";

/** Domains of Kubernetes, Istio, Cilium and CNI plugins, and keys that container runtimes read. */
const POWERFUL = /^(?:(?:[^/]+\.)?(?:kubernetes|k8s|istio|cilium|cncf)\.io\/|io\.(?:kubernetes|katacontainers)\.)/;
/** Annotations of these domains that do not affect nodes. */
const HARMLESS =
  /^(?:app\.kubernetes\.io\/|cluster-autoscaler\.kubernetes\.io\/|kubernetes\.io\/(?:change-cause|description)$|kubectl\.kubernetes\.io\/(?:default-container|default-logs-container|restartedAt)$)/;
const OWN = /^(?:[^/]+\.)?lattice\.dev\//;

export function annotationErrors(annotations: Readonly<Record<string, string>> = {}, grants: Grants): readonly CompileError[] {
  return Object.keys(annotations).flatMap((key): readonly CompileError[] => {
    const place = `spec.annotations["${key}"]`;
    if (OWN.test(key)) return [{ kind: "not-granted", place, message: "is written by Lattice; remove it" }];
    if (grants.podSecurity === "privileged" || !POWERFUL.test(key) || HARMLESS.test(key)) return [];
    const message = "must not be set, since it can change how a node or the mesh treats the pod,";
    return [levelError(place, { message, needs: "privileged" }, grants)];
  });
}
