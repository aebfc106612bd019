import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { agentNames, certificateValidity } from "./agent-identity.ts";
import { createCellAuthorities, nextRotation, rotateIfDue, type CellAuthorities } from "./cell-authorities.ts";
import { issueCertificate } from "./certificate.ts";
import { createCsr, signCsr } from "./csr.ts";
import { createPrivateKeyPem, type KeyPairPem } from "./key-pair.ts";
import { readCsr } from "./read-csr.ts";
import { parseRenewalRequest, type AgentRenewalRequest } from "./renewal-request.ts";
import { signRenewal, verifyRenewal, type RenewalError } from "./renewal.ts";

const START = Date.UTC(2030, 0, 1);
const [HOUR, DAY] = [3_600_000, 86_400_000];
const authorities = expectOk(createCellAuthorities("hq", START));
const agent = (cluster: string, from: CellAuthorities = authorities, now = START): KeyPairPem => {
  const key = createPrivateKeyPem();
  const csr = expectOk(readCsr(expectOk(createCsr(key, { commonName: cluster }))));
  const signing = { ...agentNames(from.cell, cluster), ...certificateValidity(from.current, now), usages: ["client" as const] };
  return { key, certificate: expectOk(signCsr(from.current, csr, signing)).certificate };
};
const east = agent("east");
const expiry = START + 30 * DAY;
const later = expiry + 42 * DAY;
const csr = expectOk(createCsr(createPrivateKeyPem(), { commonName: "east" }));
const request = (now: number, pair = east, cluster = "east") => expectOk(signRenewal({ cluster, csr, now }, pair.key, pair.certificate));
const check = { cluster: "east", authorities, now: later };

describe("an expired agent renews with its old key", () => {
  test("six weeks after expiry", () => {
    const verified = expectOk(verifyRenewal(request(later), check));
    expect(verified.identity).toMatchObject({ cell: "hq", cluster: "east", notAfter: expiry });
    expect(verified.csr.digest).toBe(expectOk(readCsr(csr)).digest);
  });
  test("through JSON", () => {
    const parsed = expectOk(parseRenewalRequest(JSON.parse(JSON.stringify(request(later)))));
    expect(verifyRenewal(parsed, check).ok).toBe(true);
  });
  test("before expiry too, and until 90 days after", () => {
    for (const now of [START + DAY, expiry, expiry + 90 * DAY]) expect(verifyRenewal(request(now), { ...check, now }).ok).toBe(true);
  });
  test("with a clock that differs by one hour, and five minutes on the way", () => {
    for (const difference of [-HOUR, HOUR, HOUR + 300_000]) expect(verifyRenewal(request(later - difference), check).ok).toBe(true);
  });
  test("after its authority was rotated out, as long as renewal is possible", () => {
    const due = nextRotation(authorities);
    const promoted = due + 30 * DAY;
    const last = agent("east", authorities, promoted - 1_000);
    let rotated = expectOk(rotateIfDue(authorities, due)).authorities;
    rotated = expectOk(rotateIfDue(rotated, promoted)).authorities;
    const now = promoted + 119 * DAY;
    rotated = expectOk(rotateIfDue(rotated, now)).authorities;
    expect(verifyRenewal(request(now, last), { cluster: "east", authorities: rotated, now }).ok).toBe(true);
  });
  test("with a P-384 key", () => {
    const key = createPrivateKeyPem("P-384");
    const signing = { ...agentNames("hq", "east"), ...certificateValidity(authorities.current, START), usages: ["client" as const] };
    const pair = expectOk(issueCertificate(authorities.current, { ...signing, key, curve: "P-384" }));
    expect(verifyRenewal(request(later, pair), check).ok).toBe(true);
  });
});

