/** Reads the body of a request within the limits of its listener, or discards it. */
import { Buffer } from "node:buffer";
import { err, ok, type Clock, type Result } from "#base";
import type { HttpRequest } from "./http-server.ts";
import type { ListenerLimits } from "./limits.ts";

export type BodyError = "too-large" | "disconnected";
type Reading = { readonly limits: ListenerLimits; readonly clock: Clock };

/** A body that arrives too slowly is cut off: on HTTP/1.1 by Node (`requestTimeout`), on HTTP/2 here. */
export function readBody(request: HttpRequest, { limits, clock }: Reading): Promise<Result<Uint8Array, BodyError>> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.bodyBytes) return Promise.resolve(err("too-large"));
  const body = collectBody(request, limits.bodyBytes);
  return "stream" in request ? body.finally(clock.after(limits.requestMs, () => cutOff(request))) : body;
}

/** Events instead of `for await`: an iterator over a stream costs as much as the rest of reading it. */
function collectBody(request: HttpRequest, most: number): Promise<Result<Uint8Array, BodyError>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return new Promise((resolve) => {
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > most) resolve(err("too-large"));
      else chunks.push(chunk);
    });
    request.once("end", () => resolve(ok(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))));
    request.once("error", () => resolve(err("disconnected")));
    request.once("close", () => request.readableEnded || resolve(err("disconnected")));
  });
}

/** Drops a body that is too large or not wanted. It is read for a short time: a client that is still sending would not see the response. */
export function discardBody(request: HttpRequest, { limits, clock }: Reading): void {
  request.resume();
  const stop = clock.after(limits.lingerMs, () => cutOff(request));
  request.once("close", stop);
}

function cutOff(request: HttpRequest): void {
  if ("stream" in request) request.stream.close();
  else request.destroy();
}
