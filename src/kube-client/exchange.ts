/**
 * One call from request to body: time limit, cancellation, size limit, retries.
 *
 * The time limit is for the whole call, including waits between attempts. A wait that would exceed the limit is not started: the caller
 * gets the error at once, with the server's `retryAfterMs`.
 */
import { err, ok, sleep, type Clock, type Result } from "#base";
import { parseJson } from "#kube";
import { openScope, type CallScope } from "./call-scope.ts";
import { decodeUtf8 } from "./decode.ts";
import { errorOfResponse, failure, notSent, type KubeError } from "./errors.ts";
import type { ClientResult, CallOptions } from "./ports.ts";
import { mayRetry, retryDelay, type RetryPolicy } from "./retry.ts";
import type { Transport, TransportResponse, TransportRequest } from "./transport.ts";
import { unlessAborted } from "./unless-aborted.ts";
import type { WarningSink } from "./warnings.ts";

export type ExchangeContext = {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly retry: RetryPolicy;
  readonly warnings: WarningSink;
  /** Fires when the client closes. */
  readonly closing: AbortSignal;
};

export async function exchange(context: ExchangeContext, request: TransportRequest, options: CallOptions): ClientResult<string> {
  const outgoing = options.mayLeave === undefined ? request : { ...request, mayLeave: options.mayLeave };
  const scope = openScope(context.clock, options.timeoutMs ?? context.timeoutMs, [options.signal, context.closing]);
  try {
    for (let failures = 1; ; failures += 1) {
      const answer = await oneTry(context, outgoing, scope);
      if (answer.ok || failures >= context.retry.attempts || !mayRetry(request.method, answer.error)) return answer;
      const wait = retryDelay(context.retry, failures, answer.error, context.random);
      if (wait >= scope.remainingMs()) return answer;
      if (!(await sleep(context.clock, wait, scope.signal))) return scope.ending() ?? answer;
    }
  } finally {
    scope.release();
  }
}

async function oneTry(context: ExchangeContext, request: TransportRequest, scope: CallScope): ClientResult<string> {
  const answer = await sendWithin(context, request, scope);
  if (!answer.ok) return answer;
  const body = await readBody(answer.value, context.maxBodyBytes, scope);
  if (!body.ok) return body;
  return isSuccess(answer.value) ? decodeUtf8(body.value) : err(errorFrom(answer.value, body.value));
}

/** The head of the response; a transport that ignores its signal is not waited for when the scope ends. */
export async function sendWithin(
  context: ExchangeContext,
  request: TransportRequest,
  scope: CallScope,
): Promise<Result<TransportResponse, KubeError>> {
  const already = scope.ending();
  if (already !== undefined) return already;
  if (request.mayLeave?.() === false) return notSent();
  const answer = await unlessAborted(context.transport.send(request, scope.signal), scope.signal);
  const ended = scope.ending();
  if (answer === undefined || ended !== undefined) return ended ?? failure("cancelled", "the call was cancelled");
  if (answer.ok) context.warnings(answer.value.headers["warning"]);
  return answer;
}

export function isSuccess(answer: TransportResponse): boolean {
  return answer.code >= 200 && answer.code < 300;
}

/** The whole body, in chunks. */
export async function readBody(answer: TransportResponse, maxBytes: number, scope: CallScope): Promise<Result<Uint8Array[], KubeError>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of piecesWithin(answer, scope)) {
    if (!piece.ok) return piece;
    size += piece.value.byteLength;
    if (size > maxBytes) return failure("protocol", `the response is larger than ${maxBytes} bytes`, "useless");
    pieces.push(piece.value);
  }
  return ok(pieces);
}

/** The body chunk by chunk; when the scope ends first, the last item is the error. Leaving the loop early closes the transport's stream. */
export async function* piecesWithin(answer: TransportResponse, scope: CallScope): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  const iterator = answer.body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), scope.signal);
      const ended = scope.ending();
      if (ended !== undefined) return yield ended;
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    // not awaited: a body that waits for its next event resolves `return` only after that event
    void iterator.return?.();
  }
}

export function errorFrom(answer: TransportResponse, body: readonly Uint8Array[]): KubeError {
  const text = decodeUtf8(body);
  const json = text.ok ? parseJson(text.value) : text;
  return errorOfResponse(answer.code, json.ok ? json.value : undefined, answer.headers["retry-after"]);
}
