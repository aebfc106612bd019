import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { expectOk, reveal, sensitive } from "#base";
import {
  createCertificateAuthority,
  issueCertificate,
  loadCertificateAuthority,
  type CertificateAuthority,
  type CertificateRequest,
} from "./certificate.ts";
import type { PkiError } from "./key-pair.ts";

const HOUR = 3_600_000;
// OpenSSL reads the system's clock, so these certificates must be valid on the day of the test
const now = Date.now();
const valid = { notBefore: new Date(now - HOUR), notAfter: new Date(now + HOUR) };
const ca = expectOk(createCertificateAuthority({ commonName: "test root", organizations: ["Lattice"], ...valid }));
const serverRequest: CertificateRequest = {
  commonName: "api",
  organizations: ["one", "two"],
  dnsNames: ["localhost", "*.example.org"],
  ipAddresses: ["127.0.0.1", "::1"],
  usages: ["server"],
  ...valid,
};
const server = expectOk(issueCertificate(ca, serverRequest));
const client = expectOk(issueCertificate(ca, { commonName: "alice", organizations: ["system:masters"], usages: ["client"], ...valid }));

test("a certificate has the requested fields", () => {
  const parsed = new X509Certificate(server.certificate);
  expect(parsed.subject).toBe("O=one\nO=two\nCN=api");
  expect(parsed.issuer).toBe("O=Lattice\nCN=test root");
  expect(parsed.subjectAltName).toBe("DNS:localhost, DNS:*.example.org, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
  expect(parsed.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect(parsed.ca).toBe(false);
  expect(parsed.validToDate.getTime()).toBe(Math.floor(valid.notAfter.getTime() / 1_000) * 1_000);
  expect(parsed.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true);
});

test("serials are positive, 16 bytes long and unique", () => {
  const serials = Array.from(
    { length: 50 },
    () => new X509Certificate(expectOk(issueCertificate(ca, serverRequest)).certificate).serialNumber,
  );
  expect(new Set(serials).size).toBe(50);
  for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
});

test("a key is redacted when it is printed", () => {
  expect(`${inspect(server, { depth: 9, showHidden: true })}${JSON.stringify(server)}`).not.toContain("PRIVATE KEY");
  expect(reveal(server.key)).toContain("BEGIN PRIVATE KEY");
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(!hasOpenssl)("openssl (skipped where it is not installed)", () => {
  const verify = (purpose: string, certificate: string) => {
    const folder = mkdtempSync(join(tmpdir(), "lattice-pki-"));
    try {
      writeFileSync(join(folder, "ca.pem"), ca.certificate);
      writeFileSync(join(folder, "leaf.pem"), certificate);
      const options = ["-x509_strict", "-check_ss_sig", "-purpose", purpose];
      return execFileSync("openssl", ["verify", ...options, "-CAfile", join(folder, "ca.pem"), join(folder, "leaf.pem")], {
        encoding: "utf8",
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  test("verifies a server certificate strictly", () => expect(verify("sslserver", server.certificate)).toMatch(/leaf\.pem: OK/));
  test("verifies a client certificate strictly", () => expect(verify("sslclient", client.certificate)).toMatch(/leaf\.pem: OK/));
  test("verifies the root itself strictly", () => expect(verify("any", ca.certificate)).toMatch(/leaf\.pem: OK/));
  test("shows the extensions and their criticality", () => {
    const text = execFileSync("openssl", ["x509", "-noout", "-text"], { input: server.certificate, encoding: "utf8" });
    expect(text).toContain("Signature Algorithm: ecdsa-with-SHA256");
    expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/Extended Key Usage: \s*TLS Web Server Authentication/);
  });
});

test("node's TLS accepts both sides of a connection", async () => {
  const listener = createServer({
    ca: ca.certificate,
    cert: server.certificate,
    key: reveal(server.key),
    requestCert: true,
    minVersion: "TLSv1.3",
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const accepted = once(listener, "secureConnection") as Promise<[TLSSocket]>;
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, ca: ca.certificate, cert: client.certificate, key: reveal(client.key) });
  await once(socket, "secureConnect");
  const [peer] = await accepted;
  expect(socket.authorized).toBe(true);
  expect(peer.authorized).toBe(true);
  expect(peer.getPeerCertificate().subject).toMatchObject({ CN: "alice", O: "system:masters" });
  socket.destroy();
  peer.destroy();
  listener.close();
  await once(listener, "close");
});

describe("an authority loaded from PEM", () => {
  test("issues the same certificates as before it was stored", () => {
    const loaded = expectOk(loadCertificateAuthority({ certificate: ca.certificate, key: ca.key }));
    expect(Buffer.from(loaded.subject)).toEqual(Buffer.from(ca.subject));
    const issued = new X509Certificate(expectOk(issueCertificate(loaded, { ...serverRequest, notAfter: loaded.notAfter })).certificate);
    expect(issued.checkIssued(new X509Certificate(ca.certificate))).toBe(true);
  });

  const other = expectOk(createCertificateAuthority({ commonName: "other", ...valid }));
  const rows: { name: string; given: Pick<CertificateAuthority, "certificate" | "key">; want: PkiError }[] = [
    {
      name: "not PEM",
      given: { certificate: "?", key: ca.key },
      want: { kind: "invalid-certificate", message: "the certificate is not readable PEM" },
    },
    {
      name: "a broken key",
      given: { certificate: ca.certificate, key: sensitive("?") },
      want: { kind: "invalid-key", message: "the key is not readable PEM" },
    },
    {
      name: "a leaf",
      given: server,
      want: { kind: "invalid-certificate", message: "the certificate is not a certificate authority's" },
    },
    {
      name: "with another authority's key",
      given: { certificate: ca.certificate, key: other.key },
      want: { kind: "mismatch", message: "the key is not the certificate's" },
    },
  ];
  test.each(rows)("is rejected when it is $name", ({ given, want }) => {
    expect(loadCertificateAuthority(given)).toEqual({ ok: false, error: want });
  });

  test("is rebuilt from its key: certificates that it issued before stay valid", () => {
    const { key } = ca;
    const again = expectOk(createCertificateAuthority({ commonName: "test root", organizations: ["Lattice"], ...valid, key }));
    expect(again.certificate).not.toBe(ca.certificate);
    expect(reveal(again.key)).toBe(reveal(key));
    const issuer = new X509Certificate(again.certificate);
    expect(new X509Certificate(server.certificate).verify(issuer.publicKey)).toBe(true);
  });

  test("issues a certificate for an existing key, and rejects one that is not PEM", () => {
    const renewed = expectOk(issueCertificate(ca, { ...serverRequest, key: server.key }));
    expect(reveal(renewed.key)).toBe(reveal(server.key));
    expect(renewed.certificate).not.toBe(server.certificate);
    const refused = issueCertificate(ca, { ...serverRequest, key: sensitive("?") });
    expect(refused).toEqual({ ok: false, error: { kind: "invalid-key", message: "the key is not readable PEM" } });
  });

  test.skipIf(!hasOpenssl)("is rejected when its key is not P-256", () => {
    const options = ["-newkey", "rsa:2048", "-nodes", "-keyout", "-", "-subj", "/CN=rsa", "-days", "1"];
    const made = execFileSync("openssl", ["req", "-x509", ...options], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const at = made.indexOf("-----BEGIN CERTIFICATE");
    const refused = loadCertificateAuthority({ certificate: made.slice(at), key: sensitive(made.slice(0, at)) });
    expect(refused).toMatchObject({ ok: false, error: { message: "the key is not an ECDSA P-256 key" } });
  });
});

describe("requests for an invalid certificate are rejected", () => {
  const rows: { name: string; given: Partial<CertificateRequest>; want: string }[] = [
    { name: "no name", given: { commonName: "" }, want: '"" must have 1 to 64 characters to stand in a certificate' },
    { name: "a long organisation", given: { organizations: ["o".repeat(65)] }, want: "must have 1 to 64 characters" },
    { name: "an empty validity period", given: { notAfter: valid.notBefore }, want: "notAfter must be later than notBefore" },
    { name: "an invalid date", given: { notAfter: new Date(Number.NaN) }, want: "notAfter must be later than notBefore" },
    { name: "outliving its authority", given: { notAfter: new Date(now + 2 * HOUR) }, want: "the certificate would outlive its authority" },
    { name: "no usage", given: { usages: [] }, want: "a certificate needs at least one usage" },
    { name: "a bad DNS name", given: { dnsNames: ["a b"] }, want: '"a b" is not a DNS name' },
    { name: "an IP among the DNS names", given: { dnsNames: ["10.0.0.1"] }, want: '"10.0.0.1" is not a DNS name' },
    { name: "a bad IP", given: { ipAddresses: ["10.0.0"] }, want: '"10.0.0" is not an IP address' },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const refused = issueCertificate(ca, { ...serverRequest, ...given });
    expect(refused).toMatchObject({ ok: false, error: { kind: "invalid-request", message: expect.stringContaining(want) as string } });
  });

  test("an authority without a name", () => {
    expect(createCertificateAuthority({ commonName: "", ...valid }).ok).toBe(false);
  });
});
