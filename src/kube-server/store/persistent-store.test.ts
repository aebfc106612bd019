import { chmodSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLogger, expectOk, FakeClock, silentLogger, type LogFields } from "#base";
import { dataFolder, storeOpener } from "../../../test/builders/store/data-folder.ts";
import { FaultyFiles } from "../../../test/builders/store/faulty-files.ts";
import { configMap, contentOf, MAPS, put, remove } from "../../../test/builders/store/objects.ts";
import { encodeRecord } from "./disk/disk-records.ts";
import { encodeFrame } from "./disk/frames.ts";
import { describeOpenError, openPersistentStore } from "./index.ts";
import type { Store, StoreEvent } from "./port.ts";

const openStore = storeOpener(openPersistentStore);

const LOG = "log-0000000000000001";
const headBytes = encodeFrame(encodeRecord({ kind: "log", base: 1 })).length;
const revisionsAfter = (store: Store, from: number) => {
  const seen: number[] = [];
  const started = store.watch({ collection: MAPS, from, onEvent: ({ revision }: StoreEvent) => seen.push(revision) });
  return started.ok ? seen : started.error;
};

describe("a store on disk", () => {
  it("has the same content after a restart, and continues with the next revision", () => {
    const dataDir = dataFolder();
    const { store, recovered } = expectOk(openStore(dataDir));
    expect(recovered).toEqual({
      revision: 1,
      objects: 0,
      snapshotRevision: undefined,
      replayed: 0,
      cut: [],
      emptied: [],
      lost: false,
      takenOverFrom: undefined,
      tookMs: 0,
    });
    put(store, "a/x", "1");
    put(store, "a/y", "ü \u0000 \ud800 __proto__");
    put(store, "__proto__", "1", "/nodes");
    remove(store, "a/x");
    const before = contentOf(store);
    store.close();
    const again = expectOk(openStore(dataDir));
    expect(contentOf(again.store)).toEqual(before);
    expect(again.recovered).toMatchObject({ revision: 5, objects: 2, replayed: 4, cut: [] });
    expect(put(again.store, "a/z", "1").revision).toBe(6);
    again.store.close();
  });

  it("serves watches from revisions before the restart, because the log is history", () => {
    const dataDir = dataFolder();
    const first = expectOk(openStore(dataDir)).store;
    for (const value of ["1", "2", "3"]) put(first, "a/x", value);
    first.close();
    const { store } = expectOk(openStore(dataDir));
    put(store, "a/x", "4");
    expect(revisionsAfter(store, 2)).toEqual([3, 4, 5]);
    expect(expectOk(store.list(MAPS, { revision: 3 })).items).toMatchObject([{ key: "a/x", revision: 3 }]);
    store.close();
  });

  it("returns `compacted` for revisions before its snapshot", () => {
    const dataDir = dataFolder();
    const first = expectOk(openStore(dataDir, { snapshotAfterBytes: 1_000 })).store;
    for (let at = 0; at < 40; at += 1) put(first, `a/${at % 5}`, String(at));
    const before = contentOf(first);
    first.close();
    const { store, recovered } = expectOk(openStore(dataDir));
    const { snapshotRevision = 0 } = recovered;
    expect(snapshotRevision).toBeGreaterThan(1);
    expect(recovered.replayed).toBe(41 - snapshotRevision);
    expect(contentOf(store)).toEqual(before);
    expect(revisionsAfter(store, snapshotRevision - 1)).toEqual({ kind: "compacted", oldest: snapshotRevision });
    expect(revisionsAfter(store, snapshotRevision)).toHaveLength(41 - snapshotRevision);
    store.close();
  });

  it("keeps objects that are nested deeper than the API allows", () => {
    const dataDir = dataFolder();
    let deep: unknown = "bottom";
    for (let level = 0; level < 150; level += 1) deep = { deep };
    const { store } = expectOk(openStore(dataDir));
    const object = () => ({ ...configMap("a/x", "1"), deep });
    expectOk(store.write({ collection: MAPS, key: "a/x", expected: undefined, object }));
    store.close();
    const again = expectOk(openStore(dataDir)).store;
    expect(again.get(MAPS, "a/x")?.object).toEqual(object());
    again.close();
  });

  it("is not readable by other users of the machine", () => {
    const dataDir = join(dataFolder(), "made", "by-us");
    const { store } = expectOk(openStore(dataDir, { snapshotAfterBytes: 1 }));
    for (let at = 0; at < 5; at += 1) put(store, "a/x", String(at));
    const modes = readdirSync(dataDir).map((name) => statSync(join(dataDir, name)).mode & 0o777);
    store.close();
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  });

  it("works on the real disk with fsync, and leaves no lock behind", () => {
    const dataDir = dataFolder();
    const options = { dataDir, clock: new FakeClock(), logger: silentLogger, fsync: "always" as const, snapshotAfterBytes: 500 };
    const { store } = expectOk(openPersistentStore(options));
    for (let at = 0; at < 20; at += 1) put(store, `a/${at}`, "1");
    store.close();
    expect(readdirSync(dataDir).map((name) => name.replace(/\d+/, "N"))).toEqual(["log-N", "snapshot-N"]);
    const again = expectOk(openPersistentStore(options));
    expect(again.recovered).toMatchObject({ objects: 20, revision: 21, takenOverFrom: undefined });
    again.store.close();
  });
});

