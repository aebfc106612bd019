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

async function* bodyOf(stream: ClientHttp2Stream, explain: () => KubeError): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  let ended = false;
  try {
    for await (const chunk of stream) yield ok(chunk as Uint8Array);
    ended = true;
  } catch {
    return yield err(explain());
  } finally {
    if (!ended) cancel(stream);
  }
  if (stream.aborted || (stream.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR) yield err(explain());
}

function breakOf(stream: ClientHttp2Stream, thrown: unknown, context: StreamContext): KubeError {
  if (context.signal.aborted) return failure("cancelled", "the call was cancelled").error;
  if (context.isClosed()) return failure("cancelled", "the client was closed").error;
  if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
    return failure("network", `${context.server} refused the call before processing it`, "safe").error;
  }
  return connectionLost(context.server, thrown ?? new Error("the server ended the call early"));
}
