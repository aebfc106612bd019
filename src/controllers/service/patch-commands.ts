/**
 * The writes of a pass in patch mode. `check-patch`: a dry run of the Deployment with the patch, so that a patch that makes the Deployment invalid is
 * not stored: it would make every write of its owner fail. `request-patch`: one small write, so that the webhook patches a Deployment that exists.
 * `release-patch`: the stored patch is deleted, because another service patches the Deployment now and stores its own.
 */
import { timestamp } from "#base";
import type { ServiceKey } from "#compile";
import { failed, FIELD_MANAGER, settled, waiting, type ReconcileOutcome, type Runtime } from "#controller-runtime";
import { deployments, type Json, type KubeObject } from "#kube";
import { applyWorkloadPatch, jsonPatchBetween, PATCH_CHECK_MANAGER, patchRequest } from "#workload-patch";
import { withoutQuotedValues } from "../quoted-values.ts";
import type { CheckedPatch, CompileRecords } from "./compile-records.ts";
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
  { client, records, signal, clock }: Context,
): Promise<ReconcileOutcome> {
  const { deployment, applied, target } = state;
  if (deployment === undefined || applied?.ok !== true) return settled;
  const operations = jsonPatchBetween(deployment, applied.value.deployment) as readonly Json[];
  const options = { dryRun: true, fieldManager: PATCH_CHECK_MANAGER, signal };
  const answer = await client.patch(deployments, target, { type: "json", operations }, options);
  const error = answer.ok ? undefined : withoutQuotedValues(answer.error, deployment);
  if (error !== undefined && !REFUSED.has(error.kind)) return failed(error);
  const problem = error === undefined ? undefined : refusedPatch(error.message, "check", clock.now());
  noteCheck(records, key, { id: checkId(state), problem });
  return settled;
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
