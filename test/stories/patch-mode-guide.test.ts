/** The table of docs/guides/patch-mode.md has the results that test/kube/all/patch-mode-ownership.story.test.ts measures on a real API server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../../scripts/process/project.ts";
import { guideTable } from "../kube/patch-mode/guide-table.ts";
import { fileOf, OWNER_TOOLS } from "../kube/patch-mode/owner-tools.ts";

test("the guide's table of owners is the measured one", () => {
  const measured = OWNER_TOOLS.map(({ name }) => ({ tool: name, text: readFileSync(fileOf(name), "utf8") }));
  const guide = readFileSync(join(projectRoot, "docs/guides/patch-mode.md"), "utf8");
  const table = guide.split("\n").filter((line, index, lines) => line.startsWith("|") && isInTable(lines, index));
  expect(table.join("\n")).toBe(guideTable(measured));
});

/** The table that begins with "written by". */
function isInTable(lines: readonly string[], index: number): boolean {
  let first = index;
  while (lines[first - 1]?.startsWith("|") === true) first -= 1;
  return lines[first]?.startsWith("| written by |") === true;
}
