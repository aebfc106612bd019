/**
 * The body of a client's request as a stream, within the limits of the listener. It is never held as a whole.
 *
 * A body that is cut off must not seem complete to the API server: `stop` is called before the stream ends.
 */
import { Buffer } from "node:buffer";
import type { Clock } from "#base";
import type { HttpRequest, ListenerLimits } from "#listener";
import { BODY_TOO_SLOW, TOO_LARGE, type ProxyRefusal } from "./proxy-refusal.ts";

export function hasBody(request: HttpRequest): boolean {
  if ("stream" in request) return !request.stream.endAfterHeaders;
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

export type BodyOptions = {
  readonly limits: ListenerLimits;
  readonly clock: Clock;
  /** Ends the request; a client that has gone gets no refusal. */
  readonly stop: (refusal?: ProxyRefusal) => void;
};

export async function* streamBody(request: HttpRequest, { limits, clock, stop }: BodyOptions): AsyncGenerator<Uint8Array> {
  const cancelTimer = clock.after(limits.requestMs, () => stop(BODY_TOO_SLOW));
  let size = 0;
  try {
    // a destroyed request could not be answered any more
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
      size += bytes.byteLength;
      if (size > limits.bodyBytes) return stop(TOO_LARGE);
      yield bytes;
    }
    if ("stream" in request && request.stream.aborted) stop();
  } finally {
    cancelTimer();
  }
}
