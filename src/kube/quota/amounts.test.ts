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
  it("are read from a ResourceList, and what is no amount is left out", () => {
    expect(shown(readAmounts({ memory: "1Gi", cpu: 2, wrong: "much", worse: {} }))).toBe("cpu=2,memory=1Gi");
    expect(readAmounts(undefined).size).toBe(0);
    expect(readAmounts("text").size).toBe(0);
  });

  it("are written sorted, whatever they are called", () => {
    const named = readAmounts(JSON.parse('{"b":"1","__proto__":"2","a":"3"}'));
    expect(JSON.stringify(writeAmounts(named))).toBe('{"__proto__":"2","a":"3","b":"1"}');
  });

  it.each([
    { name: "each name by itself", a: { cpu: "1", memory: "1Gi" }, b: { cpu: "500m" }, want: "cpu=1500m,memory=1Gi" },
    { name: "in the units of the first", a: { memory: "1Gi" }, b: { memory: "1000000" }, want: "memory=1074741824" },
    { name: "nothing has no units of its own", a: { memory: "0" }, b: { memory: "512Mi" }, want: "memory=512Mi" },
  ])("are added: $name", ({ a, b, want }) => {
    expect(shown(addAmounts(readAmounts(a), readAmounts(b)))).toBe(want);
  });

  it("have a greater one, and a growth that is never negative", () => {
    const [small, large] = [readAmounts({ cpu: "1", a: "5" }), readAmounts({ cpu: "3", b: "2" })];
    expect(shown(maxAmounts(small, large))).toBe("a=5,b=2,cpu=3");
    expect(shown(growth(large, small))).toBe("b=2,cpu=2");
    expect(shown(growth(small, large))).toBe("a=5");
  });

  it("are picked by name, and by not being nothing", () => {
    const some = readAmounts({ cpu: "0", memory: "1" });
    expect(shown(withoutZeros(some))).toBe("memory=1");
    expect(shown(onlyNamed(some, (name) => name === "cpu"))).toBe("cpu=0");
  });

  it("are the same when they are equal, whatever their units", () => {
    expect(sameAmounts(readAmounts({ a: "1024Mi" }), readAmounts({ a: "1Gi" }))).toBe(true);
    expect(sameAmounts(readAmounts({ a: "1" }), readAmounts({ a: "2" }))).toBe(false);
    expect(sameAmounts(readAmounts({ a: "1" }), readAmounts({ a: "1", b: "0" }))).toBe(false);
  });

  it("come back from what they were added to", () => {
    const list = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.nat(10_000).map(String));
    fc.assert(
      fc.property(list, list, (one, other) => {
        const [a, b] = [readAmounts(one), readAmounts(other)];
        return sameAmounts(growth(addAmounts(a, b), a), withoutZeros(b));
      }),
    );
  });

  it("can be a plain number", () => {
    expect(describeAmounts(new Map([["pods", amountOf(1_500)]]))).toBe("pods=1500");
  });
});
