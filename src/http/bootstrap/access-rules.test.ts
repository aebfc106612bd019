import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  extendAccess,
  isAcceptedCertificate,
  mayRegister,
  mayRenew,
  mayRequestCertificate,
  maySignFirst,
  newAccess,
  recordConnection,
  recordFirst,
  recordRenewal,
  recordReport,
  recordStreamRenewal,
  reissueAccess,
  revokeAccess,
  type IssuedFacts,
} from "./access-rules.ts";
import { accessOfSecret, accessSecret, type ClusterAccess } from "./cluster-access.ts";

const DAY = 86_400_000;
const EXPIRES = 10 * DAY;
const TIMES = { now: 0, expiresAt: EXPIRES };
const hashes = { bootstrapHash: "a".repeat(64), csrHash: "b".repeat(64), proxyHash: "c".repeat(64) };
const fresh = newAccess("edge", hashes, TIMES);
const keyOf = (key: number) => String(key).padStart(64, "0");
const accepts = (access: ClusterAccess, serial: string) => isAcceptedCertificate(access, { serial });
const connect = (access: ClusterAccess, serial: string) => recordConnection(access, { serial });
const issued = (serial: string, key: number, notAfter = 30 * DAY): IssuedFacts => ({ serial, keyHash: keyOf(key), notAfter });

function first(access: ClusterAccess, serial: string, key: number, now = 0): ClusterAccess {
  const next = recordFirst(access, issued(serial, key), now);
  if (next === undefined) throw new Error("refused");
  return next;
}

describe("a bootstrap token", () => {
  test.each([
    { name: "fresh", access: fresh, now: 0, want: true },
    { name: "just before its expiry", access: fresh, now: EXPIRES - 1, want: true },
    { name: "expired", access: fresh, now: EXPIRES, want: false },
    { name: "extended", access: extendAccess(fresh, EXPIRES + 1), now: EXPIRES, want: true },
    { name: "never shortened", access: extendAccess(fresh, 1), now: EXPIRES - 1, want: true },
    { name: "spent", access: first(fresh, "01", 1), now: 0, want: false },
    { name: "revoked", access: revokeAccess(fresh), now: 0, want: false },
    { name: "reissued after it was spent", access: reissueAccess(first(fresh, "01", 1), hashes, TIMES), now: 0, want: true },
  ])("$name: $want", ({ access, now, want }) => {
    expect(mayRegister(access, now)).toBe(want);
    expect(recordReport(access, { step: "apply", message: "", node: "", at: now }, now) !== undefined).toBe(want);
  });
});

describe("a CSR token", () => {
  const signed = first(fresh, "01", 1);
  const connected = connect(signed, "01");
  test.each([
    { name: "the first key is signed", access: fresh, key: 1, now: 0, want: true },
    { name: "the same key is signed again while no agent has connected", access: signed, key: 1, now: 0, want: true },
    { name: "the same key is signed again after the token expired", access: signed, key: 1, now: EXPIRES, want: true },
    { name: "the same key is refused once its certificate has expired", access: signed, key: 1, now: 30 * DAY, want: false },
    { name: "another key is signed while no agent has connected", access: signed, key: 2, now: 0, want: true },
    { name: "another key is refused after the token expired", access: signed, key: 2, now: EXPIRES, want: false },
    { name: "the first key is refused after the token expired", access: fresh, key: 1, now: EXPIRES, want: false },
    { name: "another key is refused after the first connection", access: connected, key: 2, now: 0, want: false },
    { name: "the same key is refused after its connection", access: connected, key: 1, now: 0, want: false },
    { name: "a revoked cluster is refused", access: revokeAccess(signed), key: 1, now: 0, want: false },
  ])("$name", ({ access, key, now, want }) => {
    expect(maySignFirst(access, keyOf(key), now)).toBe(want);
    expect(recordFirst(access, issued("02", key), now) !== undefined).toBe(want);
    if (want) expect(mayRequestCertificate(access, now)).toBe(true);
  });

  test("a replaced key loses its certificates, and a repeated one keeps them", () => {
    const again = first(signed, "02", 1);
    expect([accepts(again, "01"), accepts(again, "02")]).toEqual([true, true]);
    const replaced = first(again, "03", 2);
    expect(["01", "02", "03"].map((serial) => accepts(replaced, serial))).toEqual([false, false, true]);
  });
});

