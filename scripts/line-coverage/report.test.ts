import { describe, expect, it } from "vitest";
import { addFiles, fileTree } from "../../test/builders/file-tree.ts";
import { runProgram } from "../process/run-program.ts";
import { withoutGit } from "./git.ts";
import { reportCoverage } from "./report.ts";

const lcov = (lines: readonly string[]) => `SF:src/base/a.ts\n${lines.map((line) => `DA:${line}\n`).join("")}end_of_record\n`;

describe("reportCoverage", () => {
  it("passes a covered tree, with the path of the report and what was not measured", async () => {
    const root = await fileTree({ "coverage/lcov.info": lcov(["1,1", "2,1"]) });
    expect(await reportCoverage(root, undefined)).toEqual({
      enough: true,
      lines: [
        "coverage of all of src: 100.0 % of 2 lines",
        "coverage of changed lines was not measured: this is not a git clone",
        "coverage report: coverage/index.html",
      ],
    });
  });

  it("fails below the limit and names some of the lines to cover", async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `${index + 1},${index % 2}`);
    const report = await reportCoverage(await fileTree({ "coverage/lcov.info": lcov(lines) }), undefined);
    expect(report.enough).toBe(false);
    expect(report.lines[0]).toBe("coverage of all of src: 50.0 % of 100 lines  too low: 90 % is required");
    expect(report.lines[1]).toBe("  not run: src/base/a.ts:1");
    expect(report.lines).toContain("  and 30 more");
  });

  it("fails without the figures of vitest", async () => {
    expect(await reportCoverage(await fileTree({}), undefined)).toMatchObject({ enough: false });
  });

  it("states which lines count as changed, and fails when those are not covered", async () => {
    const root = await fileTree({
      "coverage/lcov.info": lcov(["1,1", "2,0", ...Array.from({ length: 20 }, (_, index) => `${index + 3},1`)]),
    });
    await git(root, "init", "-q");
    await addFiles(root, { "src/base/a.ts": "one\n", ".gitignore": "coverage/\n" });
    await commitAll(root);
    const everything = await reportCoverage(root, undefined);
    expect(everything).toMatchObject({ enough: true });
    expect(everything.lines).toContain("every line counts as changed: there is only one commit");
    await addFiles(root, { "src/base/a.ts": "one\ntwo\n" });
    await commitAll(root);
    const changed = await reportCoverage(root, undefined);
    expect(changed.enough).toBe(false);
    expect(changed.lines).toContain("coverage of changed lines: 0.0 % of 1 lines  too low: 90 % is required");
    expect(changed.lines.join("\n")).toMatch(/changed lines are those that differ from HEAD~1 \([0-9a-f]{10}\)/);
    expect(await reportCoverage(root, "no-such-branch")).toMatchObject({ enough: false });
  });
});

async function commitAll(root: string): Promise<void> {
  await git(root, "add", "-A");
  await git(root, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "x");
}

async function git(root: string, ...args: readonly string[]): Promise<void> {
  const ran = await runProgram("git", args, { cwd: root, env: withoutGit(process.env) });
  expect(ran.code, ran.stderr).toBe(0);
}
