import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { base64OfBytes, base64OfText, bytesOfBase64, bytesOfBase64Url } from "./base64.ts";
import { ok } from "./result.ts";

test("encoded bytes are decoded again, and the encoding is Node's", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000 }), (bytes) => {
      const text = base64OfBytes(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(bytesOfBase64(text)).toEqual(ok(bytes));
    }),
    { numRuns: 50 },
  );
});

test("text is encoded as UTF-8", () => {
  expect(base64OfText("Grüße ✓")).toBe(Buffer.from("Grüße ✓").toString("base64"));
});

test("line breaks are ignored, other characters are errors", () => {
  expect(bytesOfBase64("aGVs\nbG8=\n")).toEqual(ok(new TextEncoder().encode("hello")));
  for (const wrong of ["a", "aGVsbG8", "aG=s", "a!==", "===="]) expect(bytesOfBase64(wrong).ok).toBe(false);
});

test("only the canonical form of base64url is accepted", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(bytesOfBase64Url(Buffer.from(bytes).toString("base64url"))).toEqual(ok(bytes));
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."AZaz09-_+/=. \n!\u00e9"), maxLength: 12 }), (text) => {
      const read = bytesOfBase64Url(text);
      expect(read.ok).toBe(Buffer.from(text, "base64url").toString("base64url") === text);
    }),
    { numRuns: 2_000 },
  );
});
