/**
 * The Deployment that a service in patch mode names, and whether the service may patch it. The Deployment is an input of the world: its
 * ServiceAccount is the identity of the service in the mesh.
 */
import { err, ok, type Result } from "#base";
import type { LatticeService } from "#crds";
import { field, fieldAt, isJsonObject, keyText, type KubeObject } from "#kube";
import { isShareable, SHAREABLE_LABEL, sourceOf } from "#service-compiler";

/** The properties of a Deployment that decide about its patch and its policies. */
export type WorkloadFacts = {
  readonly serviceAccount: string;
  readonly labels: Readonly<Record<string, unknown>>;
  /** The LatticeService that it was made for: `namespace/name`. */
  readonly madeFor?: string | undefined;
  /** Flagger's copy of a Deployment. */
  readonly isCopy: boolean;
};

/** "assumed": when files are compiled, a Deployment that is not among them counts as one that exists, with a ServiceAccount of its name. */
export type FindWorkload = (namespace: string, name: string) => WorkloadFacts | "assumed" | undefined;

/**
 * The facts of a Deployment. `madeFor`: see `WorkloadFacts`.
 *
 * @example const settings = worldSettings({}, { findWorkload: () => workloadFacts(deployment) });
 */
export function workloadFacts(deployment: KubeObject, madeFor?: string): WorkloadFacts {
  const pod = fieldAt(deployment, "spec", "template", "spec");
  // the API server fills in serviceAccount, an older name of the field, too
  const account = field(pod, "serviceAccountName") ?? field(pod, "serviceAccount");
  const { labels, ownerReferences } = deployment.metadata;
  const owners: readonly unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
  return {
    serviceAccount: typeof account === "string" && account !== "" ? account : "default",
    labels: isJsonObject(labels) ? labels : {},
    madeFor,
    isCopy: owners.some((owner) => field(owner, "kind") === "Canary"),
  };
}

/** Why a service may not patch the Deployment that it names. */
export type WorkloadError =
  | { readonly kind: "workload-namespace"; readonly namespace: string; readonly runs: string }
  | { readonly kind: "workload-claimed"; readonly workload: string; readonly by: string }
  | { readonly kind: "workload-owned"; readonly workload: string; readonly by: string }
  | { readonly kind: "workload-copy"; readonly workload: string }
  | { readonly kind: "workload-not-shared"; readonly workload: string; readonly source: string }
  | { readonly kind: "shared-service-account"; readonly workload: string };

/** What is known of the Deployment that a service patches. */
export type PatchTarget = {
  readonly namespace: string;
  readonly name: string;
  /** Its ServiceAccount; absent: the Deployment does not exist, so that the service has no identity. */
  readonly serviceAccount: string | undefined;
  /** The ServiceAccount is a guess: the Deployment is not among the files. */
  readonly assumed: boolean;
};

export type TargetQuestion = {
  readonly service: LatticeService;
  /** The namespace in which the service runs. */
  readonly namespace: string;
  readonly find: FindWorkload;
  /** The service that patches the Deployment; absent: none but this one. */
  readonly patchedBy: string | undefined;
  /** The service that has a Deployment of this name of its own; absent: none. */
  readonly ownedBy: string | undefined;
};

/** undefined: the service is not in patch mode. */
export function patchTarget(question: TargetQuestion): Result<PatchTarget, WorkloadError> | undefined {
  const { service, namespace: runs, find, patchedBy, ownedBy } = question;
  const ref = service.spec.workloadRef;
  if (ref === undefined) return undefined;
  const { namespace, name } = ref;
  const workload = `${namespace}/${name}`;
  if (namespace !== runs) return err({ kind: "workload-namespace", namespace, runs });
  const found = find(namespace, name);
  if (!isSharedWith(service, namespace, found)) return err({ kind: "workload-not-shared", workload, source: sourceOf(service) });
  if (patchedBy !== undefined) return err({ kind: "workload-claimed", workload, by: patchedBy });
  const owner = typeof found === "object" && found.madeFor !== undefined ? `LatticeService ${found.madeFor}` : ownedBy;
  if (owner !== undefined) return err({ kind: "workload-owned", workload, by: owner });
  if (found === undefined) return ok({ namespace, name, serviceAccount: undefined, assumed: false });
  if (found === "assumed") return ok({ namespace, name, serviceAccount: name, assumed: true });
  if (found.isCopy) return err({ kind: "workload-copy", workload });
  if (found.serviceAccount === "default") return err({ kind: "shared-service-account", workload });
  return ok({ namespace, name, serviceAccount: found.serviceAccount, assumed: false });
}

/** Whether the owner of a Deployment of this namespace allows the service to patch it. One that does not exist excludes no service. */
export function isSharedWith(service: LatticeService, namespace: string, found: ReturnType<FindWorkload>): boolean {
  const source = sourceOf(service);
  return source === namespace || typeof found !== "object" || isShareable(found.labels, source);
}

export function describeWorkloadError(error: WorkloadError): string {
  switch (error.kind) {
    case "workload-namespace":
      return `namespace ${error.namespace} is not the namespace in which the service runs, ${error.runs}\nset workloadRef.namespace to ${error.runs}, or declare the service for namespace ${error.namespace}`;
    case "workload-claimed":
      return `Deployment ${error.workload} is patched by ${error.by}, which takes precedence\nmove the fields to that service, or name another Deployment`;
    case "workload-owned":
      return `Deployment ${error.workload} is made for ${error.by}, and patch mode is for Deployments of other owners\nname another Deployment, or change that service`;
    case "workload-copy":
      return `Deployment ${error.workload} is a copy that Flagger makes and overwrites\nname the Deployment that it is copied from`;
    case "workload-not-shared":
      return `Deployment ${error.workload} is not shared with namespace ${error.source}\nits owner shares it with the label ${SHAREABLE_LABEL}: "true" (or: ${error.source})`;
    case "shared-service-account":
      return `Deployment ${error.workload} uses the ServiceAccount default, which other pods of the namespace share: a policy cannot tell them apart\nset serviceAccountName of its pods to an account of its own`;
  }
}

export function placeOfWorkloadError({ kind }: WorkloadError): string {
  return kind === "workload-namespace" ? "spec.workloadRef.namespace" : "spec.workloadRef";
}

/** `namespace/name` of the Deployment that a service in patch mode claims; it claims none outside of the namespace in which it runs. */
export function claimedWorkload({ spec: { workloadRef } }: LatticeService, runs: string): string | undefined {
  return workloadRef === undefined || workloadRef.namespace !== runs ? undefined : keyText(workloadRef);
}
