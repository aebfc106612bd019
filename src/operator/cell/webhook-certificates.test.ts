import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import type { KubeObject } from "#kube";
import { issueWebhookCertificates } from "./webhook-certificates.ts";

const NOW = Date.parse("2026-11-17T00:00:00Z");
const certificate = (name: string, dnsNames: readonly string[]) =>
  ({
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { name, namespace: "capi-system" },
    spec: { secretName: `${name}-tls`, dnsNames },
  }) as unknown as KubeObject;
const component = (...objects: readonly KubeObject[]) => [{ name: "cluster-api", version: "v1.14.2", objects, images: [] }];

describe("certificates of webhooks", () => {
  it("one for each Certificate of the components, signed by one authority, for the names of its Service", () => {
    const names = ["capi-webhook-service.capi-system.svc", "capi-webhook-service.capi-system.svc.cluster.local"];
    const issued = expectOk(issueWebhookCertificates(component(certificate("serving", names)), NOW));
    expect(issued.map(({ namespace, secretName }) => `${namespace}/${secretName}`)).toEqual(["capi-system/serving-tls"]);
    const [first] = issued;
    const [leaf, authority] = [new X509Certificate(first?.certificate ?? ""), new X509Certificate(first?.ca ?? "")];
    expect(leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.checkHost(names[0] ?? "")).toBe(names[0]);
    expect(leaf.validToDate.getTime()).toBeGreaterThan(NOW + 9 * 365 * 86_400_000);
  });

  it("components without webhooks need none", () => {
    expect(expectOk(issueWebhookCertificates(component(), NOW))).toEqual([]);
  });

  it("a name that is not a DNS name is an error that names the Secret", () => {
    expect(issueWebhookCertificates(component(certificate("serving", ["$(SERVICE).svc"])), NOW)).toMatchObject({
      ok: false,
      error: expect.stringContaining("Secret capi-system/serving-tls") as string,
    });
  });
});
