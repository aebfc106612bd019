/** The folder of a fleet: what is accepted, who may use it, and what a killed supervisor leaves. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { err, expectOk, FakeClock, nodeProcesses, ok, systemClock, type ProcessControl, type Result } from "#base";
import type { FoundFleet } from "./find-fleet.ts";
import { fleetFolder } from "./layout.ts";
import { openFleetFolder, type OpenFolderOptions } from "./open-folder.ts";
import { readRecord, runningUp } from "./up-record.ts";

const root = mkdtempSync(join(tmpdir(), "lattice-fleet-folder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;
const errorOf = (result: Result<unknown, string>) => (result.ok ? "no error" : result.error);
const fresh = () => join(root, `f${(made += 1)}`);
const never = new AbortController().signal;

/** Processes by number; a signal ends them, unless they ignore it. */
function processTable(alive: Record<number, string>, ignores: Readonly<Record<number, readonly string[]>> = {}) {
  const signals: string[] = [];
  const table: ProcessControl = {
    pid: 77,
    identify: (pid) => (pid === 77 ? "me" : alive[pid]),
    signal: (pid, name) => {
      signals.push(`${name} ${pid}`);
      if (ignores[pid]?.includes(name) !== true) Reflect.deleteProperty(alive, pid);
      return true;
    },
  };
  return { table, signals };
}

const { table: alone } = processTable({});
const open = (path: string, more: Partial<OpenFolderOptions> = {}) =>
  openFleetFolder({ path, cluster: "mgmt", clock: systemClock, processes: alone, signal: never, ...more });

describe("the folder of a fleet", () => {
  test("an installation gets another name when its clusters are deleted, and keeps it otherwise", async () => {
    const path = fresh();
    const managementOf = async (cluster: string, content?: OpenFolderOptions["content"]) => {
      const opened = expectOk(await open(path, { cluster, ...(content === undefined ? {} : { content }) }));
      opened.close();
      return opened.management;
    };
    expect(await managementOf("laptop", "installed")).toBe("laptop");
    expect(await managementOf("prod", "installed")).toBe("prod");
    // lattice up does not rename it
    expect(await managementOf("mgmt", "empty")).toBe("prod");
    mkdirSync(join(path, "clusters", "prod"), { recursive: true });
    expect(await managementOf("laptop", "installed")).toBe("prod");
  });

  test("is created for its user only, is used again, and has no lock and no record after it was closed", async () => {
    const path = fresh();
    for (const _ of ["first", "second"]) {
      const opened = expectOk(await open(path));
      expectOk(opened.record({ socket: "/s", processes: [{ pid: 9, identity: "nine" }] }));
      expect(JSON.parse(readFileSync(join(path, "up.json"), "utf8"))).toEqual({
        pid: 77,
        process: "me",
        socket: "/s",
        processes: [{ pid: 9, identity: "nine" }],
      });
      expect([statSync(path).mode & 0o777, statSync(join(path, "up.json")).mode & 0o777]).toEqual([0o700, 0o600]);
      opened.close();
      expect(readdirSync(path)).toEqual(["lattice-local-cluster"]);
    }
  });

  test("with foreign files is refused, and the error lists them", async () => {
    const path = fresh();
    mkdirSync(path);
    for (const name of ["a", "b", "c", "d"]) writeFileSync(join(path, name), "mine");
    expect(await open(path)).toEqual(
      err(`${path} contains other files (a, b, c and 1 more); choose an empty folder, or one that does not exist`),
    );
    expect(readdirSync(path)).toEqual(["a", "b", "c", "d"]);
  });

  test("that is a file, that every user can write to, or that cannot be created is refused", async () => {
    const file = fresh();
    writeFileSync(file, "");
    expect(errorOf(await open(file))).toContain("is not a folder; choose a folder");
    const shared = fresh();
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    expect(errorOf(await open(shared))).toBe(`every user can write to ${shared}; run chmod o-w ${shared} first`);
    expect(errorOf(await open("/proc/lattice"))).toContain("/proc/lattice cannot be created");
  });

  test("of a newer version of Lattice is refused, and so is a marker of another program", async () => {
    const path = fresh();
    mkdirSync(path);
    writeFileSync(join(path, "lattice-local-cluster"), "Anything.\nlayout: 3\n");
    expect(errorOf(await open(path))).toBe(
      `${path} was written by a newer version of Lattice (layout 3, this one has 2); use that version`,
    );
    writeFileSync(join(path, "lattice-local-cluster"), "mine");
    expect(errorOf(await open(path))).toContain("is not a marker file of Lattice");
  });

  test("that a process was killed in while it replaced files is cleaned, and used", async () => {
    const path = fresh();
    expectOk(await open(path)).close();
    mkdirSync(join(path, ".up.json-aB3xYz"));
    mkdirSync(join(path, ".kubeconfig-abcdef"));
    mkdirSync(join(path, ".lattice-local-cluster-abcdef"));
    writeFileSync(join(path, "lattice-local-cluster"), "");
    writeFileSync(join(path, "up.lock-123"), "");
    writeFileSync(join(path, "up.lock-123-dead"), "");
    expectOk(await open(path)).close();
    expect(readdirSync(path)).toEqual(["lattice-local-cluster"]);
  });
});

