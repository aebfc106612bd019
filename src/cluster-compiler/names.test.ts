import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseDnsLabel } from "#kube";
import { boundedName, controlPlaneName, poolName, templateName } from "./names.ts";

const LONG = "a".repeat(58);

describe("names", () => {
  test("short ones are the names of their parts", () => {
    expect([controlPlaneName("prod"), poolName("prod", "batch")]).toEqual(["prod-control-plane", "prod-batch"]);
    expect(templateName("prod-batch", { a: 1 })).toMatch(/^prod-batch-[0-9a-f]{8}$/);
  });

  test("long ones are cut, and stay different", () => {
    const names = [poolName(LONG, "pool-a"), poolName(LONG, "pool-b"), controlPlaneName(LONG)];
    expect(names.map(({ length }) => length)).toEqual([63, 63, 63]);
    expect(new Set(names).size).toBe(3);
  });

  test("a cut after '-' leaves one '-' before the digest", () => {
    expect(boundedName(`${"a".repeat(50)}${"-".repeat(10)}bcdef`)).toMatch(/^a{50}-[0-9a-f]{8}$/);
  });

  test("the name of a template follows its content and not the order of its fields", () => {
    expect(templateName("a", { x: 1, y: 2 })).toBe(templateName("a", { y: 2, x: 1 }));
    expect(templateName("a", { x: 1, y: 2 })).not.toBe(templateName("a", { x: 1, y: 3 }));
  });

  test("all are DNS labels of at most 63 characters", () => {
    const label = (most: number) =>
      fc
        .array(fc.constantFrom(..."ab1-"), { minLength: 1, maxLength: most })
        .map((letters) => `a${letters.join("")}`.slice(0, most).replace(/-+$/, ""));
    fc.assert(
      fc.property(label(58), label(63), (cluster, pool) => {
        const name = poolName(cluster, pool);
        for (const each of [name, templateName(name, { cluster }), controlPlaneName(cluster)])
          expect(expectOk(parseDnsLabel(each))).toBe(each);
      }),
    );
  });
});
