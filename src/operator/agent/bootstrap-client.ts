/** Requests of an agent to the bootstrap port of its parent: the first certificate, and a renewal after expiry. TLS 1.3, the cell's authorities only. */
import { request as httpsRequest } from "node:https";
import { err, fromThrowing, ok, reveal, type Result, type Sensitive } from "#base";
import { field, parseJson } from "#kube";

export type BootstrapClientOptions = {
  /** `https://host:port` */
  readonly url: string;
  readonly trustBundle: string;
};

/** PEM, both. */
export type GrantedCertificate = { readonly certificate: string; readonly trustBundle: string };

export type BootstrapPost = {
  readonly path: string;
  readonly body: string;
  readonly token?: Sensitive<string> | undefined;
  readonly signal: AbortSignal;
};

const ANSWER_BYTES = 256 * 1024;
const TIMEOUT_MS = 20_000;

/** "refused": the parent does not accept the token or the signature. "failed": try again later. */
export type BootstrapClientError = { readonly kind: "refused" | "failed"; readonly message: string };

export async function postForCertificate(
  { url, trustBundle }: BootstrapClientOptions,
  post: BootstrapPost,
): Promise<Result<GrantedCertificate, BootstrapClientError>> {
  const answer = await send({ url, trustBundle }, post);
  if (!answer.ok) return err({ kind: "failed", message: `the parent at ${url} cannot be reached: ${answer.error}` });
  const { status, text } = answer.value;
  const json = parseJson(text);
  const read = (name: string) => (json.ok ? field(json.value, name) : undefined);
  if (status !== 200) {
    const reason = read("error");
    const message = `the parent at ${url} answered ${status}${typeof reason === "string" ? `: ${reason.slice(0, 256)}` : ""}`;
    return err({ kind: status === 401 ? "refused" : "failed", message });
  }
  const [certificate, bundle] = [read("certificate"), read("trustBundle")];
  if (typeof certificate === "string" && typeof bundle === "string") return ok({ certificate, trustBundle: bundle });
  return err({ kind: "failed", message: `the answer of the parent at ${url} has no certificate` });
}

type Answer = { readonly status: number; readonly text: string };

function send({ url, trustBundle }: BootstrapClientOptions, { path, body, token, signal }: BootstrapPost): Promise<Result<Answer, string>> {
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve(err(error.message));
    const started = fromThrowing(
      () =>
        httpsRequest(`${url}${path}`, {
          method: "POST",
          ca: trustBundle,
          minVersion: "TLSv1.3",
          agent: false,
          timeout: TIMEOUT_MS,
          signal,
          headers: {
            "content-length": Buffer.byteLength(body),
            ...(token === undefined ? {} : { authorization: `Bearer ${reveal(token)}` }),
          },
        }),
      (thrown) => (thrown instanceof Error ? thrown.message : "invalid request"),
    );
    if (!started.ok) return resolve(started);
    const request = started.value;
    request.on("error", failed);
    request.on("timeout", () => request.destroy(new Error("no answer in time")));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > ANSWER_BYTES) request.destroy(new Error("the answer is too large"));
        else chunks.push(chunk);
      });
      response.on("error", failed);
      response.on("end", () => resolve(ok({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") })));
    });
    request.end(body);
  });
}
