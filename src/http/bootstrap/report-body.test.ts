import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sensitive } from "#base";
import { parseReport } from "./report-body.ts";

const token = sensitive(`edge.${"s".repeat(43)}`);
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const report = { step: "apply", message: "connection refused", node: "cp-0" };

describe("a report", () => {
  test("has a step, a message and a node", () => {
    expect(parseReport(bytes(report), token)).toEqual({ ok: true, value: report });
  });

  test.each([
    { name: "no JSON", body: "{" },
    { name: "a list", body: [report] },
    { name: "no UTF-8", body: undefined },
    { name: "an unknown field", body: { ...report, token: "x" } },
    { name: "__proto__", body: '{"step":"a","message":"b","node":"c","__proto__":{}}' },
    { name: "a missing field", body: { step: "a", message: "b" } },
    { name: "a number", body: { ...report, step: 1 } },
    { name: "an empty step", body: { ...report, step: " \n" } },
    { name: "a long step", body: { ...report, step: "x".repeat(65) } },
    { name: "a long message", body: { ...report, message: "é".repeat(513) } },
    { name: "a long node", body: { ...report, node: "x".repeat(254) } },
  ])("$name is refused", ({ body }) => {
    expect(parseReport(body === undefined ? Uint8Array.of(0xff) : bytes(body), token).ok).toBe(false);
  });

  test("the token of the node, other secrets and control characters are removed", () => {
    const message = `curl: edge.${"s".repeat(43)} and ${"s".repeat(43)}\n\u001b[31mline\u202e two; password=hunter2`;
    const parsed = parseReport(bytes({ ...report, message }), token);
    expect(parsed).toMatchObject({ ok: true, value: { message: "curl: [redacted] and [redacted] [31mline  two; password=[redacted]" } });
  });

  test("any text stays within its limit and prints on one line", () => {
    const character = fc.integer({ min: 0, max: 0x2f_ff }).map((code) => String.fromCodePoint(code));
    const text = fc.array(character, { maxLength: 100 }).map((all) => all.join(""));
    fc.assert(
      fc.property(text, text, text, (step, message, node) => {
        const parsed = parseReport(bytes({ step, message, node }), token);
        if (!parsed.ok) return;
        expect(Buffer.byteLength(parsed.value.message)).toBeLessThanOrEqual(1_024);
        expect(Object.values(parsed.value).join("")).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
    );
  });
});
