import { expect, test } from "vitest";
import { andThen } from "./later.ts";

test("what is there goes on at once", () => {
  expect(andThen(1, (one) => one + 1)).toBe(2);
});

test("what comes later goes on later", async () => {
  const later = andThen(Promise.resolve(1), (one) => one + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
});
