import { describe, expect, it } from "vitest";
import { andThen, collect, describeThrown, err, expectOk, fromPromise, fromThrowing, map, mapErr, ok } from "./result.ts";

describe("Result", () => {
  it("maps values and returns errors unchanged", () => {
    expect(map(ok(2), (n) => n + 1)).toEqual(ok(3));
    expect(map(err("no"), (n: number) => n + 1)).toEqual(err("no"));
    expect(mapErr(err("no"), (text) => text.length)).toEqual(err(2));
    expect(mapErr(ok(1), () => "never")).toEqual(ok(1));
  });

  it("chains, and stops at the first error", () => {
    const half = (n: number) => (n % 2 === 0 ? ok(n / 2) : err("odd"));
    expect(andThen(ok(4), half)).toEqual(ok(2));
    expect(andThen(ok(3), half)).toEqual(err("odd"));
    expect(andThen(err("before"), half)).toEqual(err("before"));
  });

  it("collects all errors, not the first", () => {
    expect(collect([ok(1), ok(2)])).toEqual(ok([1, 2]));
    expect(collect([ok(1), err("a"), err("b")])).toEqual(err(["a", "b"]));
  });

  it("turns exceptions of foreign code into errors", async () => {
    const boom = () => {
      throw new Error("boom");
    };
    expect(fromThrowing(boom, describeThrown)).toEqual(err("boom"));
    expect(fromThrowing(() => 1, describeThrown)).toEqual(ok(1));
    expect(await fromPromise(Promise.reject(new Error("late")), describeThrown)).toEqual(err("late"));
    expect(await fromPromise(Promise.resolve(1), describeThrown)).toEqual(ok(1));
  });

  it("expectOk throws an error", () => {
    expect(expectOk(ok(1))).toBe(1);
    expect(() => expectOk(err({ kind: "x" }))).toThrow('{"kind":"x"}');
  });

  it.each([
    { name: "an Error", given: new TypeError("bad"), want: "bad" },
    { name: "text", given: "plain", want: "plain" },
    { name: "anything else", given: { a: 1 }, want: '{"a":1}' },
  ])("describes $name in one line", ({ given, want }) => {
    expect(describeThrown(given)).toBe(want);
  });
});
