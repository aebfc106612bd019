/** `lattice down`: a real `lattice up` in a process of its own is stopped from elsewhere, a second one is refused, and its folder goes. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "#base";
import { runCli } from "../builders/cli-io.ts";

const program = fileURLToPath(new URL("../../src/bin/lattice.ts", import.meta.url));
const parent = mkdtempSync(join(tmpdir(), "lattice-down-"));
const folder = join(parent, "cluster");
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(parent, { recursive: true, force: true });
});

test("stops what runs, keeps the state, and deletes it when asked to", { timeout: 120_000 }, async () => {
  const none = await runCli(["down", "--data-dir", folder], { clock: systemClock });
  expect(none).toMatchObject({ code: 0, stdout: `no lattice up runs in ${folder}\n` });

  const child = spawn(process.execPath, [program, "up", "--data-dir", folder], { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  const up = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("comes up")) resolve();
    });
  });
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  await up;
  const second = await runCli(["up", "--data-dir", folder], { clock: systemClock });
  expect(second).toMatchObject({
    code: 1,
    stderr: `lattice: lattice up runs in ${folder} already (process ${child.pid}); lattice down stops it\n`,
  });

  const stopped = await runCli(["down", "--data-dir", folder], { clock: systemClock });
  expect(stopped).toMatchObject({ code: 0, stdout: `stopped lattice up in ${folder} (process ${child.pid})\n` });
  expect(await exited).toBe(0);
  expect(output).toContain("stopping; state is kept");
  expect(existsSync(join(folder, "data"))).toBe(true);

  const purged = await runCli(["down", "--data-dir", folder, "--purge"], { clock: systemClock });
  expect(purged).toMatchObject({ code: 0, stdout: `no lattice up runs in ${folder}\ndeleted ${folder}\n` });
  expect(existsSync(folder)).toBe(false);
});
