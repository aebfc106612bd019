/** An admission webhook over HTTPS that allows every request, and adds the fields of an attack to its response. */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expectOk, reveal, systemClock } from "#base";
import { fieldAt, type JsonObject } from "#kube";
import { createCertificateAuthority, issueCertificate } from "#pki";

export type AttackWebhook = AsyncDisposable & {
  /** For a webhook configuration. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  /** Fields of the next responses. */
  more: JsonObject;
};

export async function startAttackWebhook(): Promise<AttackWebhook> {
  const now = systemClock.now();
  const valid = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 3_600_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "webhook-ca", ...valid }));
  const names = { commonName: "webhook", ipAddresses: ["127.0.0.1"] };
  const serving = expectOk(issueCertificate(authority, { ...names, usages: ["server"], ...valid }));
  const server = createServer({ key: reveal(serving.key), cert: serving.certificate });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const webhook: AttackWebhook = {
    clientConfig: { url: `https://127.0.0.1:${port}`, caBundle: Buffer.from(authority.certificate).toString("base64") },
    more: {},
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => void allow(request, response, webhook.more));
  return webhook;
}

async function allow(request: IncomingMessage, response: ServerResponse, more: JsonObject): Promise<void> {
  const uid = fieldAt(await json(request), "request", "uid");
  const review = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid, allowed: true, ...more } };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(review));
}
