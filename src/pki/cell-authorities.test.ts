import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk, FakeClock, reveal } from "#base";
import { agentNames, certificateValidity, readAgentIdentity, renewalTime } from "./agent-identity.ts";
import { authoritiesFromSecret, authoritiesToSecret } from "./cell-authorities-secret.ts";
import {
  createCellAuthorities,
  nextRotation,
  rotateIfDue,
  SERVING_CERTIFICATE_LIFE,
  servingAuthority,
  trustBundle,
  type CellAuthorities,
} from "./cell-authorities.ts";
import { issueCertificate, type CertificateAuthority } from "./certificate.ts";
import { createCsr, signCsr } from "./csr.ts";
import { createPrivateKeyPem } from "./key-pair.ts";
import { readCsr } from "./read-csr.ts";

const START = Date.UTC(2030, 0, 1);
const DAY = 86_400_000;
const YEAR = 365.25 * DAY;
const key = createPrivateKeyPem();
const csr = expectOk(readCsr(expectOk(createCsr(key, { commonName: "east" }))));
const rotate = (authorities: CellAuthorities, now: number) => expectOk(rotateIfDue(authorities, now)).authorities;
const signAgent = (authority: CertificateAuthority, now: number) =>
  expectOk(signCsr(authority, csr, { ...agentNames("hq", "east"), ...certificateValidity(authority, now), usages: ["client"] }))
    .certificate;
const signServing = (authority: CertificateAuthority, now: number) => {
  const dates = certificateValidity(authority, now, SERVING_CERTIFICATE_LIFE);
  return expectOk(issueCertificate(authority, { commonName: "hq", dnsNames: ["hq.cell.lattice"], usages: ["server"], key, ...dates }))
    .certificate;
};

/** Whether a verifier with this bundle accepts the certificate at `now`. */
function validates(pem: string, bundle: string, now: number): boolean {
  const certificate = new X509Certificate(pem);
  const inTime = (given: X509Certificate) => given.validFromDate.getTime() <= now && now <= given.validToDate.getTime();
  const roots = bundle.split(/(?<=-----END CERTIFICATE-----\n)/).map((text) => new X509Certificate(text));
  return inTime(certificate) && roots.some((root) => inTime(root) && certificate.checkIssued(root) && certificate.verify(root.publicKey));
}

const certificatesOf = ({ current, successor, previous }: CellAuthorities) => ({
  current: current.certificate,
  successor: successor?.certificate,
  previous: previous?.certificate,
});

test("an authority of ten years: successor at 80 %, signing 30 days later, the old one trusted until nothing depends on it", () => {
  const first = expectOk(createCellAuthorities("hq", START));
  const one = first.current.certificate;
  expect(rotateIfDue(first, START + 7.99 * YEAR)).toEqual({ ok: true, value: { authorities: first, changed: false } });
  const due = nextRotation(first);
  expect((due - START) / YEAR).toBeCloseTo(8, 1);

  const second = expectOk(rotateIfDue(first, due));
  expect(second.changed).toBe(true);
  const two = second.authorities.successor?.certificate;
  expect(certificatesOf(second.authorities)).toEqual({ current: one, successor: two, previous: undefined });
  expect(trustBundle(second.authorities)).toBe(`${one}${two ?? ""}`);
  expect(nextRotation(second.authorities)).toBe(due + 30 * DAY);
  expect(rotateIfDue(second.authorities, due + 30 * DAY - 1)).toMatchObject({ value: { changed: false } });

  const promoted = due + 30 * DAY;
  const third = rotate(second.authorities, promoted);
  expect(certificatesOf(third)).toEqual({ current: two, successor: undefined, previous: one });
  expect(servingAuthority(third, promoted).certificate).toBe(one);
  expect(servingAuthority(third, promoted + 120 * DAY).certificate).toBe(two);
  expect(nextRotation(third)).toBe(promoted + 151 * DAY);
  expect(rotateIfDue(third, promoted + 151 * DAY - 1)).toMatchObject({ value: { changed: false } });
  expect(certificatesOf(rotate(third, promoted + 151 * DAY))).toEqual({ current: two, successor: undefined, previous: undefined });
});

