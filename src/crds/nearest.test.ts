import { describe, expect, it } from "vitest";
import { didYouMean, nearestName } from "./nearest.ts";

const known = ["replicas", "resources", "containers", "service", "id"];

describe("nearestName", () => {
  const rows = [
    { given: "replica", want: "replicas" },
    { given: "Containers", want: "containers" },
    { given: "contianers", want: "containers" },
    { given: "resorces", want: "resources" },
    { given: "ids", want: "id" },
    { given: "ports", want: undefined },
    { given: "", want: undefined },
    { given: "x".repeat(10_000), want: undefined },
  ];
  it.each(rows)("$given", ({ given, want }) => {
    expect(nearestName(given, known)).toBe(want);
  });

  it("returns undefined without known names", () => {
    expect(nearestName("a", [])).toBeUndefined();
  });

  it("returns the name with the smallest distance", () => {
    expect(didYouMean("servic", ["services", "service"])).toBe('; did you mean "service"?');
    expect(didYouMean("nothing", known)).toBe("");
  });

  it("compares a bounded number of names, and none whose length differs too much", () => {
    const read: string[] = [];
    function* names(make: (at: number) => string) {
      for (let at = 0; at < 10_000; at += 1) {
        read.push(make(at));
        yield make(at);
      }
    }
    expect(
      nearestName(
        "abcdef",
        names((at) => `xyz${at + 100}`),
      ),
    ).toBeUndefined();
    expect(read.length).toBe(129);
    read.length = 0;
    expect(
      nearestName(
        "abcdef",
        names(() => "x".repeat(100)),
      ),
    ).toBeUndefined();
    expect(read.length).toBe(2_049);
  });

  it("finds the same distance as the full table, for names that are near", () => {
    expect(nearestName("a".repeat(60) + "bcd", ["a".repeat(60) + "dcb", "a".repeat(60) + "bdc"])).toBe("a".repeat(60) + "bdc");
    expect(nearestName("x".repeat(64), ["y".repeat(64)])).toBeUndefined();
  });
});
