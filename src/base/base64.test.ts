import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { base64OfBytes, base64OfText, bytesOfBase64 } from "./base64.ts";
import { ok } from "./result.ts";

test("bytes go there and back, as Node writes them", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000 }), (bytes) => {
      const text = base64OfBytes(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(bytesOfBase64(text)).toEqual(ok(bytes));
    }),
    { numRuns: 50 },
  );
});

test("text is written as UTF-8", () => {
  expect(base64OfText("Grüße ✓")).toBe(Buffer.from("Grüße ✓").toString("base64"));
});

test("line breaks are fine, anything else is not", () => {
  expect(bytesOfBase64("aGVs\nbG8=\n")).toEqual(ok(new TextEncoder().encode("hello")));
  for (const wrong of ["a", "aGVsbG8", "aG=s", "a!==", "===="]) expect(bytesOfBase64(wrong).ok).toBe(false);
});
