import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  QUANTITY_PATTERN,
  quantityFamily,
  quantityToNumber,
} from "./quantities.ts";

describe("parseQuantity", () => {
  it.each([
    { given: "100m", want: 0.1 },
    { given: "2", want: 2 },
    { given: 3, want: 3 },
    { given: "1.5Gi", want: 1.5 * 1024 ** 3 },
    { given: "1k", want: 1_000 },
    { given: "2e3", want: 2_000 },
    { given: "5E-1", want: 0.5 },
    { given: "1E", want: 1e18 },
    { given: "-1Ki", want: -1024 },
    { given: ".5", want: 0.5 },
    { given: "5.", want: 5 },
    { given: "0.1n", want: 1e-9 },
    { given: "+1u", want: 1e-6 },
  ])("reads $given", ({ given, want }) => {
    expect(quantityToNumber(expectOk(parseQuantity(given)))).toBe(want);
  });

  it.each(["", ".", "1.2.3", "1Kb", "abc", "1 Gi", "1e", "1mi", "--1", "9".repeat(100)])(
    "refuses %j and says how to write one",
    (given) => {
      expect(parseQuantity(given)).toMatchObject({ ok: false, error: expect.stringContaining("is not a quantity") as string });
    },
  );

  it("compares and adds exactly, unlike floating point", () => {
    const tenth = expectOk(parseQuantity("0.1"));
    const third = addQuantities(addQuantities(tenth, tenth), tenth);
    expect(compareQuantities(third, expectOk(parseQuantity("300m")))).toBe(0);
    expect(compareQuantities(tenth, third)).toBe(-1);
    expect(compareQuantities(third, tenth)).toBe(1);
  });

  it("accepts what the pattern in the CRDs accepts, except exponents beyond the limits", () => {
    const pattern = new RegExp(QUANTITY_PATTERN);
    fc.assert(
      fc.property(fc.stringMatching(/^[+-]?[0-9.]{0,6}(Ki|Mi|m|k|E|e[0-9]{1,2}|n|x)?$/), (text) => {
        expect(parseQuantity(text).ok).toBe(pattern.test(text));
      }),
    );
  });
});

describe("formatQuantity", () => {
  it.each([
    { given: "0.5", want: "500m" },
    { given: "1024Mi", want: "1Gi" },
    { given: "1000", want: "1k" },
    { given: "0.5Ki", want: "512" },
    { given: "1e3", want: "1e3" },
    { given: "5e0", want: "5" },
    { given: "-2048Ki", want: "-2Mi" },
    { given: "0Gi", want: "0" },
    { given: "1.5Gi", want: "1536Mi" },
    { given: "1n", want: "1n" },
  ])("writes $given as $want", ({ given, want }) => {
    expect(formatQuantity(expectOk(parseQuantity(given)), quantityFamily(given))).toBe(want);
  });

  it("formats every quantity so that it parses to the same quantity", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), fc.constantFrom("decimal", "exponent"), (nanos, family) => {
        const quantity = expectOk(parseQuantity(`${nanos}n`));
        return expectOk(parseQuantity(formatQuantity(quantity, family))) === quantity;
      }),
    );
  });
});
