/**
 * The writes of a pass in patch mode. `check-patch`: a dry run of the Deployment with the patch, so that a patch that makes the Deployment invalid is
 * not stored: it would make every write of its owner fail. While there is no Deployment, it is the creation of one with the same containers. `request-patch`: one small write, so that the webhook patches a Deployment that exists.
 * `release-patch`: the stored patch is deleted, because another service patches the Deployment now and stores its own.
 */
import { timestamp } from "#base";
import type { ServiceKey } from "#compile";
import { failed, FIELD_MANAGER, settled, waiting, type ReconcileOutcome, type Runtime } from "#controller-runtime";
import { deployments, type Json, type KubeObject } from "#kube";
import type { ClientResult, KubeError } from "#kube-client";
import { applyWorkloadPatch, jsonPatchBetween, PATCH_CHECK_MANAGER, patchRequest, type WorkloadPatch } from "#workload-patch";
import { withoutQuotedValues } from "../quoted-values.ts";
import type { CheckedPatch, CompileRecords } from "./compile-records.ts";
import { smallestDeployment } from "./smallest-deployment.ts";
import { checkId, refusedPatch, requestWait, wholeDeployment, type PatchState } from "./patch-state.ts";

export type PatchCommand =
  | { readonly kind: "check-patch"; readonly key: ServiceKey; readonly state: PatchState }
  | { readonly kind: "request-patch"; readonly key: ServiceKey; readonly state: PatchState }
  | { readonly kind: "release-patch"; readonly configMap: KubeObject };

type Context = Runtime & { readonly records: CompileRecords };

/** Errors by which the API server refuses the object itself. */
const REFUSED: ReadonlySet<string> = new Set(["invalid", "bad-request", "forbidden"]);

export async function checkPatch(
  { key, state }: Extract<PatchCommand, { kind: "check-patch" }>,
  context: Context,
): Promise<ReconcileOutcome> {
  const error = await refusalOf(state, context);
  if (error !== undefined && !REFUSED.has(error.kind)) return failed(error);
  const { records, clock } = context;
  const problem = error === undefined ? undefined : refusedPatch(error.message, "check", clock.now());
  noteCheck(records, key, { id: checkId(state), problem });
  return settled;
}

/** undefined: the API server accepts the Deployment with the patch, or nothing is known of it. */
async function refusalOf(
  { deployment, applied, target, patch }: PatchState,
  { client, signal, clock }: Context,
): Promise<KubeError | undefined> {
  const dryRun = { dryRun: true, fieldManager: PATCH_CHECK_MANAGER, signal };
  if (deployment === undefined) return refusedCreation(patch, timestamp(clock), (object) => client.apply(deployments, object, dryRun));
  if (applied?.ok !== true) return undefined;
  const operations = jsonPatchBetween(deployment, applied.value.deployment) as readonly Json[];
  const answer = await client.patch(deployments, target, { type: "json", operations }, dryRun);
  return answer.ok ? undefined : withoutQuotedValues(answer.error, deployment);
}

/** A Deployment that exists meanwhile, or no namespace. */
const NOT_JUDGED: ReadonlySet<string> = new Set(["conflict", "not-found"]);

/** While there is no Deployment. What the API server refuses without the patch, too, is no fault of the patch. */
async function refusedCreation(
  patch: WorkloadPatch,
  at: string,
  create: (object: KubeObject) => ClientResult<KubeObject>,
): Promise<KubeError | undefined> {
  const plain = smallestDeployment(patch);
  const applied = applyWorkloadPatch(plain, patch, { at });
  if (!applied.ok) return undefined;
  const answer = await create(applied.value.deployment);
  if (answer.ok || NOT_JUDGED.has(answer.error.kind)) return undefined;
  if (!REFUSED.has(answer.error.kind)) return answer.error;
  const without = await create(plain);
  if (without.ok) return answer.error;
  return REFUSED.has(without.error.kind) || NOT_JUDGED.has(without.error.kind) ? undefined : without.error;
}

function noteCheck(records: CompileRecords, key: ServiceKey, checked: CheckedPatch): void {
  records.set(key, { ...records.of(key), checked });
}

const AT_ONCE_MS = 1;

export async function requestPatch(
  { key, state }: Extract<PatchCommand, { kind: "request-patch" }>,
  { client, records, signal, clock }: Context,
): Promise<ReconcileOutcome> {
  const { patch, digest, deployment } = state;
  const body = { type: "merge", patch: patchRequest(digest) } as const;
  const answer = await client.patch(deployments, patch.target, body, { fieldManager: FIELD_MANAGER, signal });
  // a Deployment that was deleted meanwhile is patched when it is created again
  if (!answer.ok && answer.error.kind === "not-found") return settled;
  if (!answer.ok) {
    const error = withoutQuotedValues(answer.error, deployment);
    if (!REFUSED.has(error.kind)) return failed(error);
    // the owner's writes would be refused as well: the next pass takes the patch out of the store
    noteCheck(records, key, { id: checkId(state), problem: refusedPatch(error.message, "request", clock.now()) });
    return waiting("PatchRejected", AT_ONCE_MS, "the API server refuses the Deployment with the patch");
  }
  const now = wholeDeployment(answer.value);
  const applied = now === undefined ? undefined : applyWorkloadPatch(now, patch, { at: timestamp(clock) });
  const acted = applied?.ok === true && !applied.value.changed;
  const before = records.of(key);
  const count = 1 + (before.request?.digest === digest ? before.request.count : 0);
  records.set(key, { ...before, request: acted ? undefined : { digest, count, at: clock.now() } });
  return acted ? settled : waiting("PatchRequested", requestWait(count), "the webhook did not patch the Deployment yet");
}
