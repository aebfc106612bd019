/** Warning headers: which are sent whole, truncated, or dropped. */
import { expect, test } from "vitest";
import { recordWarning, warningTexts } from "./warnings.ts";

const texts = (...given: readonly string[]) => warningTexts(new Set(given));
const long = (letter: string, length: number) => letter.repeat(length);

test("empty texts and texts with control characters are dropped", () => {
  expect(texts("a", "", "b\nc", "d\u007f", "ü")).toEqual(["a", "ü"]);
  expect(texts()).toEqual([]);
});

test("beyond four thousand characters every text is truncated", () => {
  expect(texts(long("a", 3_000), long("b", 3_000), long("c", 300)).map((text) => text.length)).toEqual([256, 256, 256]);
  expect(texts(long("a", 4_096))).toEqual([long("a", 4_096)]);
});

test("texts beyond the limit are dropped", () => {
  const many = Array.from({ length: 60 }, (_, index) => `${index}-${long("x", 100)}`);
  expect(texts(...many)).toHaveLength(40);
});

test("surrogate pairs are not split", () => {
  expect(texts("\u{1f600}".repeat(1_000_000))).toEqual(["\u{1f600}".repeat(256)]);
});

test("empty warnings and more than can be sent are not recorded", () => {
  const recorded = new Set<string>();
  for (const text of ["", ...Array.from({ length: 10_000 }, (_, at) => String(at))]) recordWarning(recorded, text);
  expect(recorded.size).toBe(4_097);
  expect(recorded.has("")).toBe(false);
});
