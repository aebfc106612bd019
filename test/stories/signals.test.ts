/**
 * Every way to stop `npm start`: Ctrl-C, SIGTERM, a closed terminal, `timeout`. Each ends within 10 s with exit code 0 or 130, leaves no process
 * and no record, and the next start works, under Node 24 and under an older one that starts a private Node 24.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectRoot } from "../../scripts/process/project.ts";
import { startGroup, type ProcessGroup } from "../builders/process-group.ts";
import { PROGRAM } from "../builders/program.ts";

const MUST_END_MS = 10_000;
/** Only for scripts/run.cjs: the programs that it starts run on the private Node. */
const OLD_NODE = `if (/run\\.cjs$/.test(process.argv[1]))
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });\n`;

let parent: string;
let folder: string;
const groups: ProcessGroup[] = [];
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "lattice-signals-"));
  folder = join(parent, "cluster");
  writeFileSync(join(parent, "old-node.cjs"), OLD_NODE);
  const privateNode = join(parent, "cache", `node-linux-${process.arch}-24.21.0`, "bin");
  mkdirSync(privateNode, { recursive: true, mode: 0o700 });
  symlinkSync(process.execPath, join(privateNode, "node"));
});
afterAll(() => {
  for (const { pid, child } of groups) if (child.exitCode === null && child.signalCode === null) process.kill(-pid, "SIGKILL");
  rmSync(parent, { recursive: true, force: true });
});

/** run.cjs takes this Node for an older one, and starts the private Node of the cache. */
const oldNode = () => ({
  ...process.env,
  NODE_OPTIONS: `--require ${join(parent, "old-node.cjs")}`,
  LATTICE_CACHE: join(parent, "cache"),
});

const flags = () => ["--clusters", "1", "--data-dir", folder];
const LAUNCHERS = {
  node: () => [process.execPath, PROGRAM, "up", ...flags()],
  lattice: () => [join(projectRoot, "lattice"), "up", ...flags()],
  npm: () => ["npm", "start", "--", ...flags()],
} as const;

function start([command = "", ...args]: readonly string[], env: NodeJS.ProcessEnv = process.env): ProcessGroup {
  const group = startGroup(command, args, { cwd: projectRoot, env });
  groups.push(group);
  return group;
}

async function expectEnded(group: ProcessGroup, codes: readonly number[] = [0, 130]): Promise<void> {
  const left = await group.leftAfter(MUST_END_MS);
  expect(left, group.output()).toEqual([]);
  expect(codes, group.output()).toContain(await group.exited);
  expect(existsSync(join(folder, "up.json")), group.output()).toBe(false);
}

type Row = {
  readonly launcher: keyof typeof LAUNCHERS;
  readonly node: "24" | "older";
  readonly signal: NodeJS.Signals;
  readonly to: "process" | "group";
};

const ROWS: readonly Row[] = [
  { launcher: "npm", node: "older", signal: "SIGINT", to: "group" },
  { launcher: "npm", node: "older", signal: "SIGTERM", to: "process" },
  { launcher: "npm", node: "24", signal: "SIGTERM", to: "group" },
  { launcher: "npm", node: "24", signal: "SIGINT", to: "process" },
  { launcher: "lattice", node: "older", signal: "SIGTERM", to: "group" },
  { launcher: "lattice", node: "older", signal: "SIGHUP", to: "group" },
  { launcher: "lattice", node: "24", signal: "SIGINT", to: "group" },
  { launcher: "node", node: "24", signal: "SIGHUP", to: "process" },
  { launcher: "node", node: "24", signal: "SIGTERM", to: "process" },
];

describe("lattice up", { timeout: 120_000 }, () => {
  test.each(ROWS)("started by $launcher with Node $node ends in order after $signal to the $to", async ({ launcher, node, signal, to }) => {
    const group = start(LAUNCHERS[launcher](), node === "24" ? process.env : oldNode());
    await group.untilPrinted("TIME");
    process.kill(to === "group" ? -group.pid : group.pid, signal);
    await expectEnded(group);
    expect(group.output()).toContain("stopping; state is kept");
  });

  test("ends after timeout -s INT, which signals npm and its group", async () => {
    const group = start(["timeout", "--preserve-status", "-s", "INT", "4", ...LAUNCHERS.npm()], oldNode());
    await expectEnded(group);
  });

  test.runIf(existsSync("/usr/bin/script"))("ends when its terminal is closed", async () => {
    const command = LAUNCHERS.npm().join(" ");
    const group = start(["/usr/bin/script", "-qfc", command, "/dev/null"], oldNode());
    await group.untilPrinted("TIME");
    process.kill(group.pid, "SIGKILL"); // the terminal itself: the kernel sends SIGHUP, and writing fails with EIO
    await expectEnded(group, [137]);
  });

  test("ends when the reader of its output ends", async () => {
    const group = start(["sh", "-c", `"$@" | head -1`, "sh", ...LAUNCHERS.node()]);
    await group.untilPrinted("Lattice");
    await expectEnded(group);
  });

  test("a second Ctrl-C a second later ends it at once, and leaves no process, lock or record", async () => {
    const group = start([...LAUNCHERS.node(), "--empty"]);
    await group.untilPrinted("Ctrl-C stops it");
    const { processes } = JSON.parse(readFileSync(join(folder, "up.json"), "utf8")) as { processes: readonly { pid: number }[] };
    for (const { pid } of processes) process.kill(pid, "SIGSTOP"); // processes that do not end
    process.kill(-group.pid, "SIGINT");
    await group.untilPrinted("stopping; state is kept");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    process.kill(-group.pid, "SIGINT");
    await expectEnded(group, [130]);
    expect(readdirSync(folder).filter((name) => /^up\.|sock$/.test(name))).toEqual([]);
  });

  test.each([0, 200, 500, 900])("a signal %i ms after the start leaves nothing behind", async (delayMs) => {
    const group = start(LAUNCHERS.lattice(), oldNode());
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    process.kill(-group.pid, "SIGINT");
    await expectEnded(group);
  });
});
