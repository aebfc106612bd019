/**
 * The state of a LatticeService: compiled with the current declarations and with the observed objects. Pure: it changes nothing, and the
 * objects that compiling looked up are returned.
 */
import { millisecondsOf, sha256Hex } from "#base";
import type { CompiledApplication, Dependencies, ServiceError } from "#compile";
import { REQUEUE, type FailureCause } from "#controller-runtime";
import type { FieldError, LatticeService } from "#crds";
import { canonicalJson, describeObject, findCondition, keyText, type KubeObject } from "#kube";
import { splitId } from "#mesh-compiler";
import { namespaceProblem, type NamespaceProblem } from "../namespace/namespace-problem.ts";
import { isHeld, missingKinds, NONE_MISSING } from "../namespace/protection.ts";
import { deploymentsToDetach } from "../patched-deployments.ts";
import type { CompileNeeds } from "../world/followed-world.ts";
import { absentPolicy, accessOf, policiesOf, type ServiceAccess } from "./access.ts";
import type { CompileRecord } from "./compile-records.ts";
import type { CompileReads, ObservedService, ServiceView } from "./observe.ts";
import { appliedVersion, versionToApply } from "./owned-objects.ts";
import { patchServiceWriter, type ServiceWriter } from "./patch-service.ts";
import { isPatched, patchStanding, patchStateOf, type PatchStanding, type PatchState } from "./patch-state.ts";
import { retainedBy, staleConfig, type RetainedConfig } from "./retained.ts";
import type { ServiceWorkload } from "./rollout.ts";
import { workloadOf } from "./workload.ts";

/** In every state: the policies and routes of the service. */
type WithAccess = {
  readonly access: ServiceAccess;
  /** Absent: it is not in the mesh. */
  readonly dependencies?: Dependencies | undefined;
  readonly standing?: PatchStanding | undefined;
};

export type CompiledState = WithAccess & {
  readonly kind: "compiled";
  readonly application: CompiledApplication;
  readonly compiledAt: string;
  readonly workload: ServiceWorkload;
  /** Delay of the next pass while the service is not available, because its pods are not watched. */
  readonly recheckMs: number;
  /** No longer compiled, and not deleted yet. */
  readonly retained: readonly RetainedConfig[];
  /** In patch mode. */
  readonly patch?: PatchState | undefined;
  readonly service: ServiceWriter;
};

export type NotCompiled = WithAccess & {
  readonly kind: "not-compiled";
  readonly errors: readonly ServiceError[];
  /** How long the errors of a new service are not reported: kinds are watched one by one, so objects that it references may arrive after it. */
  readonly graceMs: number;
  /** The workload of an earlier compilation. */
  readonly workload: ServiceWorkload;
};

/** Why the first pod is not started. */
export type WaitingFor = NamespaceProblem | { readonly reason: "PoliciesNotReady"; readonly message: string };

export type ServiceState =
  | (WithAccess & { readonly kind: "invalid"; readonly errors: readonly FieldError[] })
  | NotCompiled
  /** An input of the compiler could not be read. */
  | (WithAccess & { readonly kind: "unread"; readonly cause: FailureCause })
  /** The config hash key has to be created first. */
  | (WithAccess & { readonly kind: "no-hash-key" })
  | (WithAccess & { readonly kind: "waiting" } & WaitingFor)
  /** It was in patch mode: the changes of its Deployment are taken off before it makes one of its own. */
  | (WithAccess & { readonly kind: "detaching"; readonly message: string })
  | CompiledState;

/** The record of a compilation that later passes need. */
export type CompileResult = { readonly needs: CompileNeeds; readonly record: CompileRecord };

/** `complete: false`: compiling looked up an object that was not observed; the state is not final. */
export type ServiceSituation =
  | { readonly complete: true; readonly state: ServiceState; readonly result?: CompileResult }
  | { readonly complete: false; readonly result: CompileResult };