describe("snapshots", () => {
  it("keep the size of the folder proportional to its content", () => {
    const dataDir = dataFolder();
    const { store } = expectOk(openStore(dataDir, { snapshotAfterBytes: 10_000 }));
    for (let at = 0; at < 3_000; at += 1) put(store, `a/${at % 7}`, String(at));
    const bytes = readdirSync(dataDir).reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0);
    expect(bytes).toBeLessThan(30_000);
    store.close();
  });

  it("have one revision, although writes continue during their creation", () => {
    const dataDir = dataFolder();
    const { store } = expectOk(openStore(dataDir, { snapshotAfterBytes: 1_000_000, historyLimit: { events: 10 } }));
    for (let at = 0; at < 3_000; at += 1) put(store, `a/${at}`, "x".repeat(200));
    for (let at = 0; at < 3_000; at += 1) put(store, `a/${(at * 7) % 3_000}`, "y");
    const snapshots = readdirSync(dataDir).filter((name) => name.startsWith("snapshot"));
    const before = contentOf(store);
    store.close();
    const again = expectOk(openStore(dataDir));
    expect(snapshots).toHaveLength(1);
    expect(contentOf(again.store)).toEqual(before);
    again.store.close();
  });

  it("start over when their revision is compacted", () => {
    const dataDir = dataFolder();
    const { store } = expectOk(openStore(dataDir, { snapshotAfterBytes: 100_000 }));
    const parts = () => readdirSync(dataDir).filter((name) => name.endsWith(".part"));
    for (let at = 0; parts().length === 0; at += 1) put(store, `a/${at}`, "1");
    put(store, "a/0", "2");
    store.compact(store.revision);
    put(store, "a/0", "3");
    expect(parts()).toEqual([]);
    for (let at = 0; !readdirSync(dataDir).some((name) => /^snapshot-\d+$/.test(name)); at += 1) put(store, `b/${at}`, "1");
    const before = contentOf(store);
    store.close();
    const again = expectOk(openStore(dataDir)).store;
    expect(contentOf(again)).toEqual(before);
    again.close();
  });
});

