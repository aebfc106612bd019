import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addAmounts,
  amountOf,
  describeAmounts,
  growth,
  maxAmounts,
  onlyNamed,
  readAmounts,
  sameAmounts,
  withoutZeros,
  writeAmounts,
} from "./amounts.ts";

const shown = (amounts: ReturnType<typeof readAmounts>) => describeAmounts(amounts);

describe("amounts", () => {
  it("are read from a ResourceList, and invalid quantities are ignored", () => {
    expect(shown(readAmounts({ memory: "1Gi", cpu: 2, wrong: "much", worse: {} }))).toBe("cpu=2,memory=1Gi");
    expect(readAmounts(undefined).size).toBe(0);
    expect(readAmounts("text").size).toBe(0);
  });

  it("are formatted sorted by name, for any names", () => {
    const named = readAmounts(JSON.parse('{"b":"1","__proto__":"2","a":"3"}'));
    expect(JSON.stringify(writeAmounts(named))).toBe('{"__proto__":"2","a":"3","b":"1"}');
  });

  it.each([
    { name: "each name separately", a: { cpu: "1", memory: "1Gi" }, b: { cpu: "500m" }, want: "cpu=1500m,memory=1Gi" },
    { name: "in the units of the first", a: { memory: "1Gi" }, b: { memory: "1000000" }, want: "memory=1074741824" },
    { name: "in the units of the second if the first is 0", a: { memory: "0" }, b: { memory: "512Mi" }, want: "memory=512Mi" },
  ])("are added: $name", ({ a, b, want }) => {
    expect(shown(addAmounts(readAmounts(a), readAmounts(b)))).toBe(want);
  });

  it("have a maximum, and a growth that is never negative", () => {
    const [small, large] = [readAmounts({ cpu: "1", a: "5" }), readAmounts({ cpu: "3", b: "2" })];
    expect(shown(maxAmounts(small, large))).toBe("a=5,b=2,cpu=3");
    expect(shown(growth(large, small))).toBe("b=2,cpu=2");
    expect(shown(growth(small, large))).toBe("a=5");
  });

  it("are filtered by name, and by not being zero", () => {
    const some = readAmounts({ cpu: "0", memory: "1" });
    expect(shown(withoutZeros(some))).toBe("memory=1");
    expect(shown(onlyNamed(some, (name) => name === "cpu"))).toBe("cpu=0");
  });

  it("are equal independently of their units", () => {
    expect(sameAmounts(readAmounts({ a: "1024Mi" }), readAmounts({ a: "1Gi" }))).toBe(true);
    expect(sameAmounts(readAmounts({ a: "1" }), readAmounts({ a: "2" }))).toBe(false);
    expect(sameAmounts(readAmounts({ a: "1" }), readAmounts({ a: "1", b: "0" }))).toBe(false);
  });

  it("grow by exactly the amounts that were added", () => {
    const list = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.nat(10_000).map(String));
    fc.assert(
      fc.property(list, list, (one, other) => {
        const [a, b] = [readAmounts(one), readAmounts(other)];
        return sameAmounts(growth(addAmounts(a, b), a), withoutZeros(b));
      }),
    );
  });

  it("can be created from a number", () => {
    expect(describeAmounts(new Map([["pods", amountOf(1_500)]]))).toBe("pods=1500");
  });
});
