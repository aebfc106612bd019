import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { base64OfText } from "#base";
import { newAccess } from "./access-rules.ts";
import { accessOfSecret, accessSecret, clusterOfSecretName, type ClusterAccess } from "./cluster-access.ts";

const hashes = { bootstrapHash: "a".repeat(64), csrHash: "b".repeat(64), proxyHash: "c".repeat(64) };
const access: ClusterAccess = {
  ...newAccess("edge", hashes, { now: 0, expiresAt: 1 }),
  certificates: [{ serial: "4F", notAfter: 1, keyHash: "d".repeat(64), generation: 0, connected: true }],
  lastReport: { step: "apply", message: "failed", node: "cp-0", at: 1 },
};
const secretOf = (record: unknown, name = "lattice-access-edge") => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  data: { record: base64OfText(typeof record === "string" ? record : JSON.stringify(record)) },
});

describe("the record of a cluster", () => {
  test("is read as it was written, and an update keeps the metadata of the Secret", () => {
    const secret = accessSecret(access, "lattice-system");
    expect(accessOfSecret(secret)).toEqual({ ok: true, value: access });
    expect(clusterOfSecretName(secret.metadata.name)).toBe("edge");
    const stored = { ...secret, metadata: { ...secret.metadata, resourceVersion: "7", labels: { team: "a" } } };
    const next = accessSecret({ ...access, revoked: true }, "lattice-system", stored);
    expect(next.metadata).toMatchObject({ resourceVersion: "7", labels: { team: "a", "lattice.dev/cluster-access": "true" } });
  });

  test.each([
    { name: "no record", secret: { ...secretOf(access), data: {} } },
    { name: "no data", secret: { apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-access-edge" } } },
    { name: "no base64", secret: { ...secretOf(access), data: { record: "%%%" } } },
    { name: "no UTF-8", secret: { ...secretOf(access), data: { record: "//79" } } },
    { name: "no JSON", secret: secretOf("{") },
    { name: "a list", secret: secretOf([access]) },
    { name: "a Secret of another cluster", secret: secretOf(access, "lattice-access-other") },
    { name: "an unknown field", secret: secretOf({ ...access, admin: true }) },
    { name: "a missing field", secret: secretOf({ ...access, revoked: undefined }) },
    { name: "a number as a flag", secret: secretOf({ ...access, revoked: 0 }) },
    { name: "a hash that is too short", secret: secretOf({ ...access, proxyHash: "" }) },
    { name: "an expiry that is no number", secret: secretOf({ ...access, expiresAt: "9999999999999" }) },
    { name: "a negative expiry", secret: secretOf({ ...access, expiresAt: -1 }) },
    { name: "certificates that are no list", secret: secretOf({ ...access, certificates: {} }) },
    { name: "a certificate without its serial", secret: secretOf({ ...access, certificates: [{ keyHash: "d".repeat(64) }] }) },
    { name: "a report without its time", secret: secretOf({ ...access, lastReport: { step: "a", message: "b", node: "c" } }) },
    { name: "a name that is no label", secret: secretOf({ ...access, cluster: "__proto__" }, "lattice-access-__proto__") },
    { name: "a record of megabytes", secret: secretOf(" ".repeat(600_000)) },
  ])("$name is not accepted", ({ secret }) => {
    expect(accessOfSecret(secret).ok).toBe(false);
  });

  test("any JSON, and any change of one field, is accepted only if it is a whole record", () => {
    const value = fc.jsonValue();
    const changed = fc.tuple(fc.constantFrom(...Object.keys(access), "__proto__", "constructor"), value).map(([name, one]) => {
      const text = JSON.stringify(access).slice(0, -1);
      return `${text},${JSON.stringify(name)}:${JSON.stringify(one)}}`;
    });
    fc.assert(
      fc.property(
        fc.oneof(
          value.map((one) => JSON.stringify(one)),
          changed,
        ),
        (text) => {
          const read = accessOfSecret(secretOf(text));
          if (read.ok) expect(accessOfSecret(accessSecret(read.value, "x"))).toEqual(read);
        },
      ),
    );
  });
});
