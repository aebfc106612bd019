import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundedMap, memoize, memoizeByObject, once } from "./memo.ts";

/** Few different keys, so that they repeat; some of them are properties that every object inherits. */
const keys = fc.array(
  fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", ""), fc.string({ maxLength: 2 }), fc.nat(9).map(String)),
  {
    maxLength: 200,
  },
);

describe("memoize", () => {
  it("returns what the function returns, for any keys in any order", () => {
    fc.assert(
      fc.property(keys, fc.integer({ min: 0, max: 20 }), (list, limit) => {
        const memo = memoize({ limit }, (key: string) => `<${key}>`);
        for (const key of list) expect(memo(key)).toBe(`<${key}>`);
      }),
    );
  });

  it("calls the function once for keys that fit into half of the limit", () => {
    const calls: string[] = [];
    const memo = memoize({ limit: 8 }, (key: string) => calls.push(key));
    for (let round = 0; round < 3; round += 1) for (const key of ["a", "b", "__proto__", "constructor"]) memo(key);
    expect(calls).toEqual(["a", "b", "__proto__", "constructor"]);
  });

  it("keeps keys that are used again while other keys are added and dropped", () => {
    const calls: string[] = [];
    const memo = memoize({ limit: 10 }, (key: string) => calls.push(key));
    for (let index = 0; index < 100; index += 1) {
      memo("often");
      memo(`seldom-${index}`);
    }
    expect(calls.filter((key) => key === "often")).toHaveLength(1);
  });

  it("keeps falsy results", () => {
    const calls: string[] = [];
    const memo = memoize({ limit: 10 }, (key: string) => {
      calls.push(key);
      return false;
    });
    expect([memo("a"), memo("a")]).toEqual([false, false]);
    expect(calls).toEqual(["a"]);
  });

  it("computes results for long keys without keeping them", () => {
    const calls: number[] = [];
    const memo = memoize({ limit: 10, longestKey: 3 }, (key: string) => calls.push(key.length));
    for (const key of ["abc", "abcd", "abc", "abcd"]) memo(key);
    expect(calls).toEqual([3, 4, 4]);
  });

  it("keeps nothing when the function throws", () => {
    let fails = true;
    const memo = memoize({ limit: 10 }, (key: string) => {
      if (fails) throw new Error("not yet");
      return key;
    });
    expect(() => memo("a")).toThrow("not yet");
    fails = false;
    expect(memo("a")).toBe("a");
  });
});

describe("boundedMap", () => {
  it("never has more entries than the limit, and never a wrong value", () => {
    fc.assert(
      fc.property(keys, fc.integer({ min: 0, max: 20 }), (list, limit) => {
        const map = boundedMap<string, string>({ limit });
        for (const [at, key] of list.entries()) {
          if (at % 3 === 0) expect([undefined, `<${key}>`]).toContain(map.get(key));
          else map.set(key, `<${key}>`);
          expect(map.size()).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  it("never has more weight than the limit", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 60 }), (weights) => {
        const map = boundedMap<number, number>({ limit: 20, weigh: (weight) => weight });
        const present = () => weights.reduce((sum, weight, at) => sum + (map.has(at) ? weight : 0), 0);
        for (const [at, weight] of weights.entries()) {
          map.set(at, weight);
          expect(present()).toBeLessThanOrEqual(20);
          expect(map.has(at)).toBe(weight <= 10);
        }
      }),
    );
  });
});

describe("memoizeByObject", () => {
  it("calls the function once per object, not per equal object", () => {
    const calls: object[] = [];
    const memo = memoizeByObject((key: object) => calls.push(key));
    const [a, b] = [{}, {}];
    expect([memo(a), memo(b), memo(a), memo(b)]).toEqual([1, 2, 1, 2]);
  });

  it("returns the given value for a recursive call, and keeps the result afterwards", () => {
    type Type = { readonly own: boolean; below: readonly Type[] };
    const isMarked: (type: Type) => boolean = memoizeByObject(({ own, below }: Type) => own || below.some((type) => isMarked(type)), false);
    const leaf: Type = { own: true, below: [] };
    const loop: Type = { own: false, below: [] };
    loop.below = [loop, leaf];
    expect([isMarked(loop), isMarked(loop), isMarked({ own: false, below: [] })]).toEqual([true, true, false]);
  });
});

it("once creates its value at the first call only", () => {
  let calls = 0;
  const value = once(() => {
    calls += 1;
    return undefined;
  });
  expect(calls).toBe(0);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(calls).toBe(1);
});
