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

  it("knows nothing where nothing is known", () => {
    expect(nearestName("a", [])).toBeUndefined();
  });

  it("prefers the name that differs least", () => {
    expect(didYouMean("servic", ["services", "service"])).toBe('; did you mean "service"?');
    expect(didYouMean("nothing", known)).toBe("");
  });
});