describe("a renewal is rejected", () => {
  const good = request(later);
  const other = expectOk(createCellAuthorities("hq", START));
  const west = agent("west");
  const server = expectOk(
    issueCertificate(authorities.current, { commonName: "hq", usages: ["server"], ...certificateValidity(authorities.current, START) }),
  );
  const otherCsr = expectOk(createCsr(createPrivateKeyPem(), { commonName: "east" }));
  const signedByOther = { ...request(later, west, "west"), certificate: east.certificate };
  const rows: { name: string; given: AgentRenewalRequest; now?: number; want: RenewalError["kind"] }[] = [
    { name: "91 days after expiry", given: request(expiry + 91 * DAY), now: expiry + 91 * DAY, want: "expired" },
    { name: "when it is replayed two hours later", given: good, now: later + 2 * HOUR, want: "clock" },
    { name: "when it is of the future", given: request(later + 2 * HOUR), want: "clock" },
    { name: "with a time that is no number", given: { ...good, time: Number.NaN }, want: "clock" },
    { name: "with another time", given: { ...good, time: later + 1 }, want: "bad-signature" },
    { name: "with another CSR", given: { ...good, csr: otherCsr }, want: "bad-signature" },
    { name: "with another agent's key", given: signedByOther, want: "bad-signature" },
    { name: "with no signature", given: { ...good, signature: "" }, want: "bad-signature" },
    { name: "for another cluster", given: request(later, west, "west"), want: "wrong-cluster" },
    { name: "of another cell with the same name", given: request(later, agent("east", other)), want: "foreign" },
    { name: "with the certificate of the cell itself", given: { ...good, certificate: server.certificate }, want: "invalid-certificate" },
    {
      name: "with the certificate of the authority",
      given: { ...good, certificate: authorities.current.certificate },
      want: "invalid-certificate",
    },
    { name: "without a certificate", given: { ...good, certificate: "?" }, want: "invalid-certificate" },
    { name: "with a broken CSR", given: { ...good, csr: "?" }, want: "invalid-csr" },
  ];
  test.each(rows)("$name", ({ given, now = later, want }) => {
    const refused = verifyRenewal(given, { ...check, now });
    expect(refused).toMatchObject({ ok: false, error: { kind: want } });
  });

  test("property: a changed signature is never accepted", () => {
    const bytes = Buffer.from(good.signature, "base64");
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const mutated = Buffer.from(bytes);
        mutated[at] = (mutated[at] ?? 0) ^ change;
        return !verifyRenewal({ ...good, signature: mutated.toString("base64") }, check).ok;
      }),
    );
  });
});

describe("an agent does not sign a renewal", () => {
  test("with a key or certificate that is not its own", () => {
    const west = agent("west");
    expect(signRenewal({ cluster: "east", csr, now: later }, west.key, east.certificate)).toMatchObject({ error: { kind: "mismatch" } });
    expect(signRenewal({ cluster: "east", csr, now: later }, west.key, west.certificate)).toMatchObject({ error: { kind: "mismatch" } });
    const { key, certificate } = authorities.current;
    expect(signRenewal({ cluster: "east", csr, now: later }, key, certificate)).toMatchObject({ error: { kind: "invalid-certificate" } });
  });
  test("for a broken CSR", () => {
    expect(signRenewal({ cluster: "east", csr: "?", now: later }, east.key, east.certificate)).toMatchObject({
      error: { kind: "invalid-csr" },
    });
  });
});

describe("a body is rejected", () => {
  const good = { certificate: "c", csr: "r", time: 1, signature: "s" };
  const rows: { name: string; given: unknown; want: string }[] = [
    { name: "that is no object", given: null, want: "the renewal request must be a JSON object" },
    { name: "without a certificate", given: { ...good, certificate: 1 }, want: "certificate: must be text of at most 16384 characters" },
    { name: "with a large CSR", given: { ...good, csr: "x".repeat(16_385) }, want: "csr: must be text of at most 16384 characters" },
    { name: "with a fraction as time", given: { ...good, time: 1.5 }, want: "time: must be milliseconds since 1970" },
    {
      name: "with a long signature",
      given: { ...good, signature: "s".repeat(257) },
      want: "signature: must be text of at most 256 characters",
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    expect(parseRenewalRequest(given)).toEqual({ ok: false, error: want });
  });
});
