import { describe, expect, test } from "vitest";
import type { JsonObject } from "#kube";
import { entry, resolved } from "./resources.test-support.ts";

describe("resources that read each other", () => {
  test("params may read the outputs of others, in any order", () => {
    const entries = [
      entry("a", { type: "postgres", params: { database: "${resources.b.database}-copy" } }),
      entry("b", { type: "postgres", params: { database: "shop" } }),
    ];
    expect(resolved(entries).read("${resources.a.database}")).toBe("shop-copy");
  });

  test("a cycle is one error with its path", () => {
    const reads = (other: string): JsonObject => ({ database: `\${resources.${other}.database}` });
    const entries = ["a", "b", "c"].map((name, index) => entry(name, { type: "postgres", params: reads(["b", "c", "a"][index] ?? "") }));
    expect(resolved(entries).finish().errors).toEqual([{ kind: "circular-dependency", of: "resources", path: ["a", "b", "c", "a"] }]);
  });

  test("a resource that reads a resource with an error names it", () => {
    const entries = [entry("a", { type: "postgres", params: { database: "${resources.b.url}" } }), entry("b", {})];
    expect(resolved(entries).finish().errors).toContainEqual({
      kind: "provisioner",
      name: "a",
      message: "params.database: ${resources.b.url}: resource 'b' has an error, which is reported separately",
      field: "params.database",
    });
  });
});
