/** Waits for the response of the API server, or for the reason why there is none, as one sentence without addresses and secrets. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "#base";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";

export type ApiServerResponse =
  | { readonly kind: "response"; readonly head: IncomingMessage; readonly body: Readable }
  | { readonly kind: "upgraded"; readonly head: IncomingMessage; readonly body: Readable; readonly input: Writable }
  /** `isStale`: a reused connection was closed before the API server sent anything. */
  | { readonly kind: "failed"; readonly message: string; readonly isStale: boolean };

export function responseOf(request: ClientRequest, clock: Clock): Promise<ApiServerResponse> {
  const answer = Promise.withResolvers<ApiServerResponse>();
  const stopTimer = limitConnecting(request, clock);
  request.once("response", (head: IncomingMessage) => answer.resolve({ kind: "response", head, body: head }));
  request.once("upgrade", (head: IncomingMessage, socket: Socket, first: Uint8Array) => {
    socket.on("error", () => socket.destroy());
    if (first.byteLength > 0) socket.unshift(first);
    answer.resolve({ kind: "upgraded", head, body: socket, input: socket });
  });
  // stays: a request may fail again after its response
  request.on("error", (error) => {
    stopTimer();
    answer.resolve({ kind: "failed", message: describeFailure(error), isStale: request.reusedSocket });
  });
  request.once("close", () => {
    stopTimer();
    answer.resolve({ kind: "failed", message: "The API server closed the connection without a response.", isStale: false });
  });
  return answer.promise;
}

function limitConnecting(request: ClientRequest, clock: Clock): () => void {
  const stop = clock.after(TUNNEL_LIMITS.connectMs, () => request.destroy(Object.assign(new Error(), { code: "ETIMEDOUT" })));
  request.once("socket", (socket) => {
    // set when the handshake is over: the connection has served another request
    if ("authorized" in socket && socket.authorized === true) stop();
    else socket.once("secureConnect", stop);
  });
  return stop;
}

function describeFailure(error: Error): string {
  const code = "code" in error && typeof error.code === "string" && /^[A-Z0-9_]{1,64}$/.test(error.code) ? error.code : "unknown";
  if (/CERT|SIGNED|ALTNAME|VERIFY|ISSUER/.test(code)) return `The certificate of the API server is not trusted (${code}).`;
  return `The API server cannot be reached (${code}).`;
}
