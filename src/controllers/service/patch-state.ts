/**
 * The state of the patch of a service: whether it is stored, whether the Deployment has it, and what prevents it. Pure but for the cache.
 *
 * The webhook applies the patch to every write of the Deployment. A Deployment that exists already is written once by the controller
 * (`request-patch`); if the webhook did not act then, the request is repeated with growing waits.
 */
import type { Result } from "#base";
import type { CompiledApplication, PatchTarget, ServiceError } from "#compile";
import type { LatticeService } from "#crds";
import {
  canaries,
  configMaps,
  deployments,
  horizontalPodAutoscalers,
  keyText,
  parseKey,
  podDisruptionBudgets,
  serviceAccounts,
  type KubeObject,
  type Resource,
} from "#kube";
import { splitId } from "#mesh-compiler";
import { ignoredFields } from "#service-compiler";
import {
  applyWorkloadPatch,
  RECORD_ANNOTATION,
  workloadPatchName,
  type AppliedPatch,
  type PatchProblem,
  type WorkloadPatch,
} from "#workload-patch";
import { patchConfigMap, patchDigest, patchIn } from "../patch-config-map.ts";
import { deploymentsToDetach } from "../patched-deployments.ts";
import { reachProblem } from "../reach.ts";
import { workloadOfService } from "../world/workloads.ts";
import type { CheckedPatch, RefusedPatch, UnansweredRequest } from "./compile-records.ts";
import type { ObservedService, ServiceView } from "./observe.ts";
import { isApplied, ownedObjects, type OwnedObject } from "./owned-objects.ts";

export type PatchState = {
  readonly target: PatchTarget;
  readonly patch: WorkloadPatch;
  readonly digest: string;
  readonly configMap: KubeObject;
  /** The cluster has the ConfigMap as it is wanted. */
  readonly stored: boolean;
  /** Absent: there is no such Deployment. */
  readonly deployment: KubeObject | undefined;
  /** The Deployment with the patch, or why it cannot be patched. */
  readonly applied: Result<AppliedPatch, PatchProblem> | undefined;
  /** Why the API server refuses the Deployment with the patch; "unknown": it was not asked yet. */
  readonly rejection: { readonly message: string } | "unknown" | undefined;
  /** The requests for this patch that had no effect; undefined: none, or the Deployment has the patch or is gone meanwhile. */
  readonly request: UnansweredRequest | undefined;
  /** Time until the next request, in milliseconds. */
  readonly waitMs: number;
  /** Objects that the service made in ownership mode. */
  readonly left: readonly OwnedObject[];
  readonly ignored: readonly string[];
};

/** Kinds that the service has in ownership mode only. */
const OWNERSHIP_KINDS: readonly Resource[] = [deployments, serviceAccounts, horizontalPodAutoscalers, podDisruptionBudgets, canaries];

/** Undefined: the service is not in patch mode. */
export function patchStateOf(service: LatticeService, application: CompiledApplication, observed: ObservedService): PatchState | undefined {
  const { target, workloadPatch: patch } = application;
  if (target === undefined || patch === undefined) return undefined;
  const { view, record, timestamp, now } = observed;
  const { cache, followed } = view;
  const deployment = target.serviceAccount === undefined ? undefined : wholeDeployment(cache.get(deployments, target));
  const applied = deployment === undefined ? undefined : applyWorkloadPatch(deployment, patch, { at: timestamp });
  const digest = patchDigest(patch);
  const configMap = patchConfigMap(patch, followed.reach.home);
  const lacksPatch = applied?.ok === true && applied.value.changed;
  const request = lacksPatch && record.request?.digest === digest ? record.request : undefined;
  return {
    target,
    patch,
    digest,
    configMap,
    stored: isApplied(configMap, service, cache),
    deployment,
    applied,
    rejection: rejectionOf({ deployment, applied, digest }, record.checked, now),
    request,
    waitMs: request === undefined ? 0 : Math.max(0, request.at + requestWait(request.count) - now),
    left: ownedObjects(service, cache, OWNERSHIP_KINDS),
    ignored: ignoredFields(service.spec),
  };
}

