/** Diffs as Go's difflib makes them. */
import { expect, test } from "vitest";
import { jsonDiff, unifiedDiff } from "./unified-diff.ts";

test("no change is an empty diff", () => {
  expect(unifiedDiff(["a"], ["a"])).toBe("");
});

test("a change stands between three lines of what stayed", () => {
  const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
  expect(unifiedDiff(before, before.with(4, "five"))).toBe("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
});

test("changes that are far apart have hunks of their own, near ones share one", () => {
  const before = Array.from({ length: 20 }, (_, at) => String(at));
  expect(unifiedDiff(before, before.with(0, "x").with(19, "y"))).toBe(
    "@@ -1,4 +1,4 @@\n-0\n+x\n 1\n 2\n 3\n@@ -17,4 +17,4 @@\n 16\n 17\n 18\n-19\n+y\n",
  );
  expect(unifiedDiff(before, before.with(5, "x").with(9, "y"))).toBe(
    "@@ -3,11 +3,11 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n-9\n+y\n 10\n 11\n 12\n",
  );
});

test("ranges of one line and of none are written short", () => {
  expect(unifiedDiff(["a"], ["b"])).toBe("@@ -1 +1 @@\n-a\n+b\n");
  expect(unifiedDiff([], ["b"])).toBe("@@ -0,0 +1 @@\n+b\n");
});

test("the diff of a real server for a claim whose request grew", () => {
  const claim = (storage: string) => ({
    AccessModes: ["ReadWriteOnce"],
    Selector: null,
    Resources: { Limits: null, Requests: { storage } },
    VolumeName: "",
  });
  expect(jsonDiff(claim("1Gi"), claim("2Gi"))).toBe(
    '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": ""\n',
  );
});

test("in a long text the lines that are everywhere are no landmarks", () => {
  const before = Array.from({ length: 220 }, (_, at) => (at % 2 === 0 ? "same" : String(at)));
  expect(unifiedDiff(before, before.with(101, "new"))).toContain("-101\n+new\n");
});

test("values of thousands of lines are not compared", () => {
  const many = (text: string) => Array.from({ length: 2_500 }, () => text);
  expect(jsonDiff(many("a"), many("b"))).toBe("(2502 and 2502 lines: too many to compare)\n");
});
