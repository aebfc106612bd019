/**
 * A transport that calls a function in this process: for tests and the embedded API server, without a socket.
 *
 * The handler may ignore the signal: the transport ends the call anyway, so that a caller never waits for such a handler.
 */
import { describeThrown, err, fromPromise, ok, type Result } from "#base";
import { failure, type KubeError } from "./errors.ts";
import type { Transport, TransportResponse, TransportRequest } from "./transport.ts";
import { unlessAborted } from "./unless-aborted.ts";

export type InProcessHandler = (request: TransportRequest, signal: AbortSignal) => Promise<TransportResponse>;

export function inProcessTransport(handler: InProcessHandler): Transport {
  const closing = new AbortController();
  return {
    async send(request, signal) {
      const either = AbortSignal.any([signal, closing.signal]);
      if (either.aborted) return failure("cancelled", "the call was cancelled before it was sent", "safe");
      const answer = await unlessAborted(fromPromise(handler(request, either), handlerBroke), either);
      if (answer === undefined) return failure("cancelled", "the call was cancelled");
      return answer.ok ? ok({ ...answer.value, body: untilAborted(answer.value.body, either) }) : answer;
    },
    async close() {
      closing.abort();
    },
  };
}

function handlerBroke(thrown: unknown): KubeError {
  return { kind: "protocol", message: `the in-process server failed: ${describeThrown(thrown)}` };
}

async function* untilAborted(
  body: AsyncIterable<Result<Uint8Array, KubeError>>,
  signal: AbortSignal,
): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(fromPromise(iterator.next(), handlerBroke), signal);
      if (next === undefined) return yield failure("cancelled", "the call was cancelled");
      if (!next.ok) return yield err(next.error);
      if (next.value.done === true) return;
      yield next.value.value;
    }
  } finally {
    // not awaited: a body that waits for its next event resolves `return` only after that event
    if (iterator.return !== undefined) void fromPromise(iterator.return(), handlerBroke);
  }
}