describe("fresh tokens", () => {
  const running = connect(first(fresh, "01", 1), "01");

  test("the agent of the previous ones connects until a new CSR is signed", () => {
    const reissued = reissueAccess(running, hashes, TIMES);
    const reconnected = connect(reissued, "01");
    expect([accepts(reissued, "01"), reconnected.closed, mayRegister(reconnected, 0)]).toEqual([true, false, true]);
    const replaced = first(reconnected, "02", 2);
    expect([accepts(replaced, "01"), accepts(replaced, "02")]).toEqual([false, true]);
  });

  test("a revoked certificate is not accepted again", () => {
    const reissued = reissueAccess(revokeAccess(running), hashes, TIMES);
    expect([accepts(reissued, "01"), reissued.revoked]).toEqual([false, false]);
  });

  test("the last report of a node is forgotten", () => {
    const reported = recordReport(fresh, { step: "apply", message: "x", node: "n", at: 0 }, 0) ?? fresh;
    expect("lastReport" in reissueAccess(reported, hashes, TIMES)).toBe(false);
  });
});

describe("a renewal", () => {
  const running = connect(first(fresh, "01", 1), "01");
  const renewed = recordRenewal(running, { serial: "01" }, issued("02", 2, 90 * DAY), 40 * DAY) ?? running;

  test("with the old key is repeated while its answer may be lost", () => {
    const again = recordRenewal(renewed, { serial: "01" }, issued("03", 2, 90 * DAY), 40 * DAY);
    expect(again?.certificates.map(({ serial }) => serial)).toEqual(["01", "02", "03"]);
  });

  test("with the old key and another new key withdraws the one that was never used", () => {
    const other = recordRenewal(renewed, { serial: "01" }, issued("03", 3, 90 * DAY), 40 * DAY) ?? renewed;
    expect(["01", "02", "03"].map((serial) => accepts(other, serial))).toEqual([true, false, true]);
  });

  test("with the old key is refused once the new one has connected", () => {
    const used = connect(renewed, "02");
    expect([mayRenew(used, { serial: "01" }), mayRenew(used, { serial: "02" })]).toEqual([false, true]);
    expect(recordRenewal(used, { serial: "01" }, issued("03", 3), 40 * DAY)).toBeUndefined();
  });

  test("is refused for a revoked cluster, on the connection too", () => {
    expect(recordRenewal(revokeAccess(running), { serial: "01" }, issued("02", 2), 0)).toBeUndefined();
    expect(recordStreamRenewal(revokeAccess(running), issued("02", 2), 0)).toBeUndefined();
  });

  test("of a serial that a restored record lacks is signed if it was issued after the record was made", () => {
    const lost = { serial: "99", notBefore: 1 };
    expect([mayRenew(running, lost), mayRenew(running, { serial: "99" }), mayRenew(running, { ...lost, notBefore: 0 })]).toEqual([
      true,
      false,
      false,
    ]);
    expect(mayRenew({ ...running, trustedFrom: DAY }, lost)).toBe(false);
    expect(recordRenewal(running, lost, issued("02", 2), 0)?.certificates).toHaveLength(2);
  });

  test("over the connection withdraws nothing", () => {
    const twice = [issued("02", 2), issued("03", 3)].reduce((access, one) => recordStreamRenewal(access, one, 0) ?? access, running);
    expect(["01", "02", "03"].map((serial) => accepts(twice, serial))).toEqual([true, true, true]);
  });

  test("a year of renewals leaves a short list, and the certificate in use is in it", () => {
    let access = running;
    for (let day = 20, serial = 16; day < 365; day += 20, serial += 1) {
      const next = recordStreamRenewal(access, issued(serial.toString(16), serial, (day + 30) * DAY), day * DAY) ?? access;
      access = connect(next, serial.toString(16));
    }
    expect(access.certificates.length).toBeLessThan(10);
    expect(access.trustedFrom).toBe(0);
  });

  test("repeated without end keeps the certificate that was used", () => {
    let access = running;
    for (let serial = 16; serial < 116; serial += 1) access = recordStreamRenewal(access, issued(serial.toString(16), 2), 0) ?? access;
    expect(access.certificates).toHaveLength(32);
    expect([accepts(access, "01"), accepts(access, (115).toString(16))]).toEqual([true, true]);
  });
});

describe("a connection", () => {
  test("that changes nothing keeps the record", () => {
    const connected = connect(first(fresh, "01", 1), "01");
    expect(connect(connected, "01")).toBe(connected);
    const revoked = revokeAccess(connected);
    expect(connect(revoked, "01")).toBe(revoked);
    expect(revokeAccess(revoked)).toBe(revoked);
  });

  test("with a serial that the record lacks closes the tokens", () => {
    expect(recordConnection(fresh, { serial: "99", notBefore: 1 })).toMatchObject({ spent: true, closed: true });
    expect(connect(fresh, "99")).toBe(fresh);
  });
});

