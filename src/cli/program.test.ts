/** The program as a whole: its help, its examples, its version, and its errors for unknown commands. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../test/builders/cli-io.ts";
import type { CommandIo } from "./io.ts";
import { createProgram } from "./program.ts";

const silent = { stdout: () => {}, stderr: () => {}, nodeVersion: "24.0.0" } as unknown as CommandIo;

/** Every command, with actions that only accept their arguments. */
function parsingProgram(): Command {
  const program = createProgram({ io: silent, done: () => {} });
  for (const command of program.commands) command.action(() => {});
  return program;
}

async function examplesOf(name: string): Promise<readonly string[]> {
  const { stdout } = await runCli([name, "--help"]);
  const shown = stdout.slice(stdout.indexOf("\nExamples:\n"));
  return shown.match(/(?<=^ {2})lattice .*$/gm) ?? [];
}

/** As a shell splits it, up to the first pipe or redirection. */
function wordsOf(command: string): readonly string[] {
  return [...(command.split(/ [|>] /)[0] ?? "").matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "").slice(1);
}

/** The tools of local machines, which `lattice --help` does not list. */
const TOOLS = ["kubeadm", "kubectl", "curl"];
const names = parsingProgram()
  .commands.map((command) => command.name())
  .filter((name) => !name.startsWith("__") && !TOOLS.includes(name));
/** Commands that run until they are stopped, or connect to a cluster. */
const LIVE = new Set([
  "up",
  "down",
  "stop",
  "start",
  "operator",
  "api-server",
  "diff",
  "status",
  "tree",
  "install",
  "uninstall",
  "certs",
  "patch-preview",
  "detach",
  "move",
  "reparent",
  "pivot",
  "backup",
  "restore",
]);

test.each([["--version"], ["-V"], ["version"]])("lattice %s prints one line with the version", async (argument) => {
  expect(await runCli([argument])).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^lattice \d+\.\d+\.\d+ \(Node 24\.0\.0\)\n$/) as string,
    stderr: "",
  });
});

test("lattice --help lists every command once, in groups", async () => {
  const { code, stdout } = await runCli(["--help"]);
  expect(code).toBe(0);
  for (const name of names) expect(stdout.match(new RegExp(`^  ${name} `, "gm"))).toHaveLength(1);
  expect(stdout.match(/^\S.*:$/gm)).toEqual([
    "Options:",
    "Services, from files or from a cluster:",
    "On this machine:",
    "In a cluster:",
    "Other:",
  ]);
});

test.each(TOOLS)("lattice %s is not listed, and explains what it can do", async (name) => {
  expect((await runCli(["--help"])).stdout).not.toMatch(new RegExp(`^  ${name} `, "m"));
  const run = await runCli([name, "--", "version", "--help"]);
  expect([run.code, run.stdout]).toEqual([name === "curl" ? 2 : 1, ""]);
  expect(run.stderr).toMatch(new RegExp(`^${name}: .*${name} of a local machine can only do: .*\n$`));
});

test.each(names)("lattice %s --help has one to three examples, which the program parses", async (name) => {
  const examples = await examplesOf(name);
  expect(examples.length).toBeGreaterThanOrEqual(1);
  expect(examples.length).toBeLessThanOrEqual(3);
  for (const example of examples) {
    expect(example).toMatch(new RegExp(`^lattice ${name}( |$)`));
    await parsingProgram().parseAsync(wordsOf(example), { from: "user" });
  }
});

describe("examples that need no cluster", () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), "lattice-help-"));
    for (const folder of ["examples", "docs/guides"]) cpSync(join(process.cwd(), folder), join(cwd, folder), { recursive: true });
  });
  afterAll(() => rmSync(cwd, { recursive: true }));

  test.each(names.filter((name) => !LIVE.has(name)))("lattice %s: its examples run", async (name) => {
    for (const example of await examplesOf(name)) {
      const words = wordsOf(example);
      if (needsMore(name, words)) continue;
      const { code, stderr } = await runCli(words, { cwd });
      expect({ example, code, stderr }).toMatchObject({ code: name === "why" ? 1 : 0 });
    }
  });

  function needsMore(name: string, words: readonly string[]): boolean {
    if (words.includes("--against") || words.includes("--assert")) return true; // a placeholder for a file of the reader
    return ["why", "graph"].includes(name) && !words.includes("-f");
  }
});

test.each([
  { argv: ["validat"], want: "Did you mean validate?" },
  { argv: ["graph", "--kubeconfg", "x"], want: "Did you mean --kubeconfig?" },
])("$argv: an unknown command or flag is an error with the nearest one, and exit code 2", async ({ argv, want }) => {
  expect(await runCli(argv)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(want) as string });
});

describe("-o json", () => {
  const SHOP = ["-f", "examples/shop"];
  test.each([
    { argv: ["version"], want: { version: expect.any(String) as string, nodeVersion: "24.0.0" } },
    { argv: ["crds", "ls"], want: { kind: "List" } },
    { argv: ["rbac"], want: { kind: "List" } },
    { argv: ["validate", ...SHOP] },
    { argv: ["compile", ...SHOP, "--placeholder-secrets"], want: { kind: "List" } },
    { argv: ["diff", ...SHOP, "--against", "examples/shop"] },
    { argv: ["why", "cart", "catalog", ...SHOP], code: 1 },
    { argv: ["graph", ...SHOP] },
    { argv: ["patch", "-f", "docs/guides/patches/deployment.yaml", "-p", "{}"] },
    { argv: ["down", "--data-dir", "/nonexistent"], want: { stopped: false, deleted: false } },
  ])("lattice $argv.0: stdout is one document", async ({ argv, want = {}, code = 0 }) => {
    const run = await runCli([...argv, "-o", "json"]);
    expect(run.code).toBe(code);
    expect(JSON.parse(run.stdout)).toMatchObject(want);
  });

  test("every command with a result has -o json", () => {
    const without = parsingProgram()
      .commands.filter(({ options }) => options.find(({ long }) => long === "--output")?.argChoices?.includes("json") !== true)
      .map((command) => command.name());
    // they run until they are stopped, or print a script or a file
    expect(without.filter((name) => names.includes(name)).toSorted()).toEqual(["api-server", "completion", "init", "operator", "up"]);
  });
});

describe("docs/guides/cli.md", () => {
  const guide = readFileSync("docs/guides/cli.md", "utf8");

  test("lists every command with the summary of its help", async () => {
    const { stdout } = await runCli(["--help"]);
    for (const name of names) {
      const summary = new RegExp(`^  ${name} +(.*)$`, "m").exec(stdout)?.[1] ?? "no summary";
      expect(guide).toContain(`| \`${name}\` | ${summary} |`);
    }
    expect(guide.match(/^\| `[a-z-]+` \| .* \| .*\|$/gm)).toHaveLength(names.length);
  });

  test.each(consoleCommands(guide))("its command runs: %s", async (command) => {
    expect(await runCli(wordsOf(command))).toMatchObject({ code: 0, stderr: "" });
  });
});

function consoleCommands(guide: string): readonly string[] {
  return guide.match(/^\.\/lattice .*$/gm) ?? [];
}
