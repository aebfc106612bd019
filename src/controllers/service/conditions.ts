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
  PatchModeNotBuilt:
    "any condition: `workloadRef` is recorded and not acted on in this release; what was made for the service before goes on, and Ready names it",
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
    waiting === undefined ? (["TemplateError", "CompileError"] as const) : (["DependencyNotFound", "DependencyNotFound"] as const);
  return [
    ...(inTemplates.length === 0 ? [] : [condition("TemplatesResolved", "False", reasons[0], waiting ?? listErrors(inTemplates))]),
    condition("ConfigCompiled", "False", reasons[1], waiting ?? listErrors(errors)),
    condition("Ready", "False", reasons[1], waiting ?? listErrors(errors)),
  ];
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