export function situationOf(raw: LatticeService, observed: ObservedService): ServiceSituation {
  const { reads, view } = observed;
  const final = (state: ServiceState) => ({ complete: true, state: withRelations(raw, state, view) }) as const;
  switch (reads.kind) {
    case "invalid":
      return final({ kind: "invalid", errors: reads.errors, access: accessOf(raw, view) });
    case "out-of-reach":
      return final({ kind: "waiting", reason: "NamespaceOutOfReach", message: reads.message, access: NO_ACCESS });
    case "unread":
      return final({ kind: "unread", cause: reads.cause, access: accessOf(reads.service, view) });
    case "no-hash-key":
      return final({ kind: "no-hash-key", access: accessOf(reads.service, view) });
    case "read":
      return view.followed.using(reads, () => compileObserved(reads, observed));
  }
}

const NO_ACCESS: ServiceAccess = { objects: [], kinds: new Set(), missing: NONE_MISSING };

function withRelations(service: LatticeService, state: ServiceState, view: ServiceView): ServiceState {
  return { ...state, dependencies: view.followed.world.dependenciesOf(keyText(service.metadata)), standing: patchStanding(service, view) };
}

function compileObserved(reads: CompileReads, observed: ObservedService): ServiceSituation {
  const { service } = reads;
  const { view, record } = observed;
  const key = keyText(service.metadata);
  const { result: compiled, needs } = view.followed.compile(key);
  const complete = isObserved(needs, view.followed.needsOf(key), reads);
  if (!complete) return { complete, result: { needs, record } };
  if (compiled.ok) return compiledState(reads, compiled.value, { observed, needs });
  return notCompiled(service, compiled.error, { observed, needs });
}

function notCompiled(service: LatticeService, errors: readonly ServiceError[], { observed, needs }: Compilation): ServiceSituation {
  const { view, now } = observed;
  const isNew = service.status?.compiledAt === undefined && service.status?.phase !== "Failed";
  const record = isNew ? { ...observed.record, firstErrorAt: observed.record.firstErrorAt ?? now } : observed.record;
  const graceMs = isNew ? graceLeft(record.firstErrorAt ?? now, now) : 0;
  const state: NotCompiled = {
    kind: "not-compiled",
    errors,
    graceMs,
    workload: workloadOf(service, view),
    access: accessOf(service, view),
  };
  return { complete: true, state: withRelations(service, state, view), result: { needs, record } };
}

/** Everything that was looked up was observed; from now on a change of it triggers the service. */
function isObserved(needs: CompileNeeds, known: CompileNeeds, { secrets }: CompileReads): boolean {
  const has = (all: ReadonlySet<string>) => (name: string) => all.has(name);
  return (
    [...needs.values].every((name) => secrets.has(name)) &&
    [...needs.versions].every(has(known.versions)) &&
    [...needs.mounted].every(has(known.mounted))
  );
}

type Compilation = { readonly observed: ObservedService; readonly needs: CompileNeeds };

function compiledState(reads: CompileReads, application: CompiledApplication, { observed, needs }: Compilation): ServiceSituation {
  const { service, podProblem, podSources } = reads;
  const { view, record, now } = observed;
  const workload: ServiceWorkload = withProblem(workloadOf(service, view), podProblem);
  const objects = application.objects.map(({ object }) => object);
  const { namespace } = splitId(application.id);
  const detaching = workload.deployment === undefined ? detachingFrom(service, namespace, view) : undefined;
  if (detaching !== undefined) return { complete: true, state: withRelations(service, detaching, view), result: { needs, record } };
  const opened = openedAccess(service, application, { view, workload });
  if ("reason" in opened) return { complete: true, state: withRelations(service, opened, view), result: { needs, record } };
  const compiled = compilationTime(service, objects, observed);
  const stale = staleConfig(service, { wanted: objects, workload }, view.cache);
  const result = { needs, record: { ...record, compiled, hasStaleConfig: stale.length > 0 } };
  if (stale.length > 0 && podSources === undefined)
    return { complete: false, result: { needs, record: { ...record, hasStaleConfig: true } } };
  const retained = podSources === undefined ? [] : retainedBy(stale, podSources);
  const recheckMs = recheckAfter(service, now);
  const patch = patchStateOf(service, application, observed);
  const common = { application, compiledAt: compiled.at, workload, recheckMs, retained, access: opened };
  const writer = patch === undefined ? "lattice" : patchServiceWriter(service, application, { patch, workload, cache: view.cache });
  const state: CompiledState = { kind: "compiled", ...common, patch, service: writer };
  return { complete: true, state: withRelations(service, state, view), result };
}

