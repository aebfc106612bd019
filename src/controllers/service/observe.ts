/** What a pass over a LatticeService starts from: the service compiled as the world is now, and what the cluster has of it. */
import { err, map, millisecondsOf, ok, sha256Hex, timestamp, type Result } from "#base";
import type { CompiledApplication, Dependencies, ServiceError, ServiceKey } from "#compile";
import { REQUEUE, type FailureCause, type Runtime } from "#controller-runtime";
import { parseLatticeService, type FieldError, type LatticeService } from "#crds";
import { canonicalJson, describeObject, findCondition, keyText, type KubeObject } from "#kube";
import { splitId } from "#mesh-compiler";
import { namespaceProblem, type NamespaceProblem } from "../namespace/namespace-problem.ts";
import { isHeld, missingKinds, NONE_MISSING } from "../namespace/protection.ts";
import { reachProblem } from "../namespace/reach.ts";
import type { FollowedWorld } from "../world/followed-world.ts";
import { absentPolicy, accessOf, policiesOf, type ServiceAccess } from "./access.ts";
import { appliedVersion, ownedObjects, versionToApply, type OwnedObject } from "./owned-objects.ts";
import { retainedObjects, type RetainedConfig } from "./retained.ts";
import type { ServiceWorkload } from "./rollout.ts";
import { withPodProblem, workloadOf } from "./workload.ts";

export type ServiceControllerContext = Runtime & { readonly followed: FollowedWorld; readonly compiled: CompiledTimes };

/** In every state: what decides who reaches the service. */
type WithAccess = {
  readonly access: ServiceAccess;
  /** Absent: it is not in the mesh. */
  readonly dependencies?: Dependencies | undefined;
};

export type CompiledState = WithAccess & {
  readonly kind: "compiled";
  readonly application: CompiledApplication;
  readonly compiledAt: string;
  readonly workload: ServiceWorkload;
  /** How long to wait before looking again, while the service is not available: no watch tells of its pods. */
  readonly recheckMs: number;
  /** Not compiled any more, and not deleted yet. */
  readonly retained: readonly RetainedConfig[];
};

export type NotCompiled = WithAccess & {
  readonly kind: "not-compiled";
  readonly errors: readonly ServiceError[];
  /** How long the errors of a new service are not judged: kinds are watched one by one, and what it names may be read after it. */
  readonly graceMs: number;
  /** What runs from before. */
  readonly workload: ServiceWorkload;
};

export type PatchMode = WithAccess & {
  readonly kind: "patch-mode";
  readonly target: NonNullable<LatticeService["spec"]["workloadRef"]>;
  /** From before, when it was in ownership mode. */
  readonly left: readonly OwnedObject[];
  readonly workload: ServiceWorkload;
};

/** What keeps the first pod from being started. */
export type WaitingFor = NamespaceProblem | { readonly reason: "PoliciesNotReady"; readonly message: string };

export type ServiceState =
  | (WithAccess & { readonly kind: "invalid"; readonly errors: readonly FieldError[] })
  | PatchMode
  | NotCompiled
  /** Something that compiling needs could not be read. */
  | (WithAccess & { readonly kind: "unread"; readonly cause: FailureCause })
  | (WithAccess & { readonly kind: "waiting" } & WaitingFor)
  | CompiledState;

/** When the objects of a service last became others. Kept here, because the status must not be written on every pass. */
export class CompiledTimes {
  readonly #known = new Map<ServiceKey, { readonly digest: string; readonly at: string }>();
  readonly #firstErrors = new Map<ServiceKey, number>();

  /** `isNew` is asked only about a service that this process has not compiled before. */
  at(key: ServiceKey, digest: string, { now, written, isNew }: { now: string; written: string | undefined; isNew: () => boolean }): string {
    const known = this.#known.get(key);
    if (known?.digest === digest) return known.at;
    const at = known === undefined && written !== undefined && !isNew() ? written : now;
    this.#known.set(key, { digest, at });
    return at;
  }

  /** When this process first had errors for the service. */
  firstErrors(key: ServiceKey, now: number): number {
    const first = this.#firstErrors.get(key) ?? now;
    this.#firstErrors.set(key, first);
    return first;
  }

  forget(key: ServiceKey): void {
    this.#firstErrors.delete(key);
    this.#known.delete(key);
  }
}

export async function observe(raw: LatticeService, context: ServiceControllerContext): Promise<Result<ServiceState, FailureCause>> {
  const observed = await observeState(raw, context);
  // last: Secrets that were read meanwhile do not matter to it, but other services may have changed
  return map(observed, (state) => ({ ...state, dependencies: context.followed.world.dependenciesOf(keyText(raw.metadata)) }));
}

async function observeState(raw: LatticeService, context: ServiceControllerContext): Promise<Result<ServiceState, FailureCause>> {
  const parsed = parseLatticeService(raw);
  if (!parsed.ok) return ok({ kind: "invalid", errors: parsed.error, access: accessOf(raw, context) });
  const service = parsed.value;
  const beyond = outOfReach(service, context);
  if (beyond !== undefined) return ok(beyond);
  if (service.spec.workloadRef !== undefined) return ok(patchMode(service, service.spec.workloadRef, context));
  const { followed, client, signal } = context;
  const key = keyText(service.metadata);
  const keyed = await followed.hashKey.ensure(client, signal);
  if (!keyed.ok) return ok({ kind: "unread", cause: keyed.error, access: accessOf(service, context) });
  const compiled = await compileWithSecrets(key, context);
  if (!compiled.ok) return ok({ kind: "unread", cause: compiled.error, access: accessOf(service, context) });
  if (compiled.value.ok) return ok(await withLiveState(service, observeCompiled(service, compiled.value.value, context), context));
  const workload = workloadOf(service, context);
  const graceMs = graceOf(service, context);
  return ok({ kind: "not-compiled", errors: compiled.value.error, graceMs, workload, access: accessOf(service, context) });
}