describe("a cell that was off", () => {
  test("past the end of its authority replaces it at once", () => {
    const now = START + 10.5 * YEAR;
    const rotated = rotate(expectOk(createCellAuthorities("hq", START)), now);
    expect(rotated.current.notAfter.getTime()).toBeGreaterThan(now + 9 * YEAR);
    expect(rotated.successor).toBeUndefined();
    expect(servingAuthority(rotated, now)).toBe(rotated.current);
  });
  test("past the end of its successor too replaces both", () => {
    const first = rotate(expectOk(createCellAuthorities("hq", START)), START + 8.1 * YEAR);
    const now = START + 30 * YEAR;
    const rotated = rotate(first, now);
    expect(validates(signAgent(rotated.current, now), trustBundle(rotated), now)).toBe(true);
  });
  test("for six weeks in the middle of a rotation serves a certificate that every agent trusts", () => {
    const first = expectOk(createCellAuthorities("hq", START));
    const due = nextRotation(first);
    const rotated = rotate(rotate(first, due), due + 42 * DAY);
    const now = due + 42 * DAY;
    expect(validates(signServing(servingAuthority(rotated, now), now), trustBundle(first), now)).toBe(true);
  });
});

describe("property: rotation loses no agent", () => {
  type Signed = { pem: string; notAfter: number };
  /** Days until the next step; most steps are long, so that a run passes several rotations. */
  const steps = (max: number, options: { minLength: number; maxLength: number }) =>
    fc.array(fc.oneof(fc.integer({ min: 1, max }), fc.constant(max)), options);

  test("every unexpired certificate validates against every bundle that an agent can have by then", () => {
    fc.assert(
      fc.property(fc.nat(60), steps(28, { minLength: 10, maxLength: 16 }), (lead, days) => {
        // from shortly before the successor on: before that nothing changes
        const created = expectOk(createCellAuthorities("hq", START));
        let authorities = created;
        let now = nextRotation(created) - lead * DAY;
        const bundles: { bundle: string; at: number }[] = [];
        const signed: Signed[] = [];
        for (const step of days) {
          authorities = rotate(authorities, now);
          bundles.push({ bundle: trustBundle(authorities), at: now });
          for (const pem of [signAgent(authorities.current, now), signServing(servingAuthority(authorities, now), now)]) {
            signed.push({ pem, notAfter: new X509Certificate(pem).validToDate.getTime() });
          }
          // an agent renews every 20 days: by now each one has a bundle of the last 30 days
          const present = bundles.filter(({ at }) => at >= now - 30 * DAY);
          for (const { pem } of signed.filter(({ notAfter }) => notAfter > now)) {
            for (const { bundle } of present) expect(validates(pem, bundle, now)).toBe(true);
          }
          now += step * DAY;
        }
      }),
      { numRuns: 15 },
    );
  });

  test("an agent that can still renew trusts the cell, however long it or the cell was off", () => {
    fc.assert(
      fc.property(fc.nat(200), steps(60, { minLength: 8, maxLength: 12 }), (lead, days) => {
        let authorities = expectOk(createCellAuthorities("hq", START));
        let now = nextRotation(authorities) - lead * DAY;
        const agents: { bundle: string; renewableUntil: number }[] = [];
        for (const step of days) {
          authorities = rotate(authorities, now);
          const serving = signServing(servingAuthority(authorities, now), now);
          const known = trustBundle(authorities);
          for (const { bundle, renewableUntil } of agents) {
            if (renewableUntil >= now) expect(validates(serving, bundle, now)).toBe(true);
          }
          agents.push({ bundle: known, renewableUntil: now + 120 * DAY });
          now += step * DAY;
        }
      }),
      { numRuns: 15 },
    );
  });
});

test("a year of renewals: the agent renews at two thirds and its certificate is valid at every hour", async () => {
  const clock = new FakeClock(START);
  const authorities = expectOk(createCellAuthorities("hq", START));
  let certificate = signAgent(authorities.current, clock.now());
  let renewals = 0;
  const schedule = () => {
    const { validFromDate, validToDate } = new X509Certificate(certificate);
    clock.after(renewalTime({ notBefore: validFromDate, notAfter: validToDate }) - clock.now(), () => {
      certificate = signAgent(rotate(authorities, clock.now()).current, clock.now());
      renewals++;
      schedule();
    });
  };
  schedule();
  for (let hour = 0; hour < 365 * 24; hour++) {
    await clock.advance(3_600_000);
    const { validFromDate, validToDate } = new X509Certificate(certificate);
    // clocks of verifiers can differ by one hour
    expect(validFromDate.getTime()).toBeLessThanOrEqual(clock.now() - 3_600_000);
    expect(validToDate.getTime()).toBeGreaterThan(clock.now() + 9 * DAY);
  }
  expect(renewals).toBe(18);
  expect(validates(certificate, trustBundle(authorities), clock.now())).toBe(true);
  expect(expectOk(readAgentIdentity(certificate)).cluster).toBe("east");
});

