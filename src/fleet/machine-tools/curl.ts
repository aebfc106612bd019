/**
 * `curl` of a local machine: one HTTPS request with TLS 1.3 and the authorities of a file. Exit codes are those of curl, because scripts of
 * production check them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { describeThrown, err, fromThrowing, ok, sleep, type Result } from "#base";
import { parseCurlArgs, type CurlRequest } from "./curl-args.ts";
import { readToolFile, toolPath, type ToolIo } from "./tool-io.ts";

/** `message`: for stderr. */
export type CurlOutcome = { readonly exitCode: number; readonly message?: string | undefined };

type Answer = { readonly status: number; readonly body: Buffer };
type Failure = { readonly exitCode: number; readonly message: string };

const EXIT = { usage: 2, connect: 7, http: 22, write: 23, read: 26, timeout: 28, tls: 35, trust: 60, size: 63 } as const;
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 10_000;
/** The statuses that curl's --retry counts as transient. */
const TRANSIENT: readonly number[] = [408, 429, 500, 502, 503, 504];

export async function curl(io: ToolIo, args: readonly string[]): Promise<CurlOutcome> {
  const parsed = parseCurlArgs(args, (path) => readToolFile(io, path));
  if (!parsed.ok) return { exitCode: EXIT.usage, message: parsed.error };
  const request = parsed.value;
  const authorities = fromThrowing(() => readFileSync(toolPath(io, request.authorities), "utf8"), describeThrown);
  if (!authorities.ok) return { exitCode: EXIT.read, message: `${request.authorities} cannot be read: ${authorities.error}` };
  const answer = await sendWithRetries(io, request, authorities.value);
  const outcome = answer.ok ? finish(io, request, answer.value) : answer.error;
  return request.silent && !request.showError ? { exitCode: outcome.exitCode } : outcome;
}

async function sendWithRetries(io: ToolIo, request: CurlRequest, authorities: string): Promise<Result<Answer, Failure>> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await send(io, request, authorities);
    if (attempt >= request.retries || !isTransient(request, answer)) return answer;
    if (!(await sleep(io.clock, Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS), io.signal))) return answer;
  }
}

function isTransient({ retryConnections }: CurlRequest, answer: Result<Answer, Failure>): boolean {
  if (answer.ok) return TRANSIENT.includes(answer.value.status);
  return answer.error.exitCode === EXIT.timeout || (retryConnections && answer.error.exitCode === EXIT.connect);
}

function finish(io: ToolIo, { fail, output }: CurlRequest, { status, body }: Answer): CurlOutcome {
  if (fail && status >= 400) return { exitCode: EXIT.http, message: `the server answered with status ${status}` };
  if (output === undefined) {
    io.stdout(body.toString("utf8"));
    return { exitCode: 0 };
  }
  const written = fromThrowing(() => writeFileSync(toolPath(io, output), body, { mode: 0o600 }), describeThrown);
  return written.ok ? { exitCode: 0 } : { exitCode: EXIT.write, message: `${output} cannot be written: ${written.error}` };
}

function send(io: ToolIo, options: CurlRequest, ca: string): Promise<Result<Answer, Failure>> {
  const { url, method, headers, body, maxTimeMs, connectTimeoutMs } = options;
  return new Promise((resolve) => {
    const started = fromThrowing(() => httpsRequest(url, { method, ca, minVersion: "TLSv1.3", agent: false }), describeThrown);
    if (!started.ok) return resolve(err({ exitCode: EXIT.usage, message: started.error }));
    const request = started.value;
    let timedOut = false;
    const expire = () => {
      timedOut = true;
      request.destroy(new Error("the time limit has passed"));
    };
    const limit = (ms: number | undefined) => (ms === undefined ? () => {} : io.clock.after(ms, expire));
    const [cancelTotal, cancelConnect] = [limit(maxTimeMs), limit(connectTimeoutMs)];
    const abort = () => request.destroy(new Error("stopped by a signal"));
    io.signal.addEventListener("abort", abort, { once: true });
    const end = (result: Result<Answer, Failure>) => {
      io.signal.removeEventListener("abort", abort);
      cancelTotal();
      cancelConnect();
      request.destroy();
      resolve(result);
    };
    const fail = (error: NodeJS.ErrnoException) =>
      end(err(timedOut ? { exitCode: EXIT.timeout, message: error.message } : failureOf(error)));
    for (const [name, value] of headers) request.appendHeader(name, value);
    request.once("socket", (socket) => socket.once("secureConnect", cancelConnect));
    request.on("error", fail).on("response", (response) => void readBody(response).then(end, fail));
    request.end(body);
  });
}

async function readBody(response: IncomingMessage): Promise<Result<Answer, Failure>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > MAX_BODY_BYTES) return err({ exitCode: EXIT.size, message: `the answer is larger than ${MAX_BODY_BYTES} bytes` });
    chunks.push(bytes);
  }
  return ok({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
}

const UNTRUSTED = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA)/;

function failureOf({ code = "", message }: NodeJS.ErrnoException): Failure {
  const exitCode = UNTRUSTED.test(code) ? EXIT.trust : /^(?:ERR_SSL|EPROTO|ERR_TLS)/.test(code) ? EXIT.tls : EXIT.connect;
  return { exitCode, message: message === "" ? code : message };
}
