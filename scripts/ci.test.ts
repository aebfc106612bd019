/** .ci/run with an npm that only prints the output of a lane: which lanes run, their sum, and the exit code. */
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileTree } from "../test/builders/file-tree.ts";
import { projectRoot } from "./process/project.ts";
import { runProgram, type Ran } from "./process/run-program.ts";

type Lane = { readonly says: string; readonly code?: number };

/** The fake npm distinguishes lanes by its arguments. */
async function runCi(lanes: { tests: Lane; check: Lane; kube: Lane; fips: Lane }): Promise<Ran> {
  const say = ({ says, code }: Lane) => `printf '%b' '${says}'; exit ${code ?? 0}`;
  const root = await fileTree({
    ".ci/run": await readFile(join(projectRoot, ".ci/run"), "utf8"),
    "bin/npm": `#!/bin/sh
case "$*" in
  "test") ${say(lanes.tests)} ;;
  "run check -- --skip tests") ${say(lanes.check)} ;;
  "run test:kube") ${say(lanes.kube)} ;;
  "run test:fips") ${say(lanes.fips)} ;;
  *) echo "unexpected: $*"; exit 9 ;;
esac
`,
  });
  await Promise.all([chmod(join(root, ".ci/run"), 0o755), chmod(join(root, "bin/npm"), 0o755)]);
  return runProgram(join(root, ".ci/run"), [], { cwd: "/", env: { ...process.env, PATH: `${join(root, "bin")}:${process.env["PATH"]}` } });
}

const lastLine = (ran: Ran) => ran.stdout.trimEnd().split("\n").at(-1);
const good = {
  tests: { says: "noise\\n200 passed, 0 failed\\n" },
  check: { says: "check passed: 8 parts\\n" },
  kube: { says: "12 passed, 0 failed, 1 skipped\\n" },
  fips: { says: "200 passed, 0 failed\\n" },
};

describe(".ci/run", () => {
  it("adds up the lanes and passes when all of them pass", async () => {
    const ran = await runCi(good);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(lastLine(ran)).toBe("412 passed, 0 failed, 1 skipped");
  });

  it("counts nothing for a lane that was skipped", async () => {
    const ran = await runCi({ ...good, kube: { says: "test:kube skipped: no Go\\n" }, fips: { says: "FIPS lane skipped: no network\\n" } });
    expect(ran.code).toBe(0);
    expect(lastLine(ran)).toBe("200 passed, 0 failed");
  });

  it("runs the lanes after one that failed, names it, and fails", async () => {
    const tests = { says: "199 passed, 1 failed\\nnpm error code 1\\n", code: 1 };
    const ran = await runCi({ ...good, tests });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^FAIL {2}tests {2}\d+ s {2}199 passed, 1 failed$/m);
    expect(ran.stdout).toMatch(/^ok {4}fips /m);
    expect(lastLine(ran)).toBe("411 passed, 1 failed, 1 skipped");
  });

  it("repeats the failed tests at the end, where a truncated log still has them", async () => {
    const says =
      "\\033[31m FAIL \\033[39m a.test.ts > one\\nAssertionError: no\\n  stack\\n FAIL  a.test.ts > two\\nError: late\\n7 passed, 2 failed\\n";
    const ran = await runCi({ ...good, kube: { says, code: 1 } });
    const summary = ran.stdout.slice(ran.stdout.lastIndexOf("FAIL  kube"));
    expect(
      summary
        .split("\n")
        .slice(1, 5)
        .map((line) => line.trim()),
    ).toEqual(["FAIL  a.test.ts > one", "AssertionError: no", "FAIL  a.test.ts > two", "Error: late"]);
  });

  it("fails for a gate that fails, though it counts no tests", async () => {
    const ran = await runCi({ ...good, check: { says: "check failed: layers\\n", code: 1 } });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^FAIL {2}check /m);
  });
});
