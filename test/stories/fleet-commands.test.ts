/**
 * `lattice up --empty --clusters N`, `lattice stop`, `lattice start` and `lattice down` as a user runs them: real processes, wrong names,
 * repeated commands, a killed supervisor, a folder of an older version.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectOk, nodeProcesses, systemClock } from "#base";
import { configMaps } from "#kube";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { projectRoot } from "../../scripts/process/project.ts";
import { runCli, type CliRun } from "../builders/cli-io.ts";
import { startGroup, type ProcessGroup } from "../builders/process-group.ts";
import { PROGRAM } from "../builders/program.ts";

const parent = mkdtempSync(join(tmpdir(), "lattice-fleet-commands-"));
const groups: ProcessGroup[] = [];
afterAll(async () => {
  for (const { pid, child } of groups) if (child.exitCode === null && child.signalCode === null) process.kill(-pid, "SIGKILL");
  await Promise.all(groups.map(({ leftAfter }) => leftAfter(10_000)));
  rmSync(parent, { recursive: true, force: true });
});

let made = 0;
const fresh = () => join(parent, `f${(made += 1)}`);
const READY = "Ctrl-C stops it";

function startUp(folder: string, ...flags: readonly string[]): ProcessGroup {
  const group = startGroup(process.execPath, [PROGRAM, "up", "--data-dir", folder, ...flags]);
  groups.push(group);
  return group;
}

const run = (folder: string, ...argv: readonly string[]): Promise<CliRun> =>
  runCli([...argv, "--data-dir", folder], { clock: systemClock });

type FleetList = {
  readonly clusters: readonly {
    readonly name: string;
    readonly kubeconfig: string;
    readonly pids: readonly number[];
    readonly state: string;
  }[];
};
const fleetOf = (folder: string) => JSON.parse(readFileSync(join(folder, "fleet.json"), "utf8")) as FleetList;

async function withClient<T>(kubeconfig: string, act: (client: KubeClient) => Promise<T>): Promise<T> {
  const config = expectOk(await loadKubeconfig({ path: kubeconfig, env: {}, home: parent, clock: systemClock }));
  const client = createKubeClient({ transport: httpTransport(config, { clock: systemClock }), clock: systemClock, random: Math.random });
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

const untilListed = (folder: string) =>
  expect
    .poll(() => fleetOf(folder).clusters.map(({ name, state }) => `${name} ${state}`))
    .toEqual(["mgmt Running", "cluster-2 Running", "cluster-3 Running"]);

describe("three empty clusters", { timeout: 180_000 }, () => {
  const folder = fresh();
  let uid: string | undefined;
  const remembered = { namespace: "default", name: "remembered" };

  test("start, are listed, and each has its own kubeconfig", async () => {
    const up = startUp(folder, "--empty", "--clusters", "3");
    await up.untilPrinted(READY);
    await untilListed(folder);
    const { clusters } = fleetOf(folder);
    const [, second] = clusters;
    const created = await withClient(second?.kubeconfig ?? "", (client) =>
      client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: remembered }),
    );
    uid = expectOk(created).metadata.uid;
    expect(existsSync(join(folder, "kubeconfig"))).toBe(true);
  });

  test("one is stopped and started by name; its processes end, its kubeconfig and its state stay", async () => {
    const before = fleetOf(folder).clusters[1];
    expect(await run(folder, "stop", "cluster-2")).toMatchObject({ code: 0, stdout: "stopped cluster cluster-2; its state is kept\n" });
    expect((before?.pids ?? []).filter((pid) => nodeProcesses.identify(pid) !== undefined)).toEqual([]);
    expect(await run(folder, "start", "cluster-2")).toMatchObject({ code: 0, stdout: "started cluster cluster-2\n" });
    const kept = await withClient(before?.kubeconfig ?? "", (client) => client.get(configMaps, remembered));
    expect(expectOk(kept).metadata.uid).toBe(uid);
  });

  test("an unknown cluster name is refused, and the nearest one suggested", async () => {
    expect(await run(folder, "stop", "cluster-22")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^lattice: there is no cluster "cluster-22"; did you mean .?cluster-2.?\?\n$/) as string,
    });
    expect(await run(folder, "start", "nothing-like-it", "-o", "json")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"error"') as string,
      stderr: expect.stringContaining("there are mgmt, cluster-2, cluster-3") as string,
    });
  });

  test("to stop a stopped one and to start a running one is no error, and the answer says so", async () => {
    expect(await run(folder, "start", "cluster-3")).toMatchObject({ code: 0, stdout: "cluster cluster-3 runs already\n" });
    await run(folder, "stop", "cluster-3");
    expect(await run(folder, "stop", "cluster-3")).toMatchObject({ code: 0, stdout: "cluster cluster-3 is stopped already\n" });
    expect(await run(folder, "stop", "cluster-3", "-o", "json")).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ cluster: "cluster-3", message: "cluster cluster-3 is stopped already" }, null, 2)}\n`,
    });
  });

  test("an edited fleet.json has no effect, and is replaced at the next change", async () => {
    writeFileSync(join(folder, "fleet.json"), `{"clusters":[{"name":"evil","kubeconfig":"/etc/shadow","pids":[1],"state":"Running"}]}`);
    expect((await run(folder, "start", "cluster-3")).code).toBe(0);
    await expect.poll(() => fleetOf(folder).clusters.map(({ name }) => name)).toEqual(["mgmt", "cluster-2", "cluster-3"]);
    writeFileSync(join(folder, "fleet.json"), "{");
  });

  test("a second lattice up on the folder is refused, and names the process", async () => {
    const pid = groups[0]?.pid;
    expect(await run(folder, "up")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `lattice: lattice up runs in ${folder} already (process ${pid}); lattice down stops it\n`,
    });
  });

  test("completion offers their names", async () => {
    const { stdout } = await runCli(["__complete", "--", "stop", "--data-dir", folder, ""], { clock: systemClock });
    expect(stdout).toBe("cluster-2\ncluster-3\nmgmt\n:none\n");
  });

  test("after kill -9 of the supervisor none of their processes runs, and lattice up brings the same fleet back", async () => {
    const [killed] = groups;
    const pids = fleetOfRecord(folder);
    process.kill(killed?.pid ?? 0, "SIGKILL");
    const up = startUp(folder);
    await up.untilPrinted(READY);
    expect(pids.filter((pid) => nodeProcesses.identify(pid) !== undefined)).toEqual([]);
    await untilListed(folder);
    const { clusters } = fleetOf(folder);
    const kept = await withClient(clusters[1]?.kubeconfig ?? "", (client) => client.get(configMaps, remembered));
    expect(expectOk(kept).metadata.uid).toBe(uid);
    expect(up.output()).not.toContain("The shop");
  });

  test("lattice down cleans up after kill -9, and --purge deletes the folder", async () => {
    const up = groups.at(-1);
    const pids = fleetOfRecord(folder);
    expect(pids.length).toBeGreaterThanOrEqual(3);
    process.kill(up?.pid ?? 0, "SIGKILL");
    await up?.exited;
    const down = await run(folder, "down");
    expect(down).toMatchObject({ code: 0, stdout: expect.stringMatching(/^no lattice up runs in \S+\n/) as string, stderr: "" });
    expect(pids.filter((pid) => nodeProcesses.identify(pid) !== undefined)).toEqual([]);
    expect(readdirSync(folder).toSorted()).toEqual(["clusters", "fleet.json", "kubeconfig", "lattice-local-cluster"]);
    expect(await run(folder, "stop", "mgmt")).toMatchObject({
      code: 2,
      stderr: `lattice: no lattice up runs in ${folder}; start it with lattice up, or name its folder with --data-dir\n`,
    });
    expect(await run(folder, "down", "--purge")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`deleted ${folder}\n`) as string,
    });
    expect(existsSync(folder)).toBe(false);
  });
});

/** The processes that the record names, besides the supervisor. */
function fleetOfRecord(folder: string): readonly number[] {
  const { processes } = JSON.parse(readFileSync(join(folder, "up.json"), "utf8")) as { processes: readonly { pid: number }[] };
  return processes.map(({ pid }) => pid);
}

