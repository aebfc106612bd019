import { expect, test } from "vitest";
import { whenOk, whenThere } from "./later.ts";
import { err, ok } from "./result.ts";

test("a present value is passed on synchronously", () => {
  expect(whenThere(1, (one) => one + 1)).toBe(2);
});

test("a promised value is passed on when it resolves", async () => {
  const later = whenThere(Promise.resolve(1), (one) => one + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
});

test("an error is returned without calling the function", () => {
  expect(whenOk(ok(1), (one) => ok(one + 1))).toEqual(ok(2));
  expect(whenOk(err("no"), () => ok(2))).toEqual(err("no"));
});
