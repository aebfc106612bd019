/** The program as a process: closed output pipes and exit codes. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("lattice.ts", import.meta.url));

test("a closed output pipe is no error, and a wrong flag is exit code 2", () => {
  const script = '"$0" "$1" crds | head -1; echo "code ${PIPESTATUS[0]}"; "$0" "$1" graph --nope; echo "code $?"';
  const { stdout, stderr } = spawnSync("bash", ["-c", script, process.execPath, program], { encoding: "utf8" });
  expect(stdout).toBe("---\ncode 0\ncode 2\n");
  expect(stderr).toBe("error: unknown option '--nope'\n(lattice --help lists the commands)\n");
});
