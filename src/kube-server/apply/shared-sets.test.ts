import { describe, expect, it } from "vitest";
import { addToSet, beginSet, LEAF, memberOf, passageOf } from "./shared-sets.ts";

const spell = (...elements: readonly string[]) => elements.reduce((at, element) => addToSet(at, element, LEAF), beginSet());

describe("shared sets", () => {
  it("are the same object for the same elements", () => {
    expect(memberOf(spell("f:a", "f:b"))).toBe(memberOf(spell("f:a", "f:b")));
    expect(passageOf(spell("f:a", "f:b"))?.children).toBe(memberOf(spell("f:a", "f:b")).children);
    expect([...(memberOf(spell("f:a", "f:b")).children?.keys() ?? [])]).toEqual(["f:a", "f:b"]);
  });

  it("differ by their nested elements", () => {
    const [one, two] = [memberOf(spell("f:x")), memberOf(spell("f:y"))];
    const over = (node: typeof one) => memberOf(addToSet(beginSet(), "f:a", node));
    expect(over(one)).toBe(over(one));
    expect(over(one)).not.toBe(over(two));
    expect(over(one).children?.get("f:a")).toBe(one);
  });

  it("are a leaf, or undefined, when they are empty", () => {
    expect(memberOf(beginSet())).toBe(LEAF);
    expect(passageOf(beginSet())).toBeUndefined();
  });

  it("are reset when their names are too long", () => {
    const before = memberOf(spell("f:a", "f:b"));
    for (let at = 0; at < 140; at += 1) spell(`f:${"x".repeat(100_000)}${at}`);
    expect(memberOf(spell("f:a", "f:b"))).not.toBe(before);
  });

  it("are reset when there are too many", () => {
    const before = memberOf(spell("f:a", "f:b"));
    for (let at = 0; at < 50_001; at += 1) spell(`f:${at}`);
    const after = memberOf(spell("f:a", "f:b"));
    expect(after).not.toBe(before);
    expect(after).toEqual(before);
  });
});