describe("a disk that fails", () => {
  const rows: { name: string; call: "writeSync" | "fsyncSync"; code: string; recovers: boolean }[] = [
    { name: "becomes full during a write", call: "writeSync", code: "ENOSPC", recovers: true },
    { name: "cannot be written", call: "writeSync", code: "EIO", recovers: true },
    { name: "cannot be synced", call: "fsyncSync", code: "EIO", recovers: false },
  ];
  it.each(rows)("because it $name fails the write, and the write is not visible", ({ call, code, recovers }) => {
    const dataDir = dataFolder();
    const disk = new FaultyFiles();
    const { store } = expectOk(openStore(dataDir, { files: disk.files, fsync: "always" }));
    put(store, "a/x", "1");
    const before = contentOf(store);
    disk.fail(call, code);
    const write = () => store.write({ collection: MAPS, key: "a/y", expected: undefined, object: () => configMap("a/y", "1") });
    expect(write()).toMatchObject({ ok: false, error: { kind: "storage", message: expect.stringContaining(code) } });
    expect([store.revision, contentOf(store), revisionsAfter(store, 1)]).toEqual([2, before, [2]]);
    disk.heal();
    expect(write().ok).toBe(recovers); // after a failed sync the state on disk is unknown
    const after = contentOf(store);
    store.close();
    const again = expectOk(openStore(dataDir));
    expect([again.recovered.cut, contentOf(again.store)]).toEqual([[], after]);
    again.store.close();
    expect(disk.open).toBe(0);
  });

  it("and cannot be truncated rejects all writes until it is reopened", () => {
    const dataDir = dataFolder();
    const disk = new FaultyFiles();
    const { store } = expectOk(openStore(dataDir, { files: disk.files }));
    put(store, "a/x", "1");
    disk.fail("writeSync", "ENOSPC");
    disk.fail("ftruncateSync", "EIO");
    const write = () => store.write({ collection: MAPS, key: "a/y", expected: undefined, object: () => configMap("a/y", "1") });
    expect(write()).toMatchObject({ ok: false });
    disk.heal();
    expect(write()).toMatchObject({ ok: false, error: { kind: "storage" } });
    store.close();
    const again = expectOk(openStore(dataDir));
    expect(again.recovered.cut).toMatchObject([{ problem: expect.stringContaining("a record is cut short") }]);
    expect(put(again.store, "a/y", "1").revision).toBe(3);
    again.store.close();
  });

  const steps = ["openSync", "renameSync", "rmSync"] as const;
  it.each(steps)("in %s of a snapshot fails no write; the snapshot is retried later", (step) => {
    const dataDir = dataFolder();
    const disk = new FaultyFiles();
    const warnings: string[] = [];
    const logger = createLogger((level, message) => level === "warn" && warnings.push(message));
    const { store } = expectOk(openStore(dataDir, { files: disk.files, logger, snapshotAfterBytes: 2_000 }));
    disk.fail(step, "EIO");
    for (let at = 0; at < 60; at += 1) put(store, `a/${at % 9}`, String(at));
    expect(new Set(warnings)).toEqual(new Set(["housekeeping of the store failed"]));
    disk.heal();
    for (let at = 0; at < 200; at += 1) put(store, `a/${at % 9}`, String(at));
    const before = contentOf(store);
    store.close();
    const again = expectOk(openStore(dataDir));
    expect(contentOf(again.store)).toEqual(before);
    expect(again.recovered.snapshotRevision).toBeGreaterThan(1);
    again.store.close();
    expect(disk.open).toBe(0);
  });

  it("and cannot be synced when a new log begins rejects later writes: earlier ones may be lost after a power failure", () => {
    const dataDir = dataFolder();
    const disk = new FaultyFiles();
    const { store } = expectOk(openStore(dataDir, { files: disk.files, snapshotAfterBytes: 1 }));
    disk.fail("fsyncSync", "EIO");
    put(store, "a/x", "1");
    expect(() => put(store, "a/x", "2")).toThrow("cannot sync");
    disk.heal();
    store.close();
    const again = expectOk(openStore(dataDir)).store;
    expect(contentOf(again)).toEqual([`${MAPS} a/x=1@2`]);
    again.close();
  });

  it("while the store is opened is an error, and the lock is released", () => {
    const dataDir = dataFolder();
    const refused = (call: "mkdirSync" | "writeFileSync" | "readdirSync" | "openSync", path = dataDir) => {
      const disk = new FaultyFiles();
      disk.fail(call, "EACCES");
      const opened = openStore(path, { files: disk.files });
      return opened.ok ? "opened" : describeOpenError(opened.error);
    };
    expect([refused("mkdirSync", join(dataDir, "new")), refused("writeFileSync"), refused("readdirSync"), refused("openSync")]).toEqual([
      `${join(dataDir, "new")} cannot be created: EACCES: injected; choose another folder`,
      `cannot lock ${dataDir}: EACCES: injected`,
      `cannot read ${dataDir}: EACCES: injected`,
      `cannot create ${join(dataDir, LOG)}: EACCES: injected`,
    ]);
    expect(readdirSync(dataDir)).toEqual([]);
  });
});