type Step =
  | { readonly do: "csr" | "renew" | "stream"; readonly key: number; readonly recorded: boolean; readonly delivered: boolean }
  | { readonly do: "connect" | "pass" }
  | { readonly do: "revoke" | "reissue" | "report" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("csr" as const, "renew" as const, "stream" as const),
      key: fc.integer({ min: 1, max: 3 }),
      recorded: fc.boolean(),
      delivered: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("connect" as const, "pass" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("revoke" as const, "reissue" as const, "report" as const) }) },
);

/** A child and its cell, with answers that are lost (`delivered`) and crashes before the write (`recorded`). */
class Model {
  access = fresh;
  now = 0;
  #serials = 0;
  /** The last certificate that arrived at the child. */
  held: IssuedFacts | undefined;
  hasConnected = false;

  apply(one: Step): void {
    if ("recorded" in one) return this.#issue(one);
    switch (one.do) {
      case "connect":
        if (this.held === undefined || !accepts(this.access, this.held.serial) || this.now >= this.held.notAfter) return;
        this.access = connect(this.access, this.held.serial);
        this.hasConnected = true;
        return;
      case "pass":
        this.now += 3 * DAY;
        return;
      case "revoke":
        this.access = revokeAccess(this.access);
        return;
      case "reissue":
        this.access = reissueAccess(this.access, hashes, { now: this.now, expiresAt: this.now + EXPIRES });
        this.held = undefined;
        this.hasConnected = false;
        return;
      case "report":
        this.access = recordReport(this.access, { step: "s", message: "m", node: "n", at: this.now }, this.now) ?? this.access;
        return;
    }
  }

  #issue({ do: what, key, recorded, delivered }: Extract<Step, { recorded: boolean }>): void {
    const signed = issued((++this.#serials + 4096).toString(16), key, this.now + 30 * DAY);
    const next = this.#recorded(what, signed);
    if (next === undefined || !recorded) return;
    const wasSpent = this.access.spent;
    this.access = next;
    if (!wasSpent && next.spent) expect(maySignFirst(next, signed.keyHash, this.now)).toBe(true);
    if (delivered) this.held = signed;
  }

  #recorded(what: "csr" | "renew" | "stream", signed: IssuedFacts): ClusterAccess | undefined {
    if (what === "csr") return recordFirst(this.access, signed, this.now);
    if (this.held === undefined) return undefined;
    if (what === "renew") return recordRenewal(this.access, this.held, signed, this.now);
    return this.hasConnected ? recordStreamRenewal(this.access, signed, this.now) : undefined;
  }
}

test("whatever is lost or crashes, the token is spent only with a certificate, and the invariants of the record hold", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const model = new Model();
      for (const one of steps) {
        const before = model.access;
        model.apply(one);
        const { access } = model;
        const current = access.certificates.filter(({ generation }) => generation === access.generation);
        if (access.spent) expect(current.length > 0 || access.closed).toBe(true);
        if (access.closed) expect(access.spent).toBe(true);
        if (access.revoked) expect(access.certificates.some(({ serial }) => accepts(access, serial))).toBe(false);
        if (!access.closed && access.generation === before.generation) {
          // one token, one key: two keys are never accepted before the first connection
          const keys = new Set(current.filter(({ serial }) => accepts(access, serial)).map(({ keyHash }) => keyHash));
          if (current.every(({ connected }) => !connected) && !steps.some(({ do: what }) => what === "renew" || what === "stream"))
            expect(keys.size).toBeLessThanOrEqual(1);
        }
        expect(access.certificates.length).toBeLessThanOrEqual(32);
        expect(accessOfSecret(accessSecret(access, "lattice-system"))).toEqual({ ok: true, value: access });
      }
    }),
  );
});

test("a child that keeps its key and asks again always ends up connected, whichever answers are lost", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ recorded: fc.boolean(), delivered: fc.boolean() }), { maxLength: 20 }), (losses) => {
      const model = new Model();
      for (const loss of losses) model.apply({ do: "csr", key: 1, ...loss });
      model.apply({ do: "csr", key: 1, recorded: true, delivered: true });
      model.apply({ do: "connect" });
      expect([model.hasConnected, model.access.closed]).toEqual([true, true]);
    }),
  );
});
