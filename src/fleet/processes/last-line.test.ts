import { expect, test } from "vitest";
import { LastLine } from "./last-line.ts";

test.each([
  { name: "several lines", chunks: ["one\ntwo\n", "three\n"], want: "three" },
  { name: "a line in pieces", chunks: ["one\ntw", "o"], want: "two" },
  { name: "empty lines at the end", chunks: ["one\n\n", "\n  \n"], want: "one" },
  { name: "colours", chunks: ["\u001b[31mred\u001b[0m\n"], want: "[31mred [0m" },
  { name: "no output", chunks: ["", "\n"], want: undefined },
])("the last line of $name", ({ chunks, want }) => {
  const line = new LastLine();
  for (const chunk of chunks) line.write(Buffer.from(chunk));
  expect(line.text).toBe(want);
});

test("the last line is bounded", () => {
  const line = new LastLine();
  for (let at = 0; at < 10; at += 1) line.write(Buffer.from("x".repeat(1_000)));
  expect(line.text).toBe("x".repeat(400));
});
