import { describe, expect, it } from "vitest";
import { parseDiff } from "./changed-lines.ts";

const header = (file: string) => `diff --git a/${file} b/${file}\nindex 1..2 100644\n--- a/${file}\n+++ b/${file}\n`;

describe("parseDiff", () => {
  const rows: { name: string; diff: string; want: Record<string, number[]> }[] = [
    { name: "nothing changed", diff: "", want: {} },
    { name: "one changed line", diff: `${header("src/a.ts")}@@ -3 +3 @@ f()\n-old\n+new\n`, want: { "src/a.ts": [3] } },
    { name: "added lines", diff: `${header("src/a.ts")}@@ -3,0 +4,2 @@\n+one\n+two\n`, want: { "src/a.ts": [4, 5] } },
    { name: "removed lines need no coverage", diff: `${header("src/a.ts")}@@ -3,2 +2,0 @@\n-one\n-two\n`, want: { "src/a.ts": [] } },
    {
      name: "two hunks and two files",
      diff: `${header("src/a.ts")}@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-a\n+b\n${header("src/b.ts")}@@ -0,0 +1 @@\n+x\n`,
      want: { "src/a.ts": [1, 9], "src/b.ts": [1] },
    },
    { name: "a deleted file has no new side", diff: "--- a/src/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", want: {} },
    {
      name: "content that looks like a header is content",
      diff: `${header("src/a.ts")}@@ -1,0 +1,2 @@\n+++ b/src/evil.ts\n+@@ -1 +7 @@\n@@ -5 +6 @@\n--- a/x\n+y\n`,
      want: { "src/a.ts": [1, 2, 6] },
    },
    {
      name: "a missing newline at the end is not a line",
      diff: `${header("src/a.ts")}@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n${header("src/b.ts")}@@ -1 +1 @@\n-a\n+b\n`,
      want: { "src/a.ts": [1], "src/b.ts": [1] },
    },
    {
      name: "names with spaces end at git's tab",
      diff: `--- a/src/a b.ts\t\n+++ b/src/a b.ts\t\n@@ -1 +1 @@\n-a\n+b\n`,
      want: { "src/a b.ts": [1] },
    },
  ];
  it.each(rows)("$name", ({ diff, want }) => {
    const got = [...parseDiff(diff)].map(([file, lines]) => [file, [...lines]]);
    expect(Object.fromEntries(got)).toEqual(want);
  });
});
