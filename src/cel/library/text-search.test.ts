/** Search in long texts has the results of the engine's own search. */
import { expect, test } from "vitest";
import { Meter } from "../meter.ts";
import { findLastText, findText, offsetOf, positionOf } from "./text-search.ts";

const text = `${"ab".repeat(40)}c${"ab".repeat(40)}c${"ba".repeat(40)}`;
const parts = [`${"ab".repeat(20)}c`, "ab".repeat(30), "b".repeat(40), `c${"ba".repeat(40)}`, "abc", ""];

test.each(parts)("%s", (part) => {
  for (const from of [0, 1, 50, 81, 200, text.length]) {
    expect(findText(text, part, from)).toBe(text.indexOf(part, from));
    expect(findLastText(text, part, from)).toBe(text.lastIndexOf(part, from));
  }
});

test("positions count characters, offsets count code units", () => {
  const meter = new Meter(1_000_000);
  const mixed = "a😀é😀b";
  expect([0, 1, 2, 3, 4, 5].map((position) => offsetOf(mixed, position, meter))).toEqual([0, 1, 3, 4, 6, 7]);
  expect([0, 1, 3, 4, 6, 7].map((offset) => positionOf(mixed, offset, meter))).toEqual([0, 1, 2, 3, 4, 5]);
  expect(offsetOf("abc", 2, meter)).toBe(2);
});