/** For a service without a Deployment of its own. Undefined: no Deployment has changes of a time when it was in patch mode. */
function detachingFrom(service: LatticeService, namespace: string, view: ServiceView): ServiceState | undefined {
  if (service.spec.workloadRef !== undefined) return undefined;
  const { cache, followed } = view;
  // copies of Flagger may keep the changes: the config that they use stays
  const [patched] = deploymentsToDetach(keyText(service.metadata), { cache, world: followed.world, namespace });
  if (patched === undefined) return undefined;
  const message = `the changes of Deployment ${keyText(patched.metadata)} are taken off first; then the service makes its own Deployment`;
  return { kind: "detaching", message, access: accessOf(service, view) };
}

function withProblem(workload: ServiceWorkload, problem: CompileReads["podProblem"]): ServiceWorkload {
  return problem === undefined ? workload : { ...workload, problem };
}

type Placed = { readonly view: ServiceView; readonly workload: ServiceWorkload };

/** Which objects may be applied now. The default deny and the policies are applied before the first pod starts. */
function openedAccess(
  service: LatticeService,
  application: CompiledApplication,
  { view, workload: { deployment } }: Placed,
): ServiceAccess | Extract<ServiceState, { kind: "waiting" }> {
  const { followed, cache } = view;
  const { namespace } = splitId(application.id);
  // in patch mode the pods run already; those with the label of the service start with the patch
  const hasStarted = application.target === undefined ? deployment !== undefined : isPatched(deployment);
  const problem = !hasStarted ? namespaceProblem(namespace, followed, cache) : undefined;
  if (problem !== undefined) return { kind: "waiting", ...problem, access: accessOf(service, view) };
  const objects = application.objects.map(({ object }) => object);
  const missing = missingKinds([...objects, ...followed.world.namespaceObjects(namespace)], cache, followed.allowUnprotected);
  const access = { ...accessOf(service, view, application), missing };
  if (hasStarted) return access;
  if (isHeld(missing)) return policiesOf(access);
  const absent = absentPolicy(access, service, cache);
  return absent === undefined ? access : { kind: "waiting", ...policiesNotReady(absent), access: policiesOf(access) };
}

function policiesNotReady(absent: KubeObject): WaitingFor {
  return { reason: "PoliciesNotReady", message: `no pod is started before ${describeObject(absent)} is in the cluster` };
}

/** When the objects last changed. After a restart it is read from the status, unless the cluster has another version of an object. */
function compilationTime(service: LatticeService, objects: readonly KubeObject[], { record, view, timestamp }: ObservedService) {
  const digest = sha256Hex(canonicalJson(objects));
  const { compiled: known } = record;
  if (known?.digest === digest) return known;
  const written = service.status?.compiledAt;
  const isOld = known === undefined && written !== undefined && !objects.some((object) => differsInCluster(object, service, view));
  return { digest, at: isOld ? written : timestamp };
}

/** The cluster has another version of it. An object that was only deleted does not count: it is created again unchanged. */
function differsInCluster(object: KubeObject, service: LatticeService, { cache }: ServiceView): boolean {
  const applied = appliedVersion(object, cache);
  return applied !== undefined && applied !== versionToApply(object, service);
}

const GRACE_MS = 2_000;

/** From the first pass with errors on, not from the creation: on a busy machine watch events are late as well. */
function graceLeft(firstErrorAt: number, now: number): number {
  return Math.max(0, GRACE_MS - (now - firstErrorAt));
}

const SOONEST_RECHECK_MS = 2_000;

/** Half of the time since it was last Ready, within bounds: often at first, and rarely for a permanent problem. */
function recheckAfter({ status }: LatticeService, now: number): number {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  const since = ready?.status === "False" ? millisecondsOf(ready.lastTransitionTime ?? "") : now;
  return Math.min(Math.max((now - since) / 2 || 0, SOONEST_RECHECK_MS), REQUEUE.settledMs);
}
