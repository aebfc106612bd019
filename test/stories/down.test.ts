/** `lattice down`: stops a `lattice up` that runs as another process, and deletes its folder. A second `lattice up` is rejected. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "#base";
import { runCli } from "../builders/cli-io.ts";
import { PROGRAM } from "../builders/program.ts";

const parent = mkdtempSync(join(tmpdir(), "lattice-down-"));
const folder = join(parent, "cluster");
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(parent, { recursive: true, force: true });
});

type Up = {
  readonly pid: number | undefined;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  readonly child: ChildProcess;
};

/** Starts `lattice up` as a process, and resolves when its output has `sign`. */
async function startUp(sign: string): Promise<Up> {
  const child = spawn(process.execPath, [PROGRAM, "up", "--clusters", "1", "--data-dir", folder], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  const printed = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(sign)) resolve();
    });
  });
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  child.stderr.on("data", (chunk: Buffer) => void (output += chunk.toString()));
  const early = await Promise.race([printed.then(() => false), exited.then(() => true)]);
  expect(early, output).toBe(false);
  return { pid: child.pid, output: () => output, exited, child };
}

const down = (...flags: readonly string[]) => runCli(["down", "--data-dir", folder, ...flags], { clock: systemClock });

test("stops lattice up and keeps the state; --purge deletes it", { timeout: 120_000 }, async () => {
  expect(await down()).toMatchObject({ code: 0, stdout: `no lattice up runs in ${folder}\n` });

  const first = await startUp("starts; its Secrets");
  const second = await runCli(["up", "--data-dir", folder], { clock: systemClock });
  expect(second).toMatchObject({
    code: 2,
    stderr: `lattice: lattice up runs in ${folder} already (process ${first.pid}); lattice down stops it\n`,
  });

  expect(await down()).toMatchObject({ code: 0, stdout: `stopped lattice up in ${folder} (process ${first.pid})\n` });
  expect(await first.exited).toBe(0);
  expect(first.output()).toContain("stopping; state is kept");
  expect(existsSync(join(folder, "clusters", "mgmt", "data"))).toBe(true);

  const purged = await down("--purge");
  expect(purged).toMatchObject({ code: 0, stdout: `no lattice up runs in ${folder}\ndeleted ${folder}\n` });
  expect(existsSync(folder)).toBe(false);
});

test("Ctrl-C stops lattice up gracefully, the next one starts on its state, and --purge also stops it", { timeout: 120_000 }, async () => {
  const first = await startUp("starts; its Secrets");
  first.child.kill("SIGINT");
  expect(await first.exited).toBe(0);
  expect(first.output()).toMatch(/stopping; state is kept\n$/);

  const second = await startUp("as they were left");
  const stopped = `stopped lattice up in ${folder} (process ${second.pid})\ndeleted ${folder}\n`;
  expect(await down("--purge")).toMatchObject({ code: 0, stdout: stopped });
  expect(await second.exited).toBe(0);
  expect(existsSync(folder)).toBe(false);
});

test("a folder that lattice up did not create is neither used nor deleted", async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, "thesis.txt"), "mine");
  expect(await runCli(["up", "--data-dir", folder], { clock: systemClock })).toMatchObject({ code: 2, stdout: "" });
  expect(await down("--purge")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not deleted") as string });
  expect(existsSync(join(folder, "thesis.txt"))).toBe(true);
});
