/**
 * An HTTPS listener on loopback for all webhooks of a run: contracts add hooks, each with its own path. It runs in the process of the
 * contracts, and the API server under test calls it.
 */
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expectOk, reveal } from "#base";
import type { JsonObject } from "#kube";
import { createCertificateAuthority, issueCertificate } from "#pki";

/** The request of a webhook: an AdmissionReview or a ConversionReview. */
export type Review = { readonly apiVersion: string; readonly kind: string; readonly request: JsonObject };

export type Hook = {
  /** For a webhook configuration. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  readonly calls: readonly Review[];
  readonly end: () => void;
};

/** A response that is not a review: a status code and a text. */
export type RawResponse = { readonly rawStatus: number; readonly text: string };

export type HookHost = {
  add(reply: (review: Review) => unknown): Hook;
  close(): Promise<void>;
};

export async function startHookHost(): Promise<HookHost> {
  const { caPem, key, cert } = certificates();
  const hooks = new Map<string, (review: Review) => unknown>();
  let made = 0;
  const server = createServer({ key, cert }, (incoming, outgoing) => {
    const reply = hooks.get((incoming.url ?? "").split("?")[0] ?? "");
    void json(incoming).then((review) => send(outgoing, reply?.(review as Review) ?? { rawStatus: 404, text: "no such hook" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    add(reply) {
      made += 1;
      const path = `/hook-${made}`;
      const calls: Review[] = [];
      hooks.set(path, (review) => {
        calls.push(review);
        return reply(review);
      });
      const clientConfig = { url: `https://127.0.0.1:${port}${path}`, caBundle: Buffer.from(caPem).toString("base64") };
      return { clientConfig, calls, end: () => hooks.delete(path) };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function send(outgoing: ServerResponse, answer: unknown): ServerResponse {
  if (isRawResponse(answer)) return outgoing.writeHead(answer.rawStatus).end(answer.text);
  return outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

function isRawResponse(answer: unknown): answer is RawResponse {
  return typeof answer === "object" && answer !== null && "rawStatus" in answer;
}

const HOUR_MS = 3_600_000;

function certificates() {
  const valid = { notBefore: new Date(Date.now() - HOUR_MS), notAfter: new Date(Date.now() + HOUR_MS) };
  const authority = expectOk(createCertificateAuthority({ commonName: "contracts", ...valid }));
  const serving = expectOk(
    issueCertificate(authority, { commonName: "127.0.0.1", ipAddresses: ["127.0.0.1"], usages: ["server"], ...valid }),
  );
  return { caPem: authority.certificate, key: reveal(serving.key), cert: serving.certificate };
}
