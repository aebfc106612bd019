import { describe, expect, it } from "vitest";
import { repeats } from "./repeats.ts";

describe("repeats", () => {
  const items = ["a", "b", "a"];
  const stoodBefore = repeats(items);
  it("is true for the second occurrence, not for the first", () => {
    expect(items.map(stoodBefore)).toEqual([false, false, true]);
  });

  it("finds nothing in an empty list", () => {
    expect([stoodBefore("c", 2), stoodBefore("b", 1), stoodBefore("b", 2)]).toEqual([false, false, true]);
  });
});
