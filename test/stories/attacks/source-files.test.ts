/** `lattice compile` and similar commands on an untrusted pull request: files that it names with `source`, and files in its folder. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Measurement } from "../../builders/attacks/measure-process.ts";
import { MEMORY_LIMIT_MB, MeasuredProcess } from "../../builders/attacks/measured-process.ts";

const SECRET = "ci-secret-4711";
let home = "";
let repository = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "lattice-source-"));
  repository = join(home, "repository");
  mkdirSync(repository);
  writeFileSync(join(home, "credentials"), SECRET);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const service = (source: string) =>
  [
    "apiVersion: lattice.dev/v1alpha1",
    "kind: LatticeService",
    "metadata: {name: api}",
    "spec:",
    "  containers:",
    `    main: {image: "api:1", files: {/etc/x: {source: ${JSON.stringify(source)}}}}`,
    "",
  ].join("\n");
const score = (source: string) =>
  `apiVersion: score.dev/v1b1\nmetadata: {name: api}\ncontainers: {main: {image: "api:1", files: {/etc/x: {source: ${JSON.stringify(source)}}}}}\n`;

/** Runs a command to its end. Stalls of its event loop do not matter: only memory is limited, and the command must end. */
async function run(...args: readonly string[]): Promise<{ readonly output: string; readonly code: number | null }> {
  const measured = join(home, "measured.json");
  const env = { ...process.env, CI_TOKEN: SECRET, LATTICE_MEASURE_FILE: measured };
  await using child = new MeasuredProcess(args, { cwd: repository, env });
  const code = await child.exited();
  const { longestStallMs, peakMemoryMb } = JSON.parse(readFileSync(measured, "utf8")) as Measurement;
  console.log(
    `attack "${args.join(" ")}": exit code ${code}, longest stall ${longestStallMs} ms (with start-up, no limit), ` +
      `peak memory ${peakMemoryMb} MB (limit ${MEMORY_LIMIT_MB})`,
  );
  expect(peakMemoryMb, "peak memory in MB").toBeLessThanOrEqual(MEMORY_LIMIT_MB);
  return { output: child.stdout + child.stderr, code };
}

const COMMANDS = [
  ["compile", "-f", "."],
  ["validate", "-f", "."],
  ["diff", "-f", ".", "--against", "."],
] as const;

describe("a source outside the folder of the service file", { timeout: 60_000 }, () => {
  test.each([
    { name: "the environment of the process", source: "/proc/self/environ" },
    { name: "an endless device", source: "/dev/zero" },
    { name: "a file above the folder", source: "../credentials" },
    { name: "a link to a file outside", source: "link" },
    { name: "a folder that is a link", source: "up/credentials" },
    { name: "a pipe without a writer", source: "pipe" },
  ])("$name is rejected by every command, and its content is not printed", async ({ source }) => {
    symlinkSync(join(home, "credentials"), join(repository, "link"));
    symlinkSync(home, join(repository, "up"));
    execFileSync("mkfifo", [join(repository, "pipe")]);
    const [command] = COMMANDS;
    for (const [file, text] of [
      ["service.yaml", service(source)],
      ["score.yaml", score(source)],
    ] as const) {
      writeFileSync(join(repository, file), text);
      const { output, code } = await run(...command);
      expect(code).toBe(1);
      expect(output).toContain(JSON.stringify(source));
      expect(output).toContain(file);
      expect(output).not.toContain(SECRET);
      rmSync(join(repository, file));
    }
  });

  test("is also rejected by the other commands that read service files", async () => {
    writeFileSync(join(repository, "score.yaml"), score("/proc/self/environ"));
    for (const command of COMMANDS) {
      const { output, code } = await run(...command);
      expect(code, command[0]).not.toBe(0);
      expect(output, command[0]).toContain("is an absolute path; name a file in the folder of the service file");
      expect(output, command[0]).not.toContain(SECRET);
    }
  });
});

test("links, pipes and huge files in the folder of the services neither crash nor block a command", { timeout: 60_000 }, async () => {
  writeFileSync(join(repository, "service.yaml"), service("beside.txt"));
  writeFileSync(join(repository, "beside.txt"), "text");
  symlinkSync("/dev/zero", join(repository, "endless.yaml"));
  symlinkSync(home, join(repository, "up.yaml"));
  execFileSync("mkfifo", [join(repository, "pipe.yaml")]);
  expect((await run("compile", "-f", ".")).code).toBe(0);
  const huge = join(repository, "huge.yaml");
  writeFileSync(huge, "");
  truncateSync(huge, 2 * 1024 * 1024 * 1024);
  const { output, code } = await run("compile", "-f", ".");
  expect([code, output]).toEqual([2, expect.stringContaining("huge.yaml: is larger than 16 MiB")]);
  for (const file of ["endless.yaml", "/dev/zero"]) {
    expect((await run("validate", "-f", file)).output, file).toContain("is not a regular file");
    expect((await run("compile", "-f", "service.yaml", "--secrets", file)).output, file).toContain("is not a regular file");
  }
});