describe("a second lattice up", () => {
  test("on one folder is refused with the number of the first, and the first one is unaffected", async () => {
    const path = fresh();
    const first = expectOk(await open(path));
    const before = readFileSync(join(path, "up.json"), "utf8");
    const { table } = processTable({ 77: "me" });
    const second = await open(path, {
      processes: { ...table, pid: 78, identify: (pid) => (pid === 77 ? "me" : pid === 78 ? "other" : undefined) },
    });
    expect(second).toEqual(err(`lattice up runs in ${path} already (process 77); lattice down stops it`));
    expect(readFileSync(join(path, "up.json"), "utf8")).toBe(before);
    first.close();
  });

  test("is refused while a version of Lattice before fleets runs there", async () => {
    const path = fresh();
    expectOk(await open(path)).close();
    writeFileSync(join(path, "up.json"), JSON.stringify({ pid: 4_000, process: "older", health: "http://127.0.0.1:1" }));
    const { table } = processTable({ 4_000: "older" });
    expect(errorOf(await open(path, { processes: table }))).toContain("already (process 4000)");
  });

  test("that starts at the same time as others: exactly one wins, also over the lock of a killed one", async () => {
    const path = fresh();
    expectOk(await open(path)).close();
    for (let round = 0; round < 20; round += 1) {
      if (round % 2 === 1) writeFileSync(join(path, "up.lock"), JSON.stringify({ pid: 999, process: "killed", since: "then" }));
      const pids = [201, 202, 203, 204];
      const identify = (pid: number) => (pids.includes(pid) ? `p${pid}` : undefined);
      const all = await Promise.all(pids.map((pid) => open(path, { processes: { pid, identify, signal: () => false } })));
      const winners = all.flatMap((one) => (one.ok ? [one.value] : []));
      expect(winners).toHaveLength(1);
      for (const one of winners) one.close();
    }
    expect(readdirSync(path)).toEqual(["lattice-local-cluster"]);
  });
});

