import { expect, test } from "vitest";
import { problemsOf, type HttpException } from "./http-exceptions.ts";

const listed: readonly HttpException[] = [{ area: "crud", name: "create", step: 2, reason: "known" }];

test.each([
  { name: "a case that matches", steps: [], exceptions: [], want: 0 },
  { name: "a step that differs", steps: [2], exceptions: [], want: 1 },
  { name: "a step that differs and is listed", steps: [2], exceptions: listed, want: 0 },
  { name: "another step of a listed case", steps: [2, 3], exceptions: listed, want: 1 },
  { name: "a listed step that matches", steps: [], exceptions: listed, want: 1 },
  { name: "an exception of another case", steps: [2], exceptions: [{ ...listed[0], name: "update" } as HttpException], want: 1 },
])("$name: $want problems", ({ steps, exceptions, want }) => {
  const result = { area: "crud", name: "create", fails: steps.map((step) => ({ step })) };
  expect(problemsOf(result, exceptions)).toHaveLength(want);
});
