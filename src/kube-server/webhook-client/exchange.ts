/**
 * One POST over HTTPS, with a deadline. Redirects are not followed: only the configuration names the server to call.
 *
 * The other side may close an idle connection just before it is used again; only such a request is sent a second time.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { isIP } from "node:net";
import { err, ok, type Clock, type Result } from "#base";
import { checkServerName, goNetworkError } from "./go-network-errors.ts";

export type WebhookResponse = {
  readonly status: number;
  readonly contentType: string;
  /** Seconds; undefined without a Retry-After header. */
  readonly retryAfter: number | undefined;
  readonly body: Buffer;
};

export type WebhookCall = {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly address: { readonly host: string; readonly port: number };
  readonly hostHeader: string;
  /** As error messages show it. */
  readonly url: string;
  readonly path: string;
  readonly body: string;
  readonly timeoutMs: number;
};

/**
 * Connections to one origin, verified against one CA bundle. The server name is an option of the agent and not of each request: Node does not
 * reuse a connection whose certificate was checked by the options of a request.
 */
export function agentFor(serverName: string, authorities: string): Agent {
  return new Agent({
    keepAlive: true,
    servername: isIP(serverName) === 0 ? serverName : "",
    ...(authorities === "" ? {} : { ca: authorities }),
    // any certificate of the bundle is a root, as in Go
    allowPartialTrustChain: true,
    checkServerIdentity: (_, peer) => checkServerName(serverName, peer),
  });
}

/** Enough for a patch that replaces an object of 3 MiB, the largest size allowed, as base64. */
export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
export const DEADLINE = "context deadline exceeded";
export const CANCELLED = "context canceled";

export async function exchange(call: WebhookCall): Promise<Result<WebhookResponse, string>> {
  const first = await attempt(call);
  if (first.kind === "stale") {
    const second = await attempt(call);
    return second.kind === "response" ? ok(second.response) : err(second.problem);
  }
  return first.kind === "response" ? ok(first.response) : err(first.problem);
}

type Attempt =
  | { readonly kind: "response"; readonly response: WebhookResponse }
  | { readonly kind: "failed"; readonly problem: string }
  | { readonly kind: "stale"; readonly problem: string };

function attempt(call: WebhookCall): Promise<Attempt> {
  return new Promise((resolve) => {
    const ended = deadline(call);
    const finish = (outcome: Attempt): void => {
      ended.cancel();
      resolve(outcome);
    };
    const before = (problem: string): string => `Post ${JSON.stringify(call.url)}: ${problem}`;
    let hasResponse = false;
    const sent = request(optionsOf(call, ended.signal), (response) => {
      hasResponse = true;
      void readBody(response).then((body) => {
        if (body.ok) return finish({ kind: "response", response: responseOf(response, body.value) });
        return finish({ kind: "failed", problem: body.error === TOO_LARGE ? TOO_LARGE : whileReading(ended.reason() ?? body.error) });
      });
    });
    sent.on("error", (thrown) => {
      if (hasResponse) return; // readBody reports the result
      const reason = ended.reason();
      if (reason !== undefined) return finish({ kind: "failed", problem: before(reason) });
      finish({ kind: sent.reusedSocket ? "stale" : "failed", problem: before(goNetworkError(thrown)) });
    });
    sent.end(call.body);
  });
}

function optionsOf({ agent, address, hostHeader, path, body }: WebhookCall, signal: AbortSignal) {
  return {
    agent,
    signal,
    method: "POST",
    host: address.host,
    port: address.port,
    path,
    headers: {
      accept: "application/json, */*",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      host: hostHeader,
      "user-agent": "kube-apiserver-admission",
    },
  };
}

type Deadline = { readonly signal: AbortSignal; readonly reason: () => string | undefined; readonly cancel: () => void };

function deadline({ clock, signal, timeoutMs }: WebhookCall): Deadline {
  const controller = new AbortController();
  let reason: string | undefined;
  const end = (why: string) => () => {
    reason ??= why;
    controller.abort();
  };
  const onAbort = end(CANCELLED);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const cancelTimer = clock.after(timeoutMs, end(DEADLINE));
  const cancel = (): void => {
    cancelTimer();
    signal.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, reason: () => reason, cancel };
}

const TOO_LARGE = `the response is larger than ${MAX_RESPONSE_BYTES} bytes`;

function readBody(response: IncomingMessage): Promise<Result<Buffer, string>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_RESPONSE_BYTES) return chunks.push(chunk);
      resolve(err(TOO_LARGE));
      return response.destroy();
    });
    response.on("end", () => resolve(ok(Buffer.concat(chunks))));
    response.on("error", (thrown) => resolve(err(readProblem(thrown))));
  });
}

function readProblem(thrown: unknown): string {
  const problem = goNetworkError(thrown);
  return problem === "EOF" ? "unexpected EOF" : problem;
}

function whileReading(problem: string): string {
  return `unexpected error when reading response body. Please retry. Original error: ${problem}`;
}

function responseOf(response: IncomingMessage, body: Buffer): WebhookResponse {
  const after = response.headers["retry-after"] ?? "";
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers["content-type"] ?? "",
    retryAfter: /^[0-9]+$/.test(after) ? Number(after) : undefined,
    body,
  };
}