describe("the Secret of the authorities", () => {
  const first = expectOk(createCellAuthorities("hq", START));
  const due = nextRotation(first);
  const states = [first, rotate(first, due), rotate(rotate(first, due), due + 30 * DAY)];
  test("has all that a restart needs", () => {
    for (const state of states) {
      const loaded = expectOk(authoritiesFromSecret(reveal(authoritiesToSecret(state))));
      expect(trustBundle(loaded)).toBe(trustBundle(state));
      expect(nextRotation(loaded)).toBe(nextRotation(state));
      expect(loaded.cell).toBe("hq");
      expect(validates(signAgent(loaded.current, due), trustBundle(state), due)).toBe(true);
    }
  });

  const data = reveal(authoritiesToSecret(states[2] ?? first));
  const without = (name: string) => Object.fromEntries(Object.entries(data).filter(([entry]) => entry !== name));
  const rows: { name: string; given: Record<string, string>; want: string }[] = [
    { name: "no cell", given: without("cell"), want: "cell: is missing" },
    { name: "no data", given: { cell: data["cell"] ?? "" }, want: "current.crt: is missing" },
    { name: "no key", given: without("current.key"), want: "current.key: is missing" },
    { name: "a key alone", given: without("previous.crt"), want: "previous.crt: is missing" },
    { name: "no base64", given: { ...data, "current.crt": "?" }, want: "current.crt: is not text in base64" },
    {
      name: "another key",
      given: { ...data, "current.key": data["previous.key"] ?? "" },
      want: "current: the key is not the certificate's",
    },
    {
      name: "a broken successor",
      given: { ...data, "successor.crt": "AAAA", "successor.key": "AAAA" },
      want: "successor: the certificate",
    },
    { name: "no time of retirement", given: without("previous.retired"), want: "previous.retired: must be milliseconds" },
  ];
  test.each(rows)("is rejected with $name, and the error has no value of it", ({ given, want }) => {
    const refused = authoritiesFromSecret(given);
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining(`Secret lattice-cell-ca, ${want}`) as string } });
    expect(JSON.stringify(refused)).not.toContain("PRIVATE");
  });
  test("is redacted when it is printed", () => {
    expect(JSON.stringify(authoritiesToSecret(first))).toBe('"[redacted]"');
  });
});

test("a cell without a name is rejected", () => {
  expect(createCellAuthorities("", START).ok).toBe(false);
});

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

test.skipIf(!hasOpenssl)("openssl verifies agents and servers of a P-384 authority strictly (skipped where it is not installed)", () => {
  // OpenSSL reads the system's clock
  const now = Date.now();
  const authorities = expectOk(createCellAuthorities("hq", now));
  const folder = mkdtempSync(join(tmpdir(), "lattice-pki-"));
  try {
    const verify = (purpose: string, pem: string) => {
      writeFileSync(join(folder, "ca.pem"), trustBundle(authorities));
      writeFileSync(join(folder, "leaf.pem"), pem);
      const options = ["-x509_strict", "-check_ss_sig", "-purpose", purpose];
      return execFileSync("openssl", ["verify", ...options, "-CAfile", join(folder, "ca.pem"), join(folder, "leaf.pem")], {
        encoding: "utf8",
      });
    };
    expect(verify("any", authorities.current.certificate)).toMatch(/leaf\.pem: OK/);
    expect(verify("sslclient", signAgent(authorities.current, now))).toMatch(/leaf\.pem: OK/);
    expect(verify("sslserver", signServing(authorities.current, now))).toMatch(/leaf\.pem: OK/);
    const text = execFileSync("openssl", ["x509", "-noout", "-text"], { input: signAgent(authorities.current, now), encoding: "utf8" });
    expect(text).toContain("Signature Algorithm: ecdsa-with-SHA384");
    expect(text).toContain("URI:spiffe://hq.lattice/cluster/east");
    const request = expectOk(createCsr(key, { commonName: "east" }));
    expect(spawnSync("openssl", ["req", "-verify", "-noout"], { input: request, encoding: "utf8" }).status).toBe(0);
    const made = [
      "req",
      "-new",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-384",
      "-nodes",
      "-keyout",
      join(folder, "k"),
      "-subj",
      "/CN=x",
    ];
    expect(expectOk(readCsr(execFileSync("openssl", made, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))).curve).toBe("P-384");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