describe("after a supervisor was killed", () => {
  const killed = async (processes: readonly object[]) => {
    const path = fresh();
    expectOk(await open(path)).close();
    writeFileSync(join(path, "up.json"), JSON.stringify({ pid: 500, process: "killed", socket: "/s", processes }));
    writeFileSync(join(path, "up.lock"), JSON.stringify({ pid: 500, process: "killed", since: "then" }));
    return path;
  };

  test("its processes are ended, and no other one: number and start time must match", async () => {
    const path = await killed([
      { pid: 501, identity: "a" },
      { pid: 502, identity: "b, an ended one" },
      { pid: 503, identity: "unknown" },
      { pid: 1, identity: "init" },
      { pid: -1, identity: "all" },
      { pid: "504", identity: "d" },
    ]);
    const { table, signals } = processTable({ 1: "init", 501: "a", 502: "another, later", 503: "unknown", 504: "d" });
    const opened = expectOk(await open(path, { processes: table }));
    expect(opened.ended).toEqual([{ pid: 501, identity: "a" }]);
    expect(signals).toEqual(["SIGTERM 501"]);
    opened.close();
    expect(readdirSync(path)).toEqual(["lattice-local-cluster"]);
  });

  test("one that ignores SIGTERM is killed; while one still runs the folder is not used, and its record is kept", async () => {
    const path = await killed([
      { pid: 501, identity: "a" },
      { pid: 502, identity: "b" },
    ]);
    const clock = new FakeClock();
    const { table, signals } = processTable({ 501: "a", 502: "b" }, { 501: ["SIGTERM"], 502: ["SIGTERM", "SIGKILL"] });
    const opening = open(path, { processes: table, clock });
    let done = false;
    void opening.finally(() => (done = true));
    while (!done) await clock.advance(100);
    expect(errorOf(await opening)).toBe("processes of an earlier lattice up still run: 502; end them first");
    expect(signals).toEqual(["SIGTERM 501", "SIGTERM 502", "SIGKILL 501", "SIGKILL 502"]);
    const { table: later } = processTable({ 502: "b" });
    const opened = expectOk(
      await open(path, {
        processes: { ...later, pid: 79, identify: (pid) => (pid === 79 ? "next" : later.identify(pid === 77 ? 0 : pid)) },
      }),
    );
    expect(opened.ended).toEqual([{ pid: 502, identity: "b" }]);
    opened.close();
  });

  test("its socket is removed", async () => {
    const path = await killed([]);
    const socket = join(path, "control.sock");
    const server = createServer().listen(socket);
    await new Promise((resolve) => server.once("listening", resolve));
    const opened = expectOk(await open(path));
    expect(existsSync(socket)).toBe(false);
    opened.close();
    server.close();
  });

  test("a real process is ended", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const exited = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
    const path = await killed([{ pid: child.pid, identity: nodeProcesses.identify(child.pid ?? 0) }]);
    const opened = expectOk(await open(path, { processes: nodeProcesses }));
    expect(await exited).toBe("SIGTERM");
    expect(await runningUp(opened.folder)).toMatchObject({ pid: process.pid });
    opened.close();
    expect(await runningUp(opened.folder)).toBeUndefined();
  });

  test("a supervisor that must end at once kills its processes and removes lock and record", async () => {
    const path = fresh();
    const { table, signals } = processTable({ 501: "a", 502: "reused" });
    const opened = expectOk(await open(path, { processes: table }));
    expectOk(
      opened.record({
        processes: [
          { pid: 501, identity: "a" },
          { pid: 502, identity: "b" },
        ],
      }),
    );
    opened.abandon();
    expect(signals).toEqual(["SIGKILL 501"]);
    expect(readdirSync(path)).toEqual(["lattice-local-cluster"]);
  });
});

describe("a folder in the older layout", () => {
  const OLDER = "This folder holds a local cluster of Lattice. `lattice down --purge` deletes it.\n";
  const older = () => {
    const path = fresh();
    mkdirSync(join(path, "data"), { recursive: true });
    writeFileSync(join(path, "lattice-local-cluster"), OLDER);
    writeFileSync(join(path, "data", "log"), "state");
    writeFileSync(join(path, "kubeconfig"), "kubeconfig", { mode: 0o600 });
    return path;
  };

  test("is migrated, and its state is kept", async () => {
    const path = older();
    const opened = expectOk(await open(path));
    expect(opened.migrated).toBe(true);
    expect(readdirSync(path).toSorted()).toEqual(["clusters", "lattice-local-cluster", "up.json", "up.lock"]);
    const cluster = join(path, "clusters", "mgmt");
    expect(readFileSync(join(cluster, "data", "log"), "utf8")).toBe("state");
    expect(readFileSync(join(cluster, "kubeconfig"), "utf8")).toBe("kubeconfig");
    expect(readFileSync(join(path, "lattice-local-cluster"), "utf8")).toMatch(/^layout: 2$/m);
    opened.close();
    const again = expectOk(await open(path));
    expect(again.migrated).toBe(false);
    again.close();
  });

  test("whose migration was interrupted is migrated by the next start", async () => {
    const path = older();
    const cluster = join(path, "clusters", "mgmt");
    mkdirSync(join(cluster, "data"), { recursive: true });
    rmSync(join(path, "kubeconfig"));
    writeFileSync(join(cluster, "kubeconfig"), "kubeconfig");
    const opened = expectOk(await open(path));
    expect(opened.migrated).toBe(true);
    expect(readFileSync(join(cluster, "data", "log"), "utf8")).toBe("state");
    opened.close();
  });

  test("with state in both places is refused, and both are kept", async () => {
    const path = older();
    const data = join(path, "clusters", "mgmt", "data");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "log"), "other state");
    expect(errorOf(await open(path))).toBe(
      `${join(path, "data")} and ${data} both contain the state of a cluster; move the one that you do not need out of ${path}`,
    );
    expect([readFileSync(join(path, "data", "log"), "utf8"), readFileSync(join(data, "log"), "utf8")]).toEqual(["state", "other state"]);
    expect(existsSync(join(path, "up.lock"))).toBe(false);
  });

  test("whose data is a link is not migrated", async () => {
    const path = older();
    const elsewhere = fresh();
    mkdirSync(elsewhere);
    rmSync(join(path, "data"), { recursive: true });
    symlinkSync(elsewhere, join(path, "data"));
    const opened = expectOk(await open(path));
    expect(opened.migrated).toBe(false);
    opened.close();
  });
});

