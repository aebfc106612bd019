/** Calls one webhook for one request. */
import { err, ok, type Result } from "#base";
import { newUid } from "../../protocol/core.ts";
import { badRequest, internalError, type Failure } from "../../protocol/status.ts";
import type { WebhookClients } from "../../webhook-client/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";
import { readResponse, reviewBody, type AdmissionReviewResponse } from "./admission-review.ts";
import { denied } from "./denial.ts";
import type { HookInvocation } from "./match-hook.ts";
import type { ObjectPair } from "./versions.ts";

export type HookCaller = { readonly context: AdmissionContext; readonly clients: WebhookClients; readonly mutating: boolean };

/** "calling": the call failed, and the failure policy decides. "refused": the request ends here. */
export type HookError = { readonly kind: "calling"; readonly problem: string } | { readonly kind: "refused"; readonly failure: Failure };

export async function callHook(
  caller: HookCaller,
  { hook, matched }: HookInvocation,
  { attributes, pair }: { readonly attributes: Attributes; readonly pair: ObjectPair },
): Promise<Result<AdmissionReviewResponse, HookError>> {
  const { context, clients, mutating } = caller;
  if (attributes.dryRun && !hook.supportsDryRun) {
    return refused(badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`).error);
  }
  const version = hook.reviewVersion;
  if (version === undefined)
    return calling("could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)");
  const uid = newUid(context.random);
  const body = reviewBody({ uid, attributes, matched, pair }, version);
  const posted = await clients.post(hook.client, body, hook.timeoutSeconds);
  if (!posted.ok) return calling(`failed to call webhook: ${posted.error}`);
  const answer = readResponse(posted.value, { uid, version, mutating });
  if (!answer.ok) {
    const { kind, problem } = answer.error;
    return calling(`${kind === "call" ? "failed to call webhook" : "received invalid webhook response"}: ${problem}`);
  }
  for (const warning of answer.value.warnings) attributes.warn(warning);
  return answer.value.allowed ? ok(answer.value) : refused(denied(hook.name, answer.value.status).error);
}

export function calling(problem: string): Result<never, HookError> {
  return err({ kind: "calling", problem });
}

export function refused(failure: Failure): Result<never, HookError> {
  return err({ kind: "refused", failure });
}

/** Undefined: the failed call is ignored because of its failurePolicy. */
export function failureOf(error: HookError, { hook }: HookInvocation, { logger }: AdmissionContext): Failure | undefined {
  if (error.kind === "refused") return error.failure;
  const message = `failed calling webhook ${JSON.stringify(hook.name)}: ${error.problem}`;
  if (hook.failurePolicy === "Fail") return internalError(message).error;
  logger.warn("a webhook failed and is ignored", { webhook: hook.name, problem: error.problem });
  return undefined;
}
