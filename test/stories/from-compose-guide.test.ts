/** Runs the commands of docs/guides/from-compose.md as written. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { consoleSteps, runStep, shownPattern } from "../builders/console-steps.ts";

const root = join(import.meta.dirname, "../..");
const steps = consoleSteps(readFileSync(join(root, "docs/guides/from-compose.md"), "utf8"));

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-from-compose-"));
  cpSync(join(root, "docs/guides/from-compose"), join(cwd, "docs/guides/from-compose"), { recursive: true });
});
afterAll(() => rmSync(cwd, { recursive: true }));

test("the guide has commands to run", () => {
  expect(steps).toHaveLength(4);
});

test.each(steps)("$command", async ({ command, shown }) => {
  expect((await runStep(command, cwd)).screen).toMatch(shownPattern(shown));
});

test("the converted services compile", async () => {
  expect(await runStep("./lattice compile -f services -n blog", cwd)).toMatchObject({ code: 0 });
});