describe("opening a folder", () => {
  it("reports a torn end of the log, removes it, and keeps the bytes in another file", () => {
    const dataDir = dataFolder();
    const first = expectOk(openStore(dataDir)).store;
    put(first, "a/x", "1");
    const whole = statSync(join(dataDir, LOG)).size;
    put(first, "a/y", "1");
    first.close();
    const bytes = readFileSync(join(dataDir, LOG));
    writeFileSync(join(dataDir, LOG), bytes.subarray(0, -10));
    const lines: [string, LogFields][] = [];
    const logger = createLogger((_level, message, fields) => lines.push([message, fields]));
    const { store, recovered } = expectOk(openStore(dataDir, { logger }));
    const keptIn = join(dataDir, `cut-${LOG}-at-${whole}`);
    const [length, left] = [bytes.length - whole, bytes.length - whole - 10];
    const problem = `a record is cut short, ${left} of ${length} bytes`;
    expect(recovered.cut).toEqual([{ file: join(dataDir, LOG), offset: whole, bytes: left, problem, keptIn }]);
    expect(lines[0]).toEqual(["cut off what was no whole record", { folder: dataDir, ...recovered.cut[0] }]);
    expect(readFileSync(keptIn)).toEqual(bytes.subarray(whole, -10));
    expect(put(store, "a/y", "2").revision).toBe(3);
    store.close();
  });

  const LOST = "the data folder was in use before, but its log is empty or missing: the server starts without objects";
  const EMPTY = "a log is empty; the changes that it held are lost";

  it.each([
    { name: "was emptied", spoil: (log: string) => truncateSync(log, 0), want: { emptied: [LOG], lines: [EMPTY, LOST] } },
    { name: "was cut inside its head", spoil: (log: string) => truncateSync(log, 5), want: { emptied: [LOG], lines: [EMPTY, LOST] } },
    { name: "is missing", spoil: (log: string) => rmSync(log), want: { emptied: [], lines: [LOST] } },
    { name: "has lost all its records", spoil: (log: string) => truncateSync(log, headBytes), want: { emptied: [], lines: [LOST] } },
  ])("says that it starts without objects when the log $name", ({ spoil, want }) => {
    const dataDir = dataFolder();
    const first = expectOk(openStore(dataDir)).store;
    put(first, "a/x", "1");
    first.close();
    writeFileSync(join(dataDir, "service-account.key"), ""); // created by a server
    spoil(join(dataDir, LOG));
    const lines: string[] = [];
    const logger = createLogger((level, message) => level !== "info" && lines.push(message));
    const { store, recovered } = expectOk(openStore(dataDir, { logger }));
    expect(recovered).toMatchObject({ objects: 0, lost: true, emptied: want.emptied.map((name) => join(dataDir, name)) });
    expect(lines).toEqual(want.lines);
    store.close();
  });

  it("reports that changes of an empty log after a snapshot are lost", () => {
    const dataDir = dataFolder();
    const first = expectOk(openStore(dataDir, { snapshotAfterBytes: 1_000 })).store;
    for (let at = 0; at < 40; at += 1) put(first, `a/${at}`, "x".repeat(100));
    first.close();
    const log = readdirSync(dataDir).findLast((name) => name.startsWith("log-")) ?? "";
    truncateSync(join(dataDir, log), 0);
    const { store, recovered } = expectOk(openStore(dataDir));
    expect(recovered).toMatchObject({ lost: false, emptied: [join(dataDir, log)] });
    expect(recovered.objects).toBeGreaterThan(0);
    store.close();
  });

  it("reports no loss for a new folder, or if all objects were deleted", () => {
    const dataDir = dataFolder();
    expectOk(openStore(dataDir)).store.close();
    writeFileSync(join(dataDir, "ca.key"), ""); // written before the first object, by a start that was killed
    const { store, recovered } = expectOk(openStore(dataDir));
    expect(recovered).toMatchObject({ lost: false, emptied: [] });
    put(store, "a/x", "1");
    remove(store, "a/x");
    store.close();
    writeFileSync(join(dataDir, "service-account.key"), "");
    const again = expectOk(openStore(dataDir));
    expect(again.recovered).toMatchObject({ objects: 0, lost: false });
    again.store.close();
  });

  it("removes read permissions of other users", () => {
    const dataDir = dataFolder();
    const first = expectOk(openStore(dataDir)).store;
    put(first, "a/x", "1");
    first.close();
    chmodSync(join(dataDir, LOG), 0o644);
    expectOk(openStore(dataDir)).store.close();
    expect(statSync(join(dataDir, LOG)).mode & 0o777).toBe(0o600);
  });

  it("never overwrites files that were set aside", () => {
    const dataDir = dataFolder();
    const first = expectOk(openStore(dataDir)).store;
    put(first, "a/x", "1");
    first.close();
    const bytes = readFileSync(join(dataDir, LOG));
    for (const garbage of ["one", "two", "three"]) {
      writeFileSync(join(dataDir, LOG), Buffer.concat([bytes, Buffer.from(garbage)]));
      expectOk(openStore(dataDir)).store.close();
    }
    const kept = readdirSync(dataDir).filter((name) => name.startsWith("cut-"));
    expect(kept.map((name) => readFileSync(join(dataDir, name), "utf8"))).toEqual(["one", "two", "three"]);
  });

  it("removes snapshots that were never finished", () => {
    const dataDir = dataFolder();
    writeFileSync(join(dataDir, "snapshot-0000000000000009.part"), "half");
    writeFileSync(join(dataDir, "notes.part"), "not ours");
    expectOk(openStore(dataDir)).store.close();
    expect(readdirSync(dataDir)).toEqual([LOG, "notes.part"]);
  });
});
