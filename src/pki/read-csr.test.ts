import { generateKeyPairSync, sign, X509Certificate, type KeyObject } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk, sensitive } from "#base";
import { createCertificateAuthority } from "./certificate.ts";
import { createCsr, signCsr } from "./csr.ts";
import { requireCurve } from "./curves.ts";
import * as der from "./der.ts";
import { createPrivateKeyPem } from "./key-pair.ts";
import { readCsr } from "./read-csr.ts";
import * as x509 from "./x509.ts";

const key = createPrivateKeyPem();
const pem = expectOk(createCsr(key, { commonName: "east" }));
const bytesOf = (text: string) => Buffer.from(text.replaceAll(/-----.*-----|\s/g, ""), "base64");
const pemOf = (bytes: Uint8Array) => x509.pem("CERTIFICATE REQUEST", bytes);
const valid = bytesOf(pem);
const dates = { notBefore: new Date("2030-01-01T00:00:00Z"), notAfter: new Date("2030-02-01T00:00:00Z") };
const authority = expectOk(
  createCertificateAuthority({
    commonName: "cell",
    notBefore: dates.notBefore,
    notAfter: new Date("2040-01-01T00:00:00Z"),
    curve: "P-384",
  }),
);

type Parts = {
  keys?: { publicKey: KeyObject; privateKey: KeyObject };
  version?: Buffer;
  attributes?: Buffer;
  keyInfo?: Buffer;
  subject?: Buffer;
};

/** A request with a correct signature whose other parts can be replaced. */
function requestWith(parts: Parts): string {
  const { publicKey, privateKey } = parts.keys ?? generateKeyPairSync("ec", { namedCurve: "P-256" });
  const info = der.sequence(
    parts.version ?? der.integer(0n),
    parts.subject ?? x509.distinguishedName("east", []),
    parts.keyInfo ?? x509.publicKeyInfo(publicKey),
    der.explicitTag(0, parts.attributes ?? Buffer.alloc(0)),
  );
  const signature = sign("sha256", info, { key: privateKey, dsaEncoding: "der" });
  return pemOf(der.sequence(info, der.sequence(der.oid("1.2.840.10045.4.3.2")), der.bitString(signature)));
}

/** The attribute extensionRequest. */
const extensionRequest = (...extensions: Buffer[]) =>
  der.sequence(der.oid("1.2.840.113549.1.9.14"), der.setOfOne(der.sequence(...extensions)));