/** Nothing is read, compiled or written in a namespace that the operator has no rights in. */
function outOfReach(service: LatticeService, { followed, cache }: ServiceControllerContext): ServiceState | undefined {
  const id = followed.world.idOf(keyText(service.metadata));
  const problem = id === undefined ? undefined : reachProblem(splitId(id).namespace, followed.reach, cache);
  if (problem === undefined) return undefined;
  const access: ServiceAccess = { objects: [], kinds: new Set(), missing: NONE_MISSING };
  return { kind: "waiting", reason: "NamespaceOutOfReach", message: problem.message, access };
}

function patchMode(service: LatticeService, target: PatchMode["target"], context: ServiceControllerContext): PatchMode {
  const left = ownedObjects(service, context.cache);
  const workload = workloadOf(service, context);
  return { kind: "patch-mode", target, left, workload, access: accessOf(service, context) };
}

/** Which Secrets are needed turns out while compiling; a binding may lead to another one, but not for ever. */
const MOST_ROUNDS = 4;

async function compileWithSecrets(
  key: ServiceKey,
  context: ServiceControllerContext,
): Promise<Result<Result<CompiledApplication, readonly ServiceError[]>, FailureCause>> {
  const { followed } = context;
  for (let round = 1; ; round += 1) {
    const { result, asked } = followed.compile(key);
    followed.secrets.setNeeds(key, asked);
    const changed = await followed.secrets.refresh(asked.values, context);
    if (!changed.ok) return err(changed.error);
    if (!changed.value || round === MOST_ROUNDS) return ok(result);
  }
}

function observeCompiled(service: LatticeService, application: CompiledApplication, context: ServiceControllerContext): ServiceState {
  const { followed, cache, clock, compiled } = context;
  const key = keyText(service.metadata);
  const { namespace } = splitId(application.id);
  const workload = workloadOf(service, context);
  const { deployment } = workload;
  // closed first: no pod of ours runs in a namespace that is open
  const problem = deployment === undefined ? namespaceProblem(namespace, followed, cache) : undefined;
  if (problem !== undefined) return { kind: "waiting", ...problem, access: accessOf(service, context) };
  const objects = application.objects.map(({ object }) => object);
  const missing = missingKinds([...objects, ...followed.world.namespaceObjects(namespace)], cache, followed.allowUnprotected);
  const access = { ...accessOf(service, context, application), missing };
  if (deployment === undefined) {
    const absent = isHeld(missing) ? undefined : absentPolicy(access, service, cache);
    if (absent !== undefined) return { kind: "waiting", ...policiesNotReady(absent), access: policiesOf(access) };
  }
  const digest = sha256Hex(canonicalJson(objects));
  const isNew = () => objects.some((object) => isAnother(object, service, context));
  const compiledAt = compiled.at(key, digest, { now: timestamp(clock), written: service.status?.compiledAt, isNew });
  const first = deployment === undefined && isHeld(missing);
  const recheckMs = recheckAfter(service, clock.now());
  const observed = { kind: "compiled", application, compiledAt, workload, recheckMs, retained: [] } as const;
  return { ...observed, access: first ? policiesOf(access) : access };
}

/** With what is read from the API server, because no informer has it. */
async function withLiveState(service: LatticeService, observed: ServiceState, runtime: Runtime): Promise<ServiceState> {
  if (observed.kind !== "compiled") return observed;
  const workload = await withPodProblem(observed.workload, runtime);
  const wanted = observed.application.objects.map(({ object }) => object);
  return { ...observed, workload, retained: await retainedObjects(service, { wanted, workload }, runtime) };
}

const GRACE_MS = 2_000;

/** From the first pass on, not from the creation: on a busy machine watches are late as well. */
function graceOf({ metadata, status }: LatticeService, { clock, compiled }: ServiceControllerContext): number {
  if (status?.compiledAt !== undefined || status?.phase === "Failed") return 0;
  const now = clock.now();
  return Math.max(0, GRACE_MS - (now - compiled.firstErrors(keyText(metadata), now)));
}

const SOONEST_RECHECK_MS = 2_000;

/** Half of the time that it has not been Ready for, within bounds: soon at first, and rarely for what stays broken. */
function recheckAfter({ status }: LatticeService, now: number): number {
  const ready = findCondition(status?.conditions ?? [], "Ready");
  const since = ready?.status === "False" ? millisecondsOf(ready.lastTransitionTime ?? "") : now;
  return Math.min(Math.max((now - since) / 2 || 0, SOONEST_RECHECK_MS), REQUEUE.settledMs);
}

function policiesNotReady(absent: KubeObject): WaitingFor {
  return { reason: "PoliciesNotReady", message: `no pod is started before ${describeObject(absent)} is in the cluster` };
}

/** The cluster has another version of it. One that is merely gone is made again as it was. */
function isAnother(object: KubeObject, service: LatticeService, { cache }: ServiceControllerContext): boolean {
  const applied = appliedVersion(object, cache);
  return applied !== undefined && applied !== versionToApply(object, service);
}
