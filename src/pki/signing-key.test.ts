import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { expectOk, reveal, sensitive } from "#base";
import { createSigningKey, loadSigningKey } from "./signing-key.ts";

test("a key verifies its own signatures, also after it was stored and loaded", () => {
  const key = createSigningKey();
  const signature = key.sign("a.b");
  expect(signature).toHaveLength(64);
  expect(key.verify("a.b", signature)).toBe(true);
  expect(key.verify("a.c", signature)).toBe(false);
  expect(key.verify("a.b", signature.subarray(1))).toBe(false);
  const loaded = expectOk(loadSigningKey(key.pem));
  expect(loaded.id).toBe(key.id);
  expect(loaded.publicKey).toEqual(key.publicKey);
  expect(loaded.verify("a.b", signature)).toBe(true);
});

test("two keys do not verify each other's signatures, and have different ids", () => {
  const [one, other] = [createSigningKey(), createSigningKey()];
  expect(one.id).not.toBe(other.id);
  expect(other.verify("a", one.sign("a"))).toBe(false);
});

test.each([
  { name: "text", pem: "nothing like a key, but long enough to be recognised when it is quoted" },
  {
    name: "a key of another curve",
    pem: generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  },
])("$name is no signing key, and the refusal does not quote it", ({ pem }) => {
  const loaded = loadSigningKey(sensitive(pem));
  expect(loaded.ok).toBe(false);
  expect(JSON.stringify(loaded)).not.toContain(pem.slice(30, 60));
});

test("the private key is redacted when it is printed", () => {
  const key = createSigningKey();
  expect(JSON.stringify(key)).not.toContain("PRIVATE");
  expect(reveal(key.pem)).toContain("PRIVATE");
});