test("a folder in an older layout is migrated with one sentence, and its state is kept", { timeout: 180_000 }, async () => {
  const folder = fresh();
  const first = startUp(folder, "--empty");
  await first.untilPrinted(READY);
  const remembered = { namespace: "default", name: "remembered" };
  const kubeconfig = join(folder, "clusters", "mgmt", "kubeconfig");
  const created = await withClient(kubeconfig, (client) =>
    client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: remembered }),
  );
  expect((await run(folder, "down")).code).toBe(0);
  await first.exited;

  renameSync(join(folder, "clusters", "mgmt", "data"), join(folder, "data"));
  rmSync(join(folder, "clusters"), { recursive: true });
  rmSync(join(folder, "fleet.json"));
  writeFileSync(
    join(folder, "lattice-local-cluster"),
    "This folder holds a local cluster of Lattice. `lattice down --purge` deletes it.\n",
  );
  writeFileSync(join(folder, "up.json"), JSON.stringify({ pid: 4_194_304, process: "ended", health: "http://127.0.0.1:1" }));

  const second = startUp(folder, "--empty");
  await second.untilPrinted(READY);
  expect(second.output()).toContain(`The state in ${folder} was of an older version, and is in ${folder}/clusters/mgmt now.\n`);
  const kept = await withClient(kubeconfig, (client) => client.get(configMaps, remembered));
  expect(expectOk(kept).metadata.uid).toBe(expectOk(created).metadata.uid);
  second.child.kill("SIGINT");
  expect(await second.exited).toBe(0);
});

