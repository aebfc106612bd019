/**
 * Requests of this process to the API server of a child, each in a tunnel of its own: the transport below an ordinary KubeClient. No socket and no
 * credential of the parent is used: the agent adds its own.
 */
import { mapErr, ok, type Result } from "#base";
import { failure, type KubeError, type Transport, type TransportRequest, type TransportResponse } from "#kube-client";
import { requestThroughTunnel, type TunnelAnswer } from "./request-through-tunnel.ts";
import type { TunnelHeader } from "./tunnel-headers.ts";
import type { OpenTunnel, TunnelOpenError } from "./tunnel-types.ts";

export function tunnelTransport(cluster: string, openTunnel: OpenTunnel): Transport {
  const closing = new AbortController();
  return {
    async send(request, caller) {
      const signal = AbortSignal.any([caller, closing.signal]);
      if (signal.aborted) return failure("cancelled", "the call was cancelled before it was sent", "safe");
      const opened = await openTunnel(cluster, signal);
      if (!opened.ok) return signal.aborted ? failure("cancelled", "the call was cancelled", "safe") : refusedTunnel(opened.error);
      if (request.mayLeave?.() === false) {
        opened.value.cancel("the caller is no longer allowed to send");
        return failure("cancelled", "not sent: the caller is no longer allowed to", "safe");
      }
      const { method, path } = request;
      const answer = await requestThroughTunnel(opened.value, { method, path, ...contentOf(request) }, signal);
      if (answer.ok) return ok(responseOf(answer.value, signal));
      if (signal.aborted) return failure("cancelled", "the call was cancelled");
      // whether a write took effect is not known
      return answer.error.kind === "invalid"
        ? failure("bad-request", answer.error.message, "useless")
        : failure("network", `${cluster}: ${answer.error.message}`);
    },
    async close() {
      closing.abort();
    },
  };
}

function refusedTunnel({ kind, message }: TunnelOpenError): Result<never, KubeError> {
  // nothing was sent; a wait helps, and the caller decides how long
  return failure(kind === "timeout" ? "timeout" : "unavailable", message);
}

function contentOf({ headers, body }: TransportRequest): {
  readonly headers: readonly TunnelHeader[];
  readonly body?: AsyncIterable<Uint8Array>;
} {
  const sent = Object.entries(headers);
  if (body === undefined) return { headers: sent };
  const bytes = new TextEncoder().encode(body);
  return { headers: [...sent, ["content-length", String(bytes.byteLength)]], body: oneOf(bytes) };
}

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function responseOf({ status, headers, body }: TunnelAnswer, signal: AbortSignal): TransportResponse {
  return { code: status, headers: Object.fromEntries(headers), body: bytesOf(body, signal) };
}

async function* bytesOf(body: TunnelAnswer["body"], signal: AbortSignal): AsyncGenerator<Result<Uint8Array, KubeError>> {
  for await (const piece of body) {
    yield mapErr(piece, (message): KubeError =>
      signal.aborted ? { kind: "cancelled", message: "the call was cancelled" } : { kind: "network", message },
    );
  }
}