/** Items of a list have neither. */
export function wholeDeployment(deployment: KubeObject | undefined): KubeObject | undefined {
  return deployment === undefined ? undefined : { ...deployment, apiVersion: "apps/v1", kind: "Deployment" };
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** After a request without effect: 1 s, 2 s, 4 s and so on, at most 30 s. */
export function requestWait(count: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(count - 1, 10), LONGEST_WAIT_MS);
}

type Check = Pick<PatchState, "deployment" | "applied" | "digest">;

/** A policy that refused the patch may be corrected; nothing that the operator watches changes then. */
const REFUSED_CHECK_MS = 60_000;
/** Longer: the dry run accepts such a patch, which is stored until a write is refused, and the owner's writes are refused meanwhile. */
const REFUSED_REQUEST_MS = 1_800_000;

/** `by`: the request that the API server refused. */
export function refusedPatch(message: string, by: "check" | "request", now: number): RefusedPatch {
  return { message, until: now + (by === "check" ? REFUSED_CHECK_MS : REFUSED_REQUEST_MS) };
}

/** The API server is asked again when the patch or the spec of the Deployment changes, and when the Deployment is created or deleted. */
export function checkId({ deployment, digest }: Pick<Check, "deployment" | "digest">): string {
  const { uid = "", generation = 0 } = deployment?.metadata ?? {};
  return `${digest} ${uid} ${generation}`;
}

function rejectionOf(check: Check, checked: CheckedPatch | undefined, now: number): PatchState["rejection"] {
  const { deployment, applied } = check;
  if (deployment !== undefined && (applied?.ok !== true || !applied.value.changed)) return undefined;
  if (checked?.id !== checkId(check)) return "unknown";
  return checked.problem !== undefined && now >= checked.problem.until ? "unknown" : checked.problem;
}

/** The stored patch of a service that may not patch the Deployment any more, because another service does; undefined: there is none. */
export function patchToRelease(
  service: LatticeService,
  errors: readonly ServiceError[],
  { cache, followed }: ServiceView,
): KubeObject | undefined {
  const { workloadRef } = service.spec;
  if (workloadRef === undefined || !errors.some(({ kind }) => kind === "workload-claimed")) return undefined;
  const configMap = cache.get(configMaps, { namespace: followed.reach.home, name: workloadPatchName(workloadRef) });
  const stored = patchIn(configMap);
  return stored?.service === keyText(service.metadata) && stored.detach !== true ? configMap : undefined;
}

/** Also of a service with errors, and of one that was in patch mode before. */
export type PatchStanding = {
  /** The service patches the Deployment that it names, or may do so as soon as its errors are corrected. */
  readonly patches: boolean;
  /** The Deployment that it names exists, and the service may patch it. */
  readonly resolved: boolean;
  /** A Deployment with changes of the service that are to be taken off: `namespace/name`. */
  readonly left: string | undefined;
};

/** undefined: not known, because the service is not in the mesh, or the operator has no rights in its namespace. */
export function patchStanding(service: LatticeService, { cache, followed }: ServiceView): PatchStanding | undefined {
  const { world, reach } = followed;
  const key = keyText(service.metadata);
  const [named] = workloadOfService(service);
  const id = world.idOf(key);
  const namespace = named === undefined ? (id === undefined ? undefined : splitId(id).namespace) : parseKey(named).namespace;
  if (namespace === undefined || reachProblem(namespace, reach, cache) !== undefined) return undefined;
  const target = world.targetOf(key);
  const [left] = deploymentsToDetach(key, { cache, world, namespace });
  return {
    patches: named !== undefined && world.patcherOf(parseKey(named)) === key,
    resolved: target?.ok === true && cache.get(deployments, target.value) !== undefined,
    left: left === undefined ? undefined : keyText(left.metadata),
  };
}

/** Whether the Deployment has been patched for a service, in whatever version. */
export function isPatched(deployment: KubeObject | undefined): boolean {
  return deployment?.metadata.annotations?.[RECORD_ANNOTATION] !== undefined;
}

/** Whether the stored patch may be applied by the webhook. */
export function isStorable(state: PatchState): boolean {
  return state.rejection === undefined && state.applied?.ok !== false;
}

/** Whether the Deployment must be written once, so that the webhook patches it. */
export function needsRequest(state: PatchState): boolean {
  const { stored, applied, waitMs } = state;
  return stored && isStorable(state) && applied?.ok === true && applied.value.changed && waitMs === 0;
}
