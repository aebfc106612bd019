/** An admission server with real TLS, and a client for it. Only for tests. */
import { request, type RequestOptions } from "node:https";
import { onTestFinished } from "vitest";
import { createLogger, expectOk, MetricsRegistry, systemClock, type JsonObject, type LogFields } from "#base";
import { createCertificateAuthority, issueCertificate, type CertificateAuthority, type KeyPairPem } from "#pki";
import type { ReviewDeployment } from "./handler.ts";
import { startAdmissionServer, type AdmissionServerOptions } from "./server.ts";

export type AdmissionReply = { readonly status: number; readonly body: string };
export type LogLine = { readonly level: string; readonly message: string; readonly fields: LogFields };

const DAY = 86_400_000;

export function testAuthority(name = "test"): CertificateAuthority {
  const now = systemClock.now();
  const dates = { notBefore: new Date(now - DAY), notAfter: new Date(now + DAY) };
  return expectOk(createCertificateAuthority({ commonName: name, ...dates }));
}

export function testCertificate(authority: CertificateAuthority, notAfter = systemClock.now() + DAY / 2): KeyPairPem {
  const notBefore = new Date(Math.min(systemClock.now(), notAfter) - DAY / 2);
  const names = { commonName: "webhook", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  return expectOk(issueCertificate(authority, { ...names, notBefore, notAfter: new Date(notAfter), usages: ["server"] }));
}

export async function startTestServer(review: ReviewDeployment, more: Pick<AdmissionServerOptions, "limits"> = {}) {
  const authority = testAuthority();
  const metrics = new MetricsRegistry();
  const lines: LogLine[] = [];
  const logger = createLogger((level, message, fields) => void lines.push({ level, message, fields }));
  const tls = testCertificate(authority);
  const options = { host: "127.0.0.1", port: 0, tls, review, clock: systemClock, logger, metrics, ...more };
  const server = expectOk(await startAdmissionServer(options));
  onTestFinished(() => server.close());
  const send = (body: string | Uint8Array, how: RequestOptions = {}) => sendTo(server.port, body, { ca: authority.certificate, ...how });
  return { server, authority, metrics, lines, send, review: (value: unknown) => send(JSON.stringify(value)) };
}

export function sendTo(port: number, body: string | Uint8Array, how: RequestOptions): Promise<AdmissionReply> {
  const given = how.headers as Readonly<Record<string, string>> | undefined;
  const length = given?.["transfer-encoding"] === undefined ? { "content-length": Buffer.byteLength(body) } : {};
  const options = {
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/mutate/deployments?timeout=2s",
    ...how,
    headers: { "content-type": "application/json", ...length, ...given },
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

export function testDeployment(more: JsonObject = {}): JsonObject {
  const containers = [{ name: "api", image: "api:1" }];
  const template = { metadata: { labels: { app: "api" } }, spec: { containers } };
  const spec = { selector: { matchLabels: { app: "api" } }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "api", namespace: "shop" }, spec, ...more };
}

/** As an API server sends it; `request` replaces fields. */
export function testReview(request: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
      kind: { group: "apps", version: "v1", kind: "Deployment" },
      resource: { group: "apps", version: "v1", resource: "deployments" },
      requestKind: { group: "apps", version: "v1", kind: "Deployment" },
      requestResource: { group: "apps", version: "v1", resource: "deployments" },
      name: "api",
      namespace: "shop",
      operation: "CREATE",
      userInfo: { username: "admin", groups: ["system:authenticated"] },
      object: testDeployment(),
      oldObject: null,
      dryRun: false,
      options: { apiVersion: "meta.k8s.io/v1", kind: "CreateOptions" },
      ...request,
    },
    ...more,
  };
}