test("a cluster with damaged state ends lattice up with one sentence, and --repair starts it", { timeout: 180_000 }, async () => {
  const folder = fresh();
  const data = join(folder, "clusters", "mgmt", "data");
  const first = startUp(folder, "--empty");
  await first.untilPrinted(READY);
  first.child.kill("SIGTERM");
  expect(await first.exited).toBe(0);
  const log = join(data, readdirSync(data).find((name) => name.startsWith("log-")) ?? "");
  const bytes = readFileSync(log);
  bytes.fill(0x5a, 2_000, 2_100);
  writeFileSync(log, bytes);

  const damaged = startUp(folder);
  expect(await damaged.exited).toBe(2);
  expect(damaged.output()).toMatch(/^lattice: cluster mgmt cannot start: \S+ is damaged at byte .*--repair.*$/m);
  expect(readFileSync(log).equals(bytes)).toBe(true);
  expect(readdirSync(folder).toSorted()).toEqual(["clusters", "fleet.json", "kubeconfig", "lattice-local-cluster"]);

  const repaired = startUp(folder, "--repair");
  await repaired.untilPrinted(READY);
  repaired.child.kill("SIGTERM");
  expect(await repaired.exited).toBe(0);
});

test("of several lattice up that start at the same time exactly one wins", { timeout: 120_000 }, async () => {
  const folder = fresh();
  const all = [1, 2, 3].map(() => startUp(folder, "--empty"));
  const ended = await Promise.all(
    all.map(async (up) =>
      Promise.race([
        up.exited,
        up.untilPrinted(READY).then(
          () => "runs" as const,
          () => up.exited,
        ),
      ]),
    ),
  );
  expect(ended.filter((one) => one === "runs")).toHaveLength(1);
  expect(ended.filter((one) => one === 2)).toHaveLength(2);
  for (const [index, up] of all.entries()) if (ended[index] === 2) expect(up.output()).toContain(`lattice up runs in ${folder} already`);
  expect(await run(folder, "down", "--purge")).toMatchObject({ code: 0 });
});

describe("flags that do not fit", () => {
  test.each([
    {
      argv: ["--clusters", "3"],
      want: "--clusters: more than one need --empty; lattice up without both runs a management cluster with children",
    },
    { argv: ["--empty", "--clusters", "0"], want: '--clusters: "0" is not a number from 1 to 16' },
    { argv: ["--empty", "--clusters", "17"], want: '--clusters: "17" is not a number from 1 to 16' },
    { argv: ["--empty", "--clusters", "two"], want: '--clusters: "two" is not a number from 1 to 16' },
    { argv: ["--empty", "-f", "x.yaml"], want: "--empty runs clusters without services; leave out --empty or -f" },
  ])("lattice up $argv", async ({ argv, want }) => {
    const folder = fresh();
    expect(await run(folder, "up", ...argv)).toEqual({ code: 2, stdout: "", stderr: `lattice: ${want}\n` });
    expect(existsSync(folder)).toBe(false);
  });
});

test("lattice down does not touch a folder that is not one of Lattice", async () => {
  const folder = fresh();
  mkdirSync(folder);
  writeFileSync(join(folder, "up.json"), `{"pid":1,"process":"init"}`);
  expect(await run(folder, "down")).toMatchObject({ code: 0, stdout: `no lattice up runs in ${folder}\n` });
  expect(await run(folder, "down", "--purge")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not deleted") as string });
  expect(readdirSync(folder)).toEqual(["up.json"]);
});

test("an unwritable cache folder: lattice up says so in one sentence, and runs from its sources", { timeout: 120_000 }, async () => {
  const [folder, cache] = [fresh(), fresh()];
  writeFileSync(cache, "a file, not a folder");
  const args = ["up", "--empty", "--data-dir", folder];
  const up = startGroup(join(projectRoot, "lattice"), args, { cwd: projectRoot, env: { ...process.env, LATTICE_CACHE: cache } });
  groups.push(up);
  await up.untilPrinted(READY);
  const sentences = up.output().match(/^lattice: .*$/gm);
  expect(sentences).toHaveLength(1);
  expect(sentences?.[0]).toMatch(/runs from its sources, .*: cannot use the folder .*; set LATTICE_CACHE to a folder of your own$/);
  process.kill(-up.pid, "SIGTERM");
  expect(await up.exited).toBe(0);
});

/** A file system of 256 KiB, where it can be mounted. */
function tinyDisk(): string | undefined {
  const path = fresh();
  mkdirSync(path);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", path], { stdio: "ignore" });
    return path;
  } catch {
    return undefined;
  }
}

test("a full disk: lattice up ends with one sentence, and no lock or record is left", { timeout: 60_000 }, async ({ skip }) => {
  const disk = tinyDisk();
  if (disk === undefined) return skip("no file system can be mounted here");
  try {
    const folder = join(disk, "fleet");
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(disk, "ballast"), Buffer.alloc(200_000));
    const filler = join(disk, "rest");
    for (let size = 64_000; size >= 1; size = Math.floor(size / 2)) {
      try {
        writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
      } catch {
        // full
      }
    }
    const { code, stdout, stderr } = await run(folder, "up", "--empty");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^lattice: [^\n]*ENOSPC[^\n]*\n$/);
    expect(readdirSync(folder).filter((name) => /up\.|sock/.test(name))).toEqual([]);
  } finally {
    execFileSync("umount", [disk]);
  }
});