test("a fleet that was started empty stays so, and one with an example does not become empty", async () => {
  const path = fresh();
  const openings = [{ content: "empty" }, {}, { content: "laptop" }] as const;
  for (const more of openings) {
    const opened = expectOk(await open(path, more));
    expect(opened.content).toBe("empty");
    mkdirSync(join(path, "clusters", "mgmt", "data"), { recursive: true });
    opened.close();
  }
  const other = fresh();
  for (const more of [{}, { content: "empty" }, { content: "laptop" }] as const) {
    const opened = expectOk(await open(other, more));
    expect(opened.content).toBe("services");
    mkdirSync(join(other, "clusters", "mgmt", "data"), { recursive: true });
    opened.close();
  }
});

test("a fleet that another process made before the lock was taken is refused, too, and is not changed", async () => {
  const path = fresh();
  let looks = 0;
  const accept = ({ content }: FoundFleet) => {
    looks += 1;
    // as the other process ends between both looks
    if (looks === 1) writeFileSync(join(path, "lattice-local-cluster"), "layout: 2\ncontent: laptop\n");
    return content === "laptop" ? err("it has the laptop fleet") : ok(undefined);
  };
  mkdirSync(path);
  expect(await open(path, { content: "installed", accept })).toEqual(err("it has the laptop fleet"));
  expect(readdirSync(path)).toEqual(["lattice-local-cluster"]);
  expect(readFileSync(join(path, "lattice-local-cluster"), "utf8")).toBe("layout: 2\ncontent: laptop\n");
});

describe("a full disk", () => {
  test("when the record is replaced: one sentence, no lock is left, and the next start works", async () => {
    const path = fresh();
    expectOk(await open(path)).close();
    const full = err(`${join(path, "up.json")} cannot be written: ENOSPC: no space left on device`);
    expect(await open(path, { write: () => full })).toEqual(full);
    expect(readdirSync(path)).toEqual(["lattice-local-cluster"]);
    expectOk(await open(path)).close();
  });
});

test("any text in place of the record names no process that could not be one of a fleet", () => {
  const path = fresh();
  mkdirSync(path);
  const folder = fleetFolder(path);
  const part = fc.oneof(fc.jsonValue(), fc.record({ pid: fc.oneof(fc.integer(), fc.double(), fc.string()), identity: fc.string() }));
  const content = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ pid: fc.oneof(fc.integer(), fc.double()), process: fc.string(), processes: fc.array(part) })
      .map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(content, (text) => {
      writeFileSync(folder.record, text);
      const record = readRecord(folder);
      const pids = record === undefined ? [] : [record.pid, ...record.processes.map(({ pid }) => pid)];
      return pids.every((pid) => Number.isSafeInteger(pid) && pid > 1);
    }),
  );
});

test.each([
  { name: "no JSON", text: "garbage" },
  { name: "the pid of all processes", text: `{"pid":-1,"process":"me"}` },
  { name: "the pid of init", text: `{"pid":1,"process":"me"}` },
  { name: "a process without start time that does not listen", text: `{"pid":88,"process":"unknown"}` },
])("a record with $name is ignored", async ({ text }) => {
  const path = fresh();
  expectOk(await open(path)).close();
  writeFileSync(join(path, "up.json"), text);
  expect(await runningUp(fleetFolder(path), { pid: 77, identify: (pid) => (pid === 88 ? "unknown" : "me") })).toBeUndefined();
});
