import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reveal, sensitive } from "#base";
import { bearerToken, clusterOfToken, createToken, csrTokenOf, hashOfToken, isToken } from "./tokens.ts";

const token = createToken("edge-1", randomBytes);

describe("a token", () => {
  test("has 32 random bytes, names its cluster, and does not print", () => {
    expect(reveal(token)).toMatch(/^edge-1\.[A-Za-z0-9_-]{43}$/);
    expect(clusterOfToken(token)).toBe("edge-1");
    expect(`${token} ${JSON.stringify({ token })}`).toBe('[redacted] {"token":"[redacted]"}');
  });

  test("is asked for 32 bytes of the given source", () => {
    const asked: number[] = [];
    createToken("a", (count) => {
      asked.push(count);
      return new Uint8Array(count);
    });
    expect(asked).toEqual([32]);
  });

  test("the CSR token is always the same, and neither token is the other", () => {
    const csr = csrTokenOf("edge-1", token);
    expect(reveal(csrTokenOf("edge-1", token))).toBe(reveal(csr));
    expect(clusterOfToken(csr)).toBe("edge-1");
    expect([isToken(csr, hashOfToken(token)), isToken(token, hashOfToken(csr))]).toEqual([false, false]);
  });

  test("no other text is accepted in its place", () => {
    const hash = hashOfToken(token);
    const text = reveal(token);
    const changed = fc.oneof(
      fc.string(),
      fc.nat({ max: text.length - 1 }).map((length) => text.slice(0, length)),
      fc.string({ minLength: 1 }).map((more) => text + more),
      fc
        .tuple(fc.nat({ max: text.length - 1 }), fc.string({ minLength: 1, maxLength: 1 }))
        .map(([at, one]) => text.slice(0, at) + one + text.slice(at + 1)),
    );
    fc.assert(fc.property(changed, (other) => isToken(sensitive(other), hash) === (other === text)));
    expect(isToken(token, undefined)).toBe(false);
  });

  test.each([
    "",
    ".",
    "a.",
    `.${"A".repeat(43)}`,
    `__proto__.${"A".repeat(43)}`,
    `a.b.${"A".repeat(43)}`,
    `a.${"A".repeat(42)}`,
    `A.${"A".repeat(43)}`,
    `a.${"=".repeat(43)}`,
  ])("%j names no cluster", (text) => {
    expect(clusterOfToken(sensitive(text))).toBeUndefined();
  });
});

describe("the Authorization header", () => {
  test.each([
    { name: "one Bearer", raw: ["Host", "x", "Authorization", "Bearer a.b"], want: "a.b" },
    { name: "any case", raw: ["AUTHORIZATION", "bearer a.b"], want: "a.b" },
    { name: "none", raw: ["Host", "Bearer a.b"], want: undefined },
    { name: "two", raw: ["authorization", "Bearer a.b", "Authorization", "Bearer a.b"], want: undefined },
    { name: "another scheme", raw: ["authorization", "Basic a.b"], want: undefined },
    { name: "too long", raw: ["authorization", `Bearer ${"a".repeat(1_000)}`], want: undefined },
    { name: "a name among the values", raw: ["x", "authorization", "y", "Bearer a.b"], want: undefined },
  ])("$name", ({ raw, want }) => {
    const found = bearerToken(raw);
    expect(found === undefined ? undefined : reveal(found)).toBe(want);
  });
});
