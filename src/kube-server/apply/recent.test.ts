import { describe, expect, it } from "vitest";
import { Recent } from "./recent.ts";

describe("Recent", () => {
  it("finds recent entries, and drops entries that were not read since", () => {
    const recent = new Recent<object, number>(2);
    const keys = Array.from({ length: 6 }, () => ({}));
    for (const [value, key] of keys.entries()) recent.set(key, value);
    expect(keys.map((key) => recent.get(key))).toEqual([undefined, undefined, 2, 3, 4, 5]);
  });

  it("uses identity as key", () => {
    const recent = new Recent<object, number>();
    recent.set({}, 1);
    expect(recent.get({})).toBeUndefined();
  });
});