describe("a request of an agent is read", () => {
  test.each(["P-256", "P-384"] as const)("with a key of %s", (curve) => {
    const read = expectOk(readCsr(expectOk(createCsr(createPrivateKeyPem(curve), { commonName: "east" }))));
    expect(read.curve).toBe(curve);
    expect(requireCurve(read.publicKey).name).toBe(curve);
    expect(read.keyHash).toMatch(/^[0-9a-f]{64}$/);
    expect(read.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test("with Windows line ends and spaces around it", () => {
    expect(readCsr(`\n ${pem.replaceAll("\n", "\r\n")} \n`).ok).toBe(true);
  });

  test("and its names and extensions reach no certificate: CA:TRUE, other SANs and another subject are ignored", () => {
    const names = { dnsNames: ["west.agent.cell.lattice"], uriNames: ["spiffe://cell.lattice/cluster/west"], addresses: [] };
    const hostile = requestWith({
      subject: x509.distinguishedName("west", ["system:masters"]),
      attributes: extensionRequest(x509.basicConstraints({ pathLength: 3 }), x509.subjectAltName(names), x509.keyUsage([5])),
    });
    const signing = { commonName: "east", dnsNames: ["east.agent"], uriNames: ["spiffe://cell.lattice/cluster/east"], ...dates };
    const signed = expectOk(signCsr(authority, expectOk(readCsr(hostile)), { ...signing, usages: ["client"] }));
    const certificate = new X509Certificate(signed.certificate);
    expect(certificate.subject).toBe("CN=east");
    expect(certificate.subjectAltName).toBe("DNS:east.agent, URI:spiffe://cell.lattice/cluster/east");
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(signed.serial).toBe(certificate.serialNumber);
    expect(signed.notAfter).toBe(dates.notAfter.getTime());
    expect(signed.certificate).not.toContain("west");
  });
});

describe("a request is rejected", () => {
  // as bytes: a FIPS provider creates no such keys
  const modulus = BigInt(`0x${"c5".repeat(128)}`);
  const rsa = der.sequence(
    der.sequence(der.oid("1.2.840.113549.1.1.1"), Buffer.from("0500", "hex")),
    der.bitString(der.sequence(der.integer(modulus), der.integer(65_537n))),
  );
  const p224 = der.sequence(
    der.sequence(der.oid("1.2.840.10045.2.1"), der.oid("1.3.132.0.33")),
    der.bitString(Buffer.concat([Buffer.of(4), Buffer.alloc(56, 7)])),
  );
  const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyInfo = x509.publicKeyInfo(p256.publicKey);
  const beside = Buffer.from(keyInfo);
  beside[90] = (beside[90] ?? 0) ^ 1;
  const deep = Array.from({ length: 20 }).reduce<Buffer>((inner) => der.sequence(inner), der.sequence());
  const outer = der.sequence(valid);
  const rows: { name: string; given: string; want: string }[] = [
    { name: "of one megabyte", given: "A".repeat(1_000_000), want: "the request is larger than 16384 bytes" },
    { name: "that is empty", given: "", want: "the request is not one PEM block CERTIFICATE REQUEST" },
    { name: "with another label", given: pem.replaceAll("CERTIFICATE REQUEST", "CERTIFICATE"), want: "is not one PEM block" },
    { name: "twice in one text", given: pem + pem, want: "is not one PEM block" },
    { name: "with text behind it", given: `${pem}x`, want: "is not one PEM block" },
    { name: "in base64 that is not canonical", given: pem.replace("-----\n", "-----\n="), want: "is not canonical base64" },
    { name: "with trailing bytes", given: pemOf(Buffer.concat([valid, Buffer.of(0)])), want: "the request has trailing bytes" },
    { name: "inside another element", given: pemOf(outer), want: "does not have the structure of PKCS #10" },
    { name: "of one byte", given: pemOf(Buffer.of(0x30)), want: "the element is cut off" },
    { name: "of another version", given: requestWith({ version: der.integer(1n) }), want: "the version of the request is not 1" },
    { name: "with a key of P-224", given: requestWith({ keyInfo: p224 }), want: "is not an ECDSA P-256 or P-384 key" },
    { name: "with RSA-1024", given: requestWith({ keyInfo: rsa }), want: "is not an ECDSA P-256 or P-384 key" },
    { name: "with a point beside its curve", given: requestWith({ keys: p256, keyInfo: beside }), want: "is not a point of its curve" },
    { name: "with the key of another", given: requestWith({ keyInfo }), want: "the request is not signed by its own key" },
    { name: "with deep nesting", given: requestWith({ attributes: deep }), want: "the request is nested too deeply" },
    {
      name: "with attributes that are not DER",
      given: requestWith({ attributes: Buffer.from("3080", "hex") }),
      want: "not written in DER",
    },
    {
      name: "with nested attributes that are not DER",
      given: requestWith({ attributes: der.sequence(Buffer.from("3081", "hex")) }),
      want: "not written in DER",
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(readCsr(given)).toMatchObject({ ok: false, error: { kind: "invalid-csr", message: expect.stringContaining(want) as string } });
  });

  test("with another algorithm, or a signature of a fraction of a byte", () => {
    const oid = Buffer.from(valid);
    const at = oid.lastIndexOf(Buffer.from("040302", "hex"));
    oid[at + 2] = 4;
    expect(readCsr(pemOf(oid))).toMatchObject({ error: { message: expect.stringContaining("ECDSA and SHA-256 or SHA-384") as string } });
    const bits = Buffer.from(valid);
    const start = at + 5;
    expect(bits[start]).toBe(0);
    bits[start] = 1;
    expect(readCsr(pemOf(bits))).toMatchObject({ error: { message: "the signature is not a whole number of bytes" } });
  });
});

describe("property: no input but the request itself is accepted", () => {
  test("random bytes and random text", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => !readCsr(pemOf(bytes)).ok));
    fc.assert(fc.property(fc.string({ maxLength: 400 }), (text) => !readCsr(text).ok));
  });

  test("a valid request with one changed byte", () => {
    fc.assert(
      fc.property(fc.nat(valid.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const mutated = Buffer.from(valid);
        mutated[at] = (mutated[at] ?? 0) ^ change;
        return !readCsr(pemOf(mutated)).ok;
      }),
      { numRuns: 1_000 },
    );
  });

  test("a valid request with bytes inserted, removed or repeated", () => {
    const span = fc.tuple(fc.nat(valid.length), fc.nat(40), fc.uint8Array({ maxLength: 8 }));
    fc.assert(
      fc.property(span, ([at, length, inserted]) => {
        const mutated = Buffer.concat([valid.subarray(0, at), inserted, valid.subarray(at + length)]);
        return mutated.equals(valid) || !readCsr(pemOf(mutated)).ok;
      }),
      { numRuns: 500 },
    );
  });

  test("every truncation", () => {
    for (let length = 0; length < valid.length; length++) expect(readCsr(pemOf(valid.subarray(0, length))).ok).toBe(false);
  });
});

describe("creation of a request fails", () => {
  test("without a name, or with one that is too long", () => {
    expect(createCsr(key, { commonName: "" })).toMatchObject({ error: { kind: "invalid-request" } });
    expect(createCsr(key, { commonName: "n".repeat(65) })).toMatchObject({ error: { kind: "invalid-request" } });
  });
  test("with a key that is not PEM or of another curve", () => {
    expect(createCsr(sensitive("?"), { commonName: "a" })).toMatchObject({ error: { kind: "invalid-key" } });
    const other = generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey.export({ type: "pkcs8", format: "pem" });
    expect(createCsr(sensitive(other.toString()), { commonName: "a" })).toMatchObject({
      error: { message: "the key is not an ECDSA P-256 or P-384 key" },
    });
  });
});

describe("signing a request is rejected", () => {
  const csr = expectOk(readCsr(pem));
  const signing = { commonName: "east", usages: ["client" as const], ...dates };
  const rows = [
    { name: "with a wildcard in the SPIFFE name", given: { uriNames: ["spiffe://cell.lattice/cluster/*"] }, want: "is not a SPIFFE name" },
    { name: "with another scheme", given: { uriNames: ["https://cell.lattice/cluster/a"] }, want: "is not a SPIFFE name" },
    { name: "with a query", given: { uriNames: ["spiffe://cell.lattice/cluster/a?b"] }, want: "is not a SPIFFE name" },
    { name: "with a bad DNS name", given: { dnsNames: ["a/b"] }, want: "is not a DNS name" },
    { name: "beyond the life of the authority", given: { notAfter: new Date("2041-01-01T00:00:00Z") }, want: "outlive its authority" },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const refused = signCsr(authority, csr, { ...signing, ...given });
    expect(refused).toMatchObject({ ok: false, error: { kind: "invalid-request", message: expect.stringContaining(want) as string } });
  });
});
