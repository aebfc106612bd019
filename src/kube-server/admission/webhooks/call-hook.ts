/** Asks one webhook about one request. */
import { err, ok, type Result } from "#base";
import { newUid } from "../../protocol/core.ts";
import { badRequest, internalError, type Failure } from "../../protocol/status.ts";
import type { WebhookClients } from "../../webhook-client/index.ts";
import type { AdmissionContext, Attributes } from "../../protocol/admission-port.ts";
import { readAnswer, reviewBody, type Answer } from "./admission-review.ts";
import { denied } from "./denial.ts";
import type { Invocation } from "./match-hook.ts";
import type { Pair } from "./versions.ts";

export type Asking = { readonly context: AdmissionContext; readonly clients: WebhookClients; readonly mutating: boolean };

/** "calling": the webhook did not do its part, and the failure policy decides. "refused": the request ends here. */
export type CallError = { readonly kind: "calling"; readonly problem: string } | { readonly kind: "refused"; readonly failure: Failure };

export async function callHook(
  asking: Asking,
  { hook, matched }: Invocation,
  { attributes, pair }: { readonly attributes: Attributes; readonly pair: Pair },
): Promise<Result<Answer, CallError>> {
  const { context, clients, mutating } = asking;
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
  const answer = readAnswer(posted.value, { uid, version, mutating });
  if (!answer.ok) {
    const { kind, problem } = answer.error;
    return calling(`${kind === "call" ? "failed to call webhook" : "received invalid webhook response"}: ${problem}`);
  }
  for (const warning of answer.value.warnings) attributes.warn(warning);
  return answer.value.allowed ? ok(answer.value) : refused(denied(hook.name, answer.value.status).error);
}

export function calling(problem: string): Result<never, CallError> {
  return err({ kind: "calling", problem });
}

export function refused(failure: Failure): Result<never, CallError> {
  return err({ kind: "refused", failure });
}

/** A webhook that may fail is passed over; anything else ends the request. */
export function failureOf(error: CallError, { hook }: Invocation, { logger }: AdmissionContext): Failure | undefined {
  if (error.kind === "refused") return error.failure;
  const message = `failed calling webhook ${JSON.stringify(hook.name)}: ${error.problem}`;
  if (hook.failurePolicy === "Fail") return internalError(message).error;
  logger.warn("a webhook failed and is passed over", { webhook: hook.name, problem: error.problem });
  return undefined;
}
