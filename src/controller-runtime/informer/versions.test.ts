import { expect, test } from "vitest";
import { laterOf, orderOf } from "./versions.ts";

for (const { name, given, want } of [
  { name: "equal text is the same", given: ["7", "7"], want: "same" },
  { name: "a smaller integer is older", given: ["9", "10"], want: "older" },
  { name: "a larger integer is newer", given: ["11", "10"], want: "newer" },
  { name: "integers that a number would round are distinguished", given: ["9007199254740993", "9007199254740992"], want: "newer" },
  { name: "text with leading zeros is not an integer", given: ["007", "8"], want: "unknown" },
  { name: "other text has no order", given: ["abc", "8"], want: "unknown" },
  { name: "a missing version has no order", given: [undefined, "8"], want: "unknown" },
] as const) {
  test(name, () => expect(orderOf(given[0], given[1])).toBe(want));
}

test("a watch resumes from the later version, or from the last received when they have no order", () => {
  expect([laterOf("10", "9"), laterOf("10", "11"), laterOf("10", "b")]).toEqual(["10", "11", "b"]);
});
