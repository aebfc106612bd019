/**
 * One watch, from request to events. It is never restarted here: the caller has the last version that it received, and starts the next
 * watch from there (the informer in controller-runtime).
 *
 * The time limit applies until the head of the response; after that a watch may have no events for any time, and the transport detects a
 * dead connection.
 */
import { err, type Result } from "#base";
import type { KubeObject, Resource } from "#kube";
import { openScope, type CallScope } from "./call-scope.ts";
import type { KubeError } from "./errors.ts";
import { errorFrom, isSuccess, piecesWithin, readBody, sendWithin, type ExchangeContext } from "./exchange.ts";
import type { WatchEvent, WatchQuery } from "./ports.ts";
import { watchRequest, withText } from "./requests.ts";
import type { TransportResponse } from "./transport.ts";
import { decodeEvent, LineSplitter } from "./watch-decoder.ts";

type Item<T extends KubeObject> = Result<WatchEvent<T>, KubeError>;

export async function* watchEvents<T extends KubeObject>(
  context: ExchangeContext,
  resource: Resource<T>,
  query: WatchQuery,
  { signal, onOpen }: { readonly signal: AbortSignal; readonly onOpen?: (() => void) | undefined },
): AsyncGenerator<Item<T>, void> {
  const request = watchRequest(resource, query);
  if (!request.ok) return yield request;
  const scope = openScope(context.clock, context.timeoutMs, [signal, context.closing]);
  try {
    const answer = await sendWithin(context, withText(request.value), scope);
    if (answer.ok && isSuccess(answer.value)) onOpen?.();
    for await (const item of answer.ok ? itemsOf(context, resource, answer.value, scope) : [answer]) {
      if (signal.aborted) return;
      yield item;
      if (!item.ok) return;
    }
  } finally {
    scope.release();
  }
}

async function* itemsOf<T extends KubeObject>(
  context: ExchangeContext,
  resource: Resource<T>,
  answer: TransportResponse,
  scope: CallScope,
): AsyncGenerator<Item<T>, void> {
  if (!isSuccess(answer)) {
    const body = await readBody(answer, context.maxBodyBytes, scope);
    return yield body.ok ? err(errorFrom(answer, body.value)) : body;
  }
  scope.lift();
  const lines = new LineSplitter();
  for await (const piece of piecesWithin(answer, scope)) {
    if (!piece.ok) return yield piece;
    for (const line of lines.push(piece.value)) yield line.ok ? decodeEvent(resource, line.value) : line;
  }
  const end = lines.end();
  if (!end.ok) yield end;
}
