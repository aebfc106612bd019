/** Node's errors for broken connections, as Go's messages. */
import type { PeerCertificate } from "node:tls";
import { expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { createCertificateAuthority, issueCertificate } from "#pki";
import { X509Certificate } from "node:crypto";
import { checkServerName, goNetworkError } from "./go-network-errors.ts";

const failed = (fields: object) => Object.assign(new Error("a message of Node"), fields);

test.each([
  {
    name: "an unknown host",
    given: failed({ syscall: "getaddrinfo", code: "ENOTFOUND", hostname: "a.b" }),
    want: "dial tcp: lookup a.b: no such host",
  },
  {
    name: "an address of version 6",
    given: failed({ syscall: "connect", code: "ECONNREFUSED", address: "::1", port: 5 }),
    want: "dial tcp [::1]:5: connect: connection refused",
  },
  {
    name: "the first of several addresses",
    given: new AggregateError([failed({ syscall: "connect", code: "EHOSTUNREACH", address: "10.0.0.1", port: 5 })]),
    want: "dial tcp 10.0.0.1:5: connect: no route to host",
  },
  {
    name: "an expired certificate",
    given: failed({ code: "CERT_HAS_EXPIRED" }),
    want: "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
  },
  { name: "a closed connection", given: failed({ code: "ECONNRESET" }), want: "EOF" },
  {
    name: "an alert",
    given: Object.assign(new Error("sslv3 alert handshake failure:x"), { code: "ERR_SSL_SSLV3" }),
    want: "remote error: tls: handshake failure",
  },
  { name: "a handshake that ends without an alert", given: failed({ code: "EPROTO" }), want: "tls: handshake failure" },
  { name: "anything else", given: failed({}), want: "a message of Node" },
  { name: "something that is no error", given: "odd", want: "odd" },
])("$name", ({ given, want }) => {
  expect(goNetworkError(given)).toBe(want);
});

function certificateFor(
  names: { readonly dnsNames?: readonly string[]; readonly ipAddresses?: readonly string[] },
  commonName: string,
): PeerCertificate {
  const now = systemClock.now();
  const valid = { notBefore: new Date(now - 1_000), notAfter: new Date(now + 60_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "ca", ...valid }));
  const issued = expectOk(
    issueCertificate(authority, { commonName, usages: ["server"], dnsNames: [], ipAddresses: [], ...names, ...valid }),
  );
  return new X509Certificate(issued.certificate).toLegacyObject();
}

test.each([
  { name: "its name", names: { dnsNames: ["a.example"] }, host: "a.example", want: undefined },
  { name: "its address", names: { ipAddresses: ["10.0.0.1"] }, host: "10.0.0.1", want: undefined },
  {
    name: "another name",
    names: { dnsNames: ["a.example"] },
    host: "b.example",
    want: "x509: certificate is valid for a.example, not b.example",
  },
  {
    name: "another address",
    names: { ipAddresses: ["10.0.0.1"] },
    host: "10.0.0.2",
    want: "x509: certificate is valid for 10.0.0.1, not 10.0.0.2",
  },
  {
    name: "a name where only an address is",
    names: { ipAddresses: ["10.0.0.1"] },
    host: "a.example",
    want: "x509: certificate is not valid for any names, but wanted to match a.example",
  },
  {
    name: "a common name",
    names: {},
    host: "webhook",
    want: "x509: certificate relies on legacy Common Name field, use SANs instead",
  },
])("a certificate and $name", ({ names, host, want }) => {
  const problem = checkServerName(host, certificateFor(names, "webhook"))?.message;
  expect(problem).toBe(want === undefined ? undefined : `tls: failed to verify certificate: ${want}`);
});
