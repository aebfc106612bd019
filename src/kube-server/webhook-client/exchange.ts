/**
 * One POST over HTTPS, with a deadline. Redirects are not followed: the configuration says who is called, and nobody else does.
 *
 * A connection that was kept open may be closed by the other side at the very moment we use it again; only that is tried a second time.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { isIP } from "node:net";
import { err, ok, type Clock, type Result } from "#base";
import { checkServerName, goNetworkError } from "./go-network-errors.ts";

export type HttpAnswer = {
  readonly status: number;
  readonly contentType: string;
  /** Seconds; undefined when the other side does not ask us to come back. */
  readonly retryAfter: number | undefined;
  readonly body: Buffer;
};

export type Exchange = {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly address: { readonly host: string; readonly port: number };
  readonly hostHeader: string;
  /** As errors show it. */
  readonly url: string;
  readonly path: string;
  readonly body: string;
  readonly timeoutMs: number;
};

/**
 * Connections to one place, trusted by one set of authorities. What the certificate must be for is said here and not with each request: Node
 * keeps no connection whose certificate was checked by a request's own rule.
 */
export function agentFor(serverName: string, authorities: string): Agent {
  return new Agent({
    keepAlive: true,
    servername: isIP(serverName) === 0 ? serverName : "",
    ...(authorities === "" ? {} : { ca: authorities }),
    // any certificate of the bundle is a root, as it is to Go
    allowPartialTrustChain: true,
    checkServerIdentity: (_, peer) => checkServerName(serverName, peer),
  });
}

/** Room for a patch that replaces an object of 3 MiB, the largest there is, as base64. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
export const DEADLINE = "context deadline exceeded";
export const CANCELLED = "context canceled";

export async function exchange(call: Exchange): Promise<Result<HttpAnswer, string>> {
  const first = await attempt(call);
  if (first.kind === "stale") {
    const second = await attempt(call);
    return second.kind === "answer" ? ok(second.answer) : err(second.problem);
  }
  return first.kind === "answer" ? ok(first.answer) : err(first.problem);
}

type Attempt =
  | { readonly kind: "answer"; readonly answer: HttpAnswer }
  | { readonly kind: "failed"; readonly problem: string }
  | { readonly kind: "stale"; readonly problem: string };

function attempt(call: Exchange): Promise<Attempt> {
  return new Promise((resolve) => {
    const ended = deadline(call);
    const finish = (outcome: Attempt): void => {
      ended.cancel();
      resolve(outcome);
    };
    const before = (problem: string): string => `Post ${JSON.stringify(call.url)}: ${problem}`;
    let isAnswered = false;
    const sent = request(optionsOf(call, ended.signal), (response) => {
      isAnswered = true;
      void readBody(response).then((body) => {
        if (body.ok) return finish({ kind: "answer", answer: answerOf(response, body.value) });
        return finish({ kind: "failed", problem: body.error === TOO_LARGE ? TOO_LARGE : whileReading(ended.reason() ?? body.error) });
      });
    });
    sent.on("error", (thrown) => {
      if (isAnswered) return; // the body says what became of it
      const reason = ended.reason();
      if (reason !== undefined) return finish({ kind: "failed", problem: before(reason) });
      finish({ kind: sent.reusedSocket ? "stale" : "failed", problem: before(goNetworkError(thrown)) });
    });
    sent.end(call.body);
  });
}

function optionsOf({ agent, address, hostHeader, path, body }: Exchange, signal: AbortSignal) {
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

function deadline({ clock, signal, timeoutMs }: Exchange): Deadline {
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

const TOO_LARGE = `the response is larger than ${MAX_ANSWER_BYTES} bytes`;

function readBody(response: IncomingMessage): Promise<Result<Buffer, string>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_ANSWER_BYTES) return chunks.push(chunk);
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

function answerOf(response: IncomingMessage, body: Buffer): HttpAnswer {
  const after = response.headers["retry-after"] ?? "";
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers["content-type"] ?? "",
    retryAfter: /^[0-9]+$/.test(after) ? Number(after) : undefined,
    body,
  };
}
