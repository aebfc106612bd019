/**
 * One request on one HTTP/2 stream: sends the body, waits for the head, returns the body as it arrives.
 *
 * Node ends a stream that the server reset as if it were complete; `rstCode` and `aborted` distinguish the two.
 */
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import { err, ok, type Result } from "#base";
import { failure, type KubeError } from "../errors.ts";
import type { TransportResponse } from "../transport.ts";
import { connectionLost } from "./connection-error.ts";
import { plainHeaders } from "./headers.ts";

/** How a broken stream is explained: it depends on what ended it. */
export type StreamContext = { readonly server: string; readonly signal: AbortSignal; readonly isClosed: () => boolean };

export function responseOn(
  stream: ClientHttp2Stream,
  body: string | undefined,
  context: StreamContext,
): Promise<Result<TransportResponse, KubeError>> {
  const { signal } = context;
  let broken: unknown;
  const onAbort = () => cancel(stream);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  stream.on("error", (thrown) => (broken = thrown));
  const explain = () => breakOf(stream, broken, context);
  return new Promise((resolve) => {
    stream.once("response", (headers) => resolve(ok(responseFrom(headers, stream, explain))));
    stream.once("close", () => {
      signal.removeEventListener("abort", onAbort);
      resolve(err(explain()));
    });
    if (body !== undefined) stream.end(body);
  });
}

/** RST_STREAM stops the server; `destroy` discards unread data. */
function cancel(stream: ClientHttp2Stream): void {
  stream.close(constants.NGHTTP2_CANCEL);
  stream.destroy();
}

function responseFrom(headers: IncomingHttpHeaders, stream: ClientHttp2Stream, explain: () => KubeError): TransportResponse {
  return { code: Number(headers[":status"]), headers: plainHeaders(headers), body: bodyOf(stream, explain) };
}

/**
 * Read with `read`, not with the stream's own iterator: Node's iterator fails with a premature close when the whole response has arrived before the
 * first read, as it does while this process is busy.
 */
async function* bodyOf(stream: ClientHttp2Stream, explain: () => KubeError): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  let wake = () => {};
  const changed = () => wake();
  for (const event of BODY_EVENTS) stream.on(event, changed);
  try {
    while (!stream.readableEnded && !stream.destroyed) {
      const chunk = stream.read() as Uint8Array | null;
      if (chunk !== null) yield ok(chunk);
      else if (!stream.readableEnded) await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    for (const event of BODY_EVENTS) stream.off(event, changed);
    if (!stream.readableEnded) cancel(stream);
  }
  const isComplete = stream.readableEnded && !stream.aborted && (stream.rstCode ?? 0) === constants.NGHTTP2_NO_ERROR;
  if (!isComplete) yield err(explain());
}

const BODY_EVENTS = ["readable", "end", "close"] as const;

function breakOf(stream: ClientHttp2Stream, thrown: unknown, context: StreamContext): KubeError {
  if (context.signal.aborted) return failure("cancelled", "the call was cancelled").error;
  if (context.isClosed()) return failure("cancelled", "the client was closed").error;
  if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
    return failure("network", `${context.server} refused the call before processing it`, "safe").error;
  }
  return connectionLost(context.server, thrown ?? new Error("the server ended the call early"));
}
