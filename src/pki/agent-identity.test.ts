import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { agentNames, certificateValidity, readAgentIdentity, renewalTime } from "./agent-identity.ts";
import { uriNamesOf } from "./certificate-fields.ts";
import { certificateSummary } from "./certificate-summary.ts";
import { createCertificateAuthority, issueCertificate, type CertificateRequest } from "./certificate.ts";

const NOW = Date.UTC(2030, 0, 1);
const DAY = 86_400_000;
const authority = expectOk(
  createCertificateAuthority({ commonName: "hq", notBefore: new Date(NOW), notAfter: new Date(NOW + 100 * DAY), curve: "P-384" }),
);
const dates = certificateValidity(authority, NOW);
const issue = (request: Partial<CertificateRequest>) =>
  expectOk(issueCertificate(authority, { commonName: "east", usages: ["client"], ...dates, ...request })).certificate;

describe("the identity of an agent", () => {
  const pem = issue(agentNames("hq", "east"));

  test("is the SPIFFE name of its certificate, as PEM, DER or parsed", () => {
    const parsed = new X509Certificate(pem);
    const want = { cell: "hq", cluster: "east", serial: parsed.serialNumber, notBefore: NOW - 7_200_000, notAfter: NOW + 30 * DAY };
    expect(readAgentIdentity(pem)).toEqual({ ok: true, value: want });
    expect(readAgentIdentity(parsed.raw)).toEqual({ ok: true, value: want });
    expect(readAgentIdentity(parsed)).toEqual({ ok: true, value: want });
  });

  test("is beside a DNS name and a common name", () => {
    const { subject, subjectAltName } = new X509Certificate(pem);
    expect(subject).toBe("CN=east");
    expect(subjectAltName).toBe("DNS:east.agent.hq.lattice, URI:spiffe://hq.lattice/cluster/east");
  });

  const uri = (...uriNames: string[]) => issue({ uriNames });
  const rows: { name: string; given: string; want: string }[] = [
    { name: "no alternative name", given: issue({}), want: "the certificate must have exactly one URI name" },
    { name: "no URI", given: issue({ dnsNames: ["east.agent.hq.lattice"] }), want: "the certificate must have exactly one URI name" },
    {
      name: "two URIs",
      given: uri("spiffe://hq.lattice/cluster/east", "spiffe://hq.lattice/cluster/west"),
      want: "the certificate must have exactly one URI name",
    },
    { name: "another path", given: uri("spiffe://hq.lattice/node/east"), want: "the URI name of the certificate is not an agent's" },
    { name: "a longer path", given: uri("spiffe://hq.lattice/cluster/east/x"), want: "the URI name of the certificate is not an agent's" },
    { name: "another domain", given: uri("spiffe://hq.example/cluster/east"), want: "the URI name of the certificate is not an agent's" },
    { name: "upper case", given: uri("spiffe://hq.lattice/cluster/East"), want: "the URI name of the certificate is not an agent's" },
    { name: "an authority", given: authority.certificate, want: "the certificate is an authority's, not an agent's" },
    { name: "no certificate", given: "?", want: "the certificate is not readable PEM" },
  ];
  test.each(rows)("is not read from a certificate with $name", ({ given, want }) => {
    expect(readAgentIdentity(given)).toEqual({ ok: false, error: { kind: "invalid-certificate", message: want } });
  });
});

test("URI names of bytes that are no certificate are an error, not an exception", () => {
  expect(uriNamesOf(Buffer.from("3000", "hex")).ok).toBe(false);
  expect(uriNamesOf(Buffer.from("30023000", "hex"))).toEqual({ ok: true, value: [] });
  expect(uriNamesOf(Buffer.from("30063004a3023080", "hex")).ok).toBe(false);
});

describe("dates", () => {
  test("a certificate begins two hours in the past, lives 30 days and is renewed after 20", () => {
    expect(dates).toEqual({ notBefore: new Date(NOW - 7_200_000), notAfter: new Date(NOW + 30 * DAY) });
    expect(renewalTime(dates)).toBe(NOW + 20 * DAY);
  });
  test("a certificate never outlives its authority", () => {
    expect(certificateValidity(authority, NOW + 90 * DAY).notAfter).toEqual(new Date(NOW + 100 * DAY));
  });
  test("a certificate of seconds is renewed at two thirds of its seconds", () => {
    expect(renewalTime(certificateValidity(authority, NOW, 30_000))).toBe(NOW + 20_000);
  });
  test("a certificate without a backdate counts from its beginning", () => {
    expect(renewalTime({ notBefore: new Date(NOW), notAfter: new Date(NOW + 3_000) })).toBe(NOW + 2_000);
  });
});

describe("the summary of a certificate", () => {
  test("has names, dates and the curve of its key", () => {
    const summary = expectOk(certificateSummary(issue({ ...agentNames("hq", "east"), ipAddresses: ["127.0.0.1"] })));
    expect(summary).toMatchObject({
      subject: "CN=east",
      issuer: "CN=hq",
      authority: false,
      curve: "P-256",
      names: ["east.agent.hq.lattice", "127.0.0.1"],
      uriNames: ["spiffe://hq.lattice/cluster/east"],
      notAfter: dates.notAfter,
    });
    expect(expectOk(certificateSummary(authority.certificate))).toMatchObject({ authority: true, curve: "P-384", names: [], uriNames: [] });
  });
  test("of other text is an error", () => {
    expect(certificateSummary("?").ok).toBe(false);
  });
});
