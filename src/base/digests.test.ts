import { describe, expect, it } from "vitest";
import { equalInConstantTime, hmacSha256Hex, sha256Hex } from "./digests.ts";
import { noTracing } from "./trace.ts";

describe("digests", () => {
  it("are SHA-256: they equal published test vectors", () => {
    expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(hmacSha256Hex("Jefe", "what do ya want for nothing?")).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  });

  it("are compared by content, also with different lengths", () => {
    expect(equalInConstantTime("same", "same")).toBe(true);
    expect(equalInConstantTime("same", "other")).toBe(false);
  });
});

describe("noTracing", () => {
  it("only runs the function", async () => {
    const result = await noTracing.span("reconcile", {}, (span) => {
      span.set({ a: 1 });
      span.fail("nothing happens");
      return Promise.resolve(42);
    });
    expect(result).toBe(42);
  });
});
