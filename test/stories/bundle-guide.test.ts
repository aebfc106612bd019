/** Runs docs/guides/bundle.md as written: each command prints the shown output. `…` marks lines that were left out. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { consoleSteps, runStep, shownPattern } from "../builders/console-steps.ts";

const root = join(import.meta.dirname, "../..");
const steps = consoleSteps(readFileSync(join(root, "docs/guides/bundle.md"), "utf8"));

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-bundle-guide-"));
  cpSync(join(root, "docs/guides/bundle"), join(cwd, "docs/guides/bundle"), { recursive: true });
});
afterAll(() => rmSync(cwd, { recursive: true }));

test("the guide has commands to run", () => {
  expect(steps).toHaveLength(3);
});

test.each(steps)("$command", async ({ command, shown }) => {
  const { code, screen } = await runStep(command, cwd);
  expect(code).toBe(0);
  expect(screen).toMatch(shownPattern(shown));
});
