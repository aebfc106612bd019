/**
 * Runs README.md as written: commands without a cluster print the shown output; the flags of the other commands exist. The output of
 * `npm start` is tested in up.test.ts.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseYaml } from "#kube";
import { runCli } from "../builders/cli-io.ts";
import { consoleSteps, runStep, shellSteps, shownPattern, type ConsoleStep } from "../builders/console-steps.ts";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");

const nameOf = ({ command }: ConsoleStep) => /^\.\/lattice ([a-z-]+)/.exec(command)?.[1] ?? "";
const ours = [...consoleSteps(readme), ...shellSteps(readme)].filter((step) => nameOf(step) !== "");

/** Commands that run until they are stopped, or need a cluster. */
const isLive = (step: ConsoleStep) =>
  ["up", "down", "stop", "start", "operator", "api-server", "status", "tree", "install", "uninstall", "move", "reparent"].includes(
    nameOf(step),
  ) ||
  (nameOf(step) === "why" && !step.command.includes(" -f "));
const offline = ours.filter((step) => !isLive(step));

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-readme-"));
  for (const folder of ["examples", "docs/guides"]) cpSync(join(root, folder), join(cwd, folder), { recursive: true });
});
afterAll(() => rmSync(cwd, { recursive: true }));

test("the README shows compile, why, graph, diff, validate, patch, crds and rbac", () => {
  const shown = new Set(offline.map(nameOf));
  expect([...shown].toSorted()).toEqual(["compile", "crds", "diff", "graph", "patch", "rbac", "validate", "why"]);
});

/** The exit code that the README's remark implies. */
function wantedCode({ remark }: ConsoleStep): number {
  return remark.startsWith("closed") ? 1 : 0;
}

describe("commands without a cluster, one after the other", () => {
  test.each(offline)("$command", async (step) => {
    const { code, screen, stdout, stderr } = await runStep(step.command, cwd);
    expect({ code, stderr }).toMatchObject({ code: wantedCode(step) });
    if (step.shown.trim() !== "") expect(screen).toMatch(shownPattern(step.shown));
    const count = /^(\d+) objects/.exec(step.remark)?.[1];
    if (count !== undefined) expect(expectOk(parseYaml(stdout))).toHaveLength(Number(count));
    if (step.remark.startsWith("closed")) expect(stdout).toContain(" is closed\n");
  });
});

test.each(ours)("the flags exist: $command", async (step) => {
  const { stdout } = await runCli([nameOf(step), "--help"]);
  const flags = step.command.split(/[|&]/)[0]?.match(/(?<= )--?[a-z][a-z-]*/g) ?? [];
  expect(flags.filter((flag) => !new RegExp(`(^|[ ,])${flag}[ ,]`, "m").test(stdout))).toEqual([]);
});
