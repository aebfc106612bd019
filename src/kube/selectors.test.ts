import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { formatSelector, matches, parseSelector, requirementsOf } from "./selectors.ts";

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

  it.each(["a=b=c", "a b", "=b", "a in b", "a>x", "a in (b", "a=b,,c=d", "a=-x", "a!"])("refuses %j and names it", (text) => {
    expect(parseSelector(text)).toMatchObject({
      ok: false,
      error: expect.stringContaining(`unable to parse selector "${text}"`) as string,
    });
  });

  it("an object without labels matches only what asks for absence", () => {
    expect(matches(expectOk(parseSelector("!a")), undefined)).toBe(true);
    expect(matches(expectOk(parseSelector("a")), undefined)).toBe(false);
  });

  it("is written back so that it reads the same", () => {
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

describe("requirementsOf", () => {
  it("reads a LabelSelector; an empty one selects everything", () => {
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
