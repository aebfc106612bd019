/** The conditions of a LatticeService, each as a pure function of the observed state. Reasons and messages are stable: users search for them. */
import type { ServiceError } from "#compile";
import type { KubeObject, NewCondition } from "#kube";
import { listErrors, waitingText } from "./error-text.ts";
import type { RetainedConfig } from "./retained.ts";

/** Reasons in the conditions of a LatticeService, with when each occurs; docs are checked against them. */
export const SERVICE_REASONS = {
  Resolved: "TemplatesResolved: every `${…}` of the service was filled in",
  TemplateError: "TemplatesResolved: a `${…}` or a resource that it reads has an error; the message has place and fix of each",
  Compiled:
    "ConfigCompiled: ConfigMaps and Secrets were made; the message names those that are not needed any more and are kept until no ReplicaSet starts pods with them. Ready: everything was compiled and applied, and the service is available: the Deployment has enough ready pods, of the newest version or of the one before",
  CompileError:
    "ConfigCompiled, Ready: the service was not compiled; what ran before goes on, and its policies and routes follow the declarations",
  DependencyNotFound:
    "TemplatesResolved, ConfigCompiled, Ready: a service or external service whose outputs a template reads, or the LatticeEnvironment, does not exist yet; the message names it. What ran before goes on, and the service is compiled as soon as it exists",
  NotCompiled:
    "any condition: nothing is known yet, because the service has never been compiled; in the first two seconds of a service its errors are not judged, because what it names may be read after it",
  RolloutComplete: "WorkloadsReady: all pods are of the newest version, and ready",
  RollingOut: "WorkloadsReady: pods are being started or replaced. Ready: too few of them are ready to serve",
  ProgressDeadlineExceeded:
    "WorkloadsReady, and Ready while the service is not available: the rollout makes no progress; the message is the Deployment's own, with the reason why pods do not run where it is known",
  ReplicaFailure:
    "WorkloadsReady, and Ready while the service is not available: pods cannot be created; the message is the Deployment's own (an exceeded quota, for example)",
  Unschedulable: "WorkloadsReady, and Ready while the service is not available: no node takes its pods; the message is the scheduler's own",
  PodsFailing:
    "WorkloadsReady, and Ready while the service is not available: an image cannot be pulled, a container ends again and again, or what it mounts is missing",
  Applied: "PoliciesApplied: the policies of the service are in place",
  ApplyFailed:
    "PoliciesApplied: a policy or a route in the cluster differs from the declaration; the message names it, and it is tried again",
  CRDsMissing:
    "PoliciesApplied, Ready: the cluster lacks kinds that the message names. Those of Cilium and Istio that close the namespace: no pod is started, and what runs stays as it is. Others: everything else was applied. It goes on by itself when they come",
  Unprotected:
    "PoliciesApplied: the service runs on a cluster without kinds of Cilium or Istio, because the operator has `--allow-unprotected`; nothing enforces what they would",
  PoliciesNotReady: "Ready: the first pod waits until the policies of the service are in the cluster",
  AllOpen: "DependenciesOpen: everything that the service declares to call is open, or it calls nothing",
  DependenciesClosed:
    "DependenciesOpen: a dependency is closed; the message and `status.closedDependencies` have what to add, and on which side. A closed edge may be intended: Ready does not follow it",
  NamespaceNotReady: "Ready: the service waits until its namespace is closed by default; no pod starts before",
  NamespaceOutOfReach:
    "Ready: the operator runs with `--namespaces` and has no rights in the namespace where the service runs; nothing was changed there, and the message has the command that grants them",
  Patched: "WorkloadPatched, in patch mode: the Deployment has every field that the service declares",
  PatchRequested: "WorkloadPatched, Ready: the patch is stored, and the Deployment is about to be written so that the webhook patches it",
  WorkloadNotFound:
    "WorkloadPatched, Ready: the Deployment that `workloadRef` names does not exist; config and policies are there, nothing is open, and it is patched when it is created",
  WebhookDidNotAct:
    "WorkloadPatched, Ready: the Deployment was written several times and the admission webhook did not patch it; it is tried again at least every 30 s",
  PatchRejected:
    "WorkloadPatched, Ready: the API server refuses the Deployment with the patch, or would refuse its creation, or the record of the patch does not fit; the patch is not stored, so that the owner's own writes are not refused. It is checked again every minute, and after half an hour if the API server accepts it in a dry run",
  PatchConflict:
    "WorkloadPatched, Ready: another client sets a patched field to another value again and again; the message has the field, the client and what to change, and the field is left to it until the time in the message",
  ContainerMissing: "WorkloadPatched, Ready: the Deployment has no container of a name that the service declares; the others are patched",
  FieldsNotPatched:
    "WorkloadPatched, Ready: a field that the service declares stays as the Deployment has it, because the owner's next write would be refused while the webhook does not answer; the message has the field and what to change",
  FieldsIgnored: "FieldsUsed, in patch mode: `replicas`, `deploy` or `before` is set and has no effect",
  AllFieldsUsed: "FieldsUsed: every field has an effect, after one that had none",
  WorkloadClaimed: "ConfigCompiled, Ready, WorkloadPatched: another LatticeService patches or owns the Deployment; the message names it",
  WorkloadNotAllowed:
    "ConfigCompiled, Ready, WorkloadPatched: the Deployment is in a namespace where the service does not run, is not shared with the namespace of the service, or is Flagger's copy",
  SharedServiceAccount:
    "PoliciesApplied, ConfigCompiled, Ready: the Deployment uses the ServiceAccount `default`, which is no identity; nothing is open for the service",
  Detaching: "Ready, WorkloadPatched: the service no longer patches a Deployment, and waits until its changes are taken off",
  OwnershipMode:
    "WorkloadPatched, after a change from patch mode: the changes are taken off, and the service makes and owns its Deployment",
} as const satisfies Record<string, string>;

