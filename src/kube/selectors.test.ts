import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { CompiledSelector } from "./compiled-selector.ts";
import { formatSelector, matches, parseSelector, requirementsOf, type Requirement } from "./selectors.ts";

describe("parseSelector", () => {
  const labels = { app: "api", tier: "back", size: "7" };
  it.each([
    { text: "", want: true },
    { text: "app=api", want: true },
    { text: "app==api,tier=back", want: true },
    { text: "app!=web", want: true },
    { text: "missing!=web", want: true },
    { text: "app in (web, api)", want: true },
    { text: "app notin (web,api)", want: false },
    { text: "missing notin (a)", want: true },
    { text: "app", want: true },
    { text: "!app", want: false },
    { text: "! missing", want: true },
    { text: "size>5,size<8", want: true },
    { text: "size>7", want: false },
    { text: "app>7", want: false },
    { text: "missing<7", want: false },
    { text: "constructor", want: false },
    { text: "app=", want: false },
  ])("$text", ({ text, want }) => {
    expect(matches(expectOk(parseSelector(text)), labels)).toBe(want);
  });

  it.each(["a=b=c", "a b", "=b", "a in b", "a>x", "a in (b", "a=b,,c=d", "a=-x", "a!"])(
    "rejects %j with an error that contains it",
    (text) => {
      expect(parseSelector(text)).toMatchObject({
        ok: false,
        error: expect.stringContaining(`unable to parse selector "${text}"`) as string,
      });
    },
  );

  it("an object without labels matches only requirements for absent labels", () => {
    expect(matches(expectOk(parseSelector("!a")), undefined)).toBe(true);
    expect(matches(expectOk(parseSelector("a")), undefined)).toBe(false);
  });

  it("is formatted so that it parses to the same selector", () => {
    const name = fc.stringMatching(/^[a-z]{1,5}$/);
    const requirement = fc.oneof(
      fc.record({
        key: name,
        operator: fc.constantFrom("in" as const, "notin" as const),
        values: fc.array(name, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ key: name, operator: fc.constantFrom("exists" as const, "absent" as const) }),
      fc.record({ key: name, operator: fc.constantFrom("greater" as const, "less" as const), value: fc.integer({ min: -99, max: 99 }) }),
    );
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), (all) => {
        expect(expectOk(parseSelector(formatSelector(all)))).toEqual(all);
      }),
    );
  });
});

describe("a selector of many requirements", () => {
  const key = fc.constantFrom("a", "b", "c", "__proto__");
  const value = fc.constantFrom("1", "2", "3", "x", "");
  const requirement: fc.Arbitrary<Requirement> = fc.oneof(
    fc.record({ key, operator: fc.constantFrom("in" as const, "notin" as const), values: fc.array(value, { minLength: 1, maxLength: 4 }) }),
    fc.record({ key, operator: fc.constantFrom("exists" as const, "absent" as const) }),
    fc.record({ key, operator: fc.constantFrom("greater" as const, "less" as const), value: fc.integer({ min: 0, max: 4 }) }),
  );

  it("matches if each of them matches", () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 12 }), fc.dictionary(key, value), (all, labels) => {
        const one = all.every((requirement) => matches([requirement], labels));
        expect(matches(all, labels)).toBe(one);
        expect(new CompiledSelector(all).matches(labels)).toBe(one);
        expect(new CompiledSelector(all).matches(undefined)).toBe(all.every((requirement) => matches([requirement], undefined)));
      }),
    );
  });

  it("matches requirements of many values", () => {
    const values = Array.from({ length: 100 }, (_, at) => String(at));
    expect(["99", "100"].map((given) => matches([{ key: "a", operator: "in", values }], { a: given }))).toEqual([true, false]);
    expect(["99", "100"].map((given) => matches([{ key: "a", operator: "notin", values }], { a: given }))).toEqual([false, true]);
  });

  it("is compiled once", () => {
    const matchLabels = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, "x"]));
    expect(requirementsOf({ matchLabels })).toBe(requirementsOf({ matchLabels }));
    expect(requirementsOf({ matchLabels, matchExpressions: [] })).toEqual(requirementsOf({ matchLabels }));
  });
});

describe("requirementsOf", () => {
  it("converts a LabelSelector; an empty one selects everything", () => {
    expect(requirementsOf({})).toEqual([]);
    const requirements = requirementsOf({
      matchLabels: { app: "api" },
      matchExpressions: [
        { key: "a", operator: "In", values: ["x", "y"] },
        { key: "b", operator: "NotIn", values: ["z"] },
        { key: "c", operator: "Exists" },
        { key: "d", operator: "DoesNotExist" },
      ],
    });
    expect(formatSelector(requirements)).toBe("app=api,a in (x,y),b!=z,c,!d");
    expect(matches(requirementsOf({ matchExpressions: [{ key: "a", operator: "In" }] }), { a: "" })).toBe(false);
    expect(matches(requirementsOf({ matchExpressions: [{ key: "a", operator: "NotIn" }] }), { a: "" })).toBe(true);
  });
});
