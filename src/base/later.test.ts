import { expect, test } from "vitest";
import { whenThere } from "./later.ts";

test("what is there goes on at once", () => {
  expect(whenThere(1, (one) => one + 1)).toBe(2);
});

test("what comes later goes on later", async () => {
  const later = whenThere(Promise.resolve(1), (one) => one + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
});