export type ServiceReason = keyof typeof SERVICE_REASONS;

function condition(type: string, status: NewCondition["status"], reason: ServiceReason, message: string): NewCondition {
  return { type, status, reason, message };
}

export const CONDITION_TYPES = [
  "TemplatesResolved",
  "ConfigCompiled",
  "WorkloadsReady",
  "PoliciesApplied",
  "DependenciesOpen",
  "Ready",
] as const;

/** Of a service that does not patch a Deployment any more. */
export function notPatching(reason: ServiceReason, message: string): NewCondition {
  return condition("WorkloadPatched", "False", reason, message);
}

export function templatesResolved(count: number): NewCondition {
  return condition("TemplatesResolved", "True", "Resolved", `Resolved ${count} template variables`);
}

/** `retained`: config objects that are no longer compiled, and may still be used by a pod. */
export function configCompiled(objects: readonly KubeObject[], retained: readonly RetainedConfig[] = []): NewCondition {
  const count = (kind: string) => objects.filter((object) => object.kind === kind).length;
  const outside = count("ExternalSecret");
  const more = outside === 0 ? "" : `, ${outside} ExternalSecrets`;
  const generated = `Generated ${count("ConfigMap")} ConfigMaps, ${count("Secret")} Secrets${more}`;
  return condition("ConfigCompiled", "True", "Compiled", `${generated}${describeRetained(retained)}`);
}

/** Limit, because a condition's message is read on a terminal. */
const MAX_RETAINED = 4;

function describeRetained(retained: readonly RetainedConfig[]): string {
  const [first] = retained;
  if (first === undefined) return "";
  const names = retained.slice(0, MAX_RETAINED).map(({ object }) => object);
  const more = retained.length > MAX_RETAINED ? ` and ${retained.length - MAX_RETAINED} more` : "";
  return `; kept while ${first.by} may start pods with them: ${names.join(", ")}${more}`;
}

/** Why templates could not be resolved, and the errors that follow from it. */
const NO_TEMPLATE_ERRORS = new Set<ServiceError["kind"]>([
  "invalid-file-mount",
  "invalid-volume-mount",
  "target-not-allowed",
  "system-namespace",
  "reserved-namespace",
  "name-taken",
  "name-reserved",
  "object-taken",
  "not-granted",
  "resource-not-granted",
  "workload-namespace",
  "workload-claimed",
  "workload-owned",
  "workload-copy",
  "workload-not-shared",
  "shared-service-account",
]);

export const NEW_SERVICE = "The service is new; what it names may still be created";

/** For a new service that has errors. */
export function notJudged(): readonly NewCondition[] {
  return [...(["TemplatesResolved", "ConfigCompiled"] as const).map((type) => unknown(type)), notReady("NotCompiled", NEW_SERVICE)];
}

export function notCompiled(errors: readonly ServiceError[]): readonly NewCondition[] {
  const inTemplates = errors.filter(({ kind }) => !NO_TEMPLATE_ERRORS.has(kind));
  const waiting = waitingText(errors);
  const reasons =
    waiting === undefined
      ? (["TemplateError", workloadReason(errors) ?? "CompileError"] as const)
      : (["DependencyNotFound", "DependencyNotFound"] as const);
  return [
    ...(inTemplates.length === 0 ? [] : [condition("TemplatesResolved", "False", reasons[0], waiting ?? listErrors(inTemplates))]),
    condition("ConfigCompiled", "False", reasons[1], waiting ?? listErrors(errors)),
    condition("Ready", "False", reasons[1], waiting ?? listErrors(errors)),
  ];
}

const WORKLOAD_REASONS: ReadonlyMap<ServiceError["kind"], ServiceReason> = new Map([
  ["workload-claimed", "WorkloadClaimed"],
  ["workload-owned", "WorkloadClaimed"],
  ["workload-copy", "WorkloadNotAllowed"],
  ["workload-namespace", "WorkloadNotAllowed"],
  ["workload-not-shared", "WorkloadNotAllowed"],
  ["shared-service-account", "SharedServiceAccount"],
]);

/** Why the Deployment may not be patched; undefined: the errors are others. */
export function workloadReason(errors: readonly ServiceError[]): ServiceReason | undefined {
  return errors.map(({ kind }) => WORKLOAD_REASONS.get(kind)).find((reason) => reason !== undefined);
}

/** Policies are in place, and open nothing. */
export function noIdentity(errors: readonly ServiceError[]): NewCondition {
  return condition("PoliciesApplied", "False", "SharedServiceAccount", listErrors(errors));
}

export function policiesApplied(count: number): NewCondition {
  return condition("PoliciesApplied", "True", "Applied", count === 1 ? "Applied 1 policy" : `Applied ${count} policies`);
}

export function policiesFailed(message: string): NewCondition {
  return condition("PoliciesApplied", "False", "ApplyFailed", message);
}

export function crdsMissing(message: string): NewCondition {
  return condition("PoliciesApplied", "False", "CRDsMissing", message);
}

export function unprotected(message: string): NewCondition {
  return condition("PoliciesApplied", "False", "Unprotected", message);
}

export function ready(): NewCondition {
  return condition("Ready", "True", "Compiled", "All resources compiled and applied");
}

export function notReady(reason: ServiceReason, message: string): NewCondition {
  return condition("Ready", "False", reason, message);
}

/** For conditions whose state is not known yet, so that `kubectl wait` finds every condition. */
export function unknown(
  type: (typeof CONDITION_TYPES)[number],
  reason: ServiceReason = "NotCompiled",
  message = "The service has not been compiled yet",
): NewCondition {
  return condition(type, "Unknown", reason, message);
}
