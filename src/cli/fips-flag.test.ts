/** `--fips` fails closed: no command does anything unless the provider is active. */
import { spawnSync } from "node:child_process";
import { getFips } from "node:crypto";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runCli } from "../../test/builders/cli-io.ts";
import type { CommandIo } from "./io.ts";
import { createProgram } from "./program.ts";

const REFUSAL = /^lattice: --fips: .*FIPS provider.*\n$/;
const silent = { stdout: () => {}, stderr: () => {}, nodeVersion: "24.0.0" } as unknown as CommandIo;

/** The least arguments with which the parser accepts each command; an entry is needed only where there are some. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  validate: ["-f", "x"],
  compile: ["-f", "x"],
  diff: ["-f", "x"],
  "patch-preview": ["-f", "x"],
  detach: ["x"],
  why: ["a", "b"],
  move: ["--to-kubeconfig", "x"],
  reparent: ["x", "--to", "x"],
  install: ["-f", "x"],
  uninstall: ["x"],
  pivot: ["plan", "x"],
  backup: ["x", "-o", "x"],
  restore: ["x"],
  stop: ["x"],
  start: ["x"],
  patch: ["-f", "x", "-p", "{}"],
  completion: ["bash"],
  kubeadm: ["--", "init"],
  kubectl: ["--", "apply"],
  curl: ["--", "https://127.0.0.1"],
  "__fleet-api-server": ["--folder", "x", "--name", "x"],
  "__fleet-machine": ["--folder", "x", "--name", "x"],
};
const commands = createProgram({ io: silent, done: () => {} }).commands.map((command) => command.name());

test.each(commands)("lattice %s --fips refuses to run without the provider, and does nothing before", async (name) => {
  const touched: string[] = [];
  const io = { stdin: () => Promise.reject(new Error("stdin was read")), onOutput: (text: string) => void touched.push(text) };
  for (const argv of [
    ["--fips", name, ...(ARGUMENTS[name] ?? [])],
    [name, "--fips", ...(ARGUMENTS[name] ?? [])],
  ]) {
    const run = await runCli(argv, io);
    expect({ argv, ...run }).toEqual({ argv, code: 2, stdout: "", stderr: expect.stringMatching(REFUSAL) as string });
  }
  expect(touched).toEqual([]);
});

test("a command runs when the provider is active; lattice up is refused, since its processes have none", async () => {
  expect(await runCli(["version", "--fips"], { fipsActive: () => true })).toMatchObject({ code: 0, stderr: "" });
  expect(await runCli(["up", "--fips"], { fipsActive: () => true })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("lattice up starts processes without the FIPS provider") as string,
  });
});

test("arguments of a command that lattice runs are not read", async () => {
  const run = await runCli(["kubectl", "--", "get", "--fips"]);
  expect(run.stderr).not.toMatch(REFUSAL);
});

describe("as a process", () => {
  const program = fileURLToPath(new URL("../bin/lattice.ts", import.meta.url));
  const run = (args: readonly string[], env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [program, ...args], { encoding: "utf8", env, timeout: 60_000 });

  test.each(["operator", "api-server", "certs", "rbac"])("lattice %s --fips ends with exit code 2 without the provider", (name) => {
    const { NODE_OPTIONS: _options, OPENSSL_CONF: _config, ...env } = process.env;
    expect(run([name, "--fips"], env)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringMatching(REFUSAL) as string });
  });

  test.skipIf(getFips() !== 1)("an API server runs with --fips under the provider (skipped without it: npm run test:fips has it)", () => {
    expect(run(["api-server", "--fips", "--", "true"], process.env)).toMatchObject({ status: 0 });
  });
});
