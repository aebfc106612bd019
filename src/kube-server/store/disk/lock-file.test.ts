import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectOk, FakeClock, type ProcessTable } from "#base";
import { dataFolder, storeOpener } from "../../../../test/builders/store/data-folder.ts";
import { acquireLock } from "./lock-file.ts";
import { describeOpenError } from "./open-error.ts";
import type { StoreFiles } from "./store-files.ts";
import { openPersistentStore } from "../persistent-store.ts";

const openStore = storeOpener(openPersistentStore);

const processes = (pid: number, alive: Readonly<Record<number, string>>): ProcessTable => ({ pid, identify: (other) => alive[other] });
const acquire = (folder: string, table: ProcessTable, files: StoreFiles = fs) =>
  acquireLock({ files, folder, clock: new FakeClock(), processes: table });

describe("the lock of a folder", () => {
  it("cannot be acquired while the first process runs, and the error names that process", () => {
    const folder = dataFolder();
    expectOk(acquire(folder, processes(1, { 1: "one" })));
    const refused = acquire(folder, processes(2, { 1: "one", 2: "two" }));
    expect(refused.ok ? "" : describeOpenError(refused.error)).toBe(
      `${join(folder, "lock")}: process 1 has been using this folder since 2026-01-01T00:00:00Z; stop it or choose another folder`,
    );
    expect(readdirSync(folder)).toEqual(["lock"]);
  });

  const stale: { name: string; text: string; from: number | undefined }[] = [
    { name: "a terminated process", text: `{"pid":7,"process":"seven","since":"x"}`, from: 7 },
    { name: "an earlier process with the same pid, as in a container", text: `{"pid":2,"process":"earlier","since":"x"}`, from: 2 },
    { name: "an unreadable owner", text: "garbage", from: undefined },
    { name: "a file with something else in it", text: `{"pid":"7"}`, from: undefined },
  ];
  it.each(stale)("is taken over from $name", ({ text, from }) => {
    const folder = dataFolder();
    writeFileSync(join(folder, "lock"), text);
    const lock = expectOk(acquire(folder, processes(2, { 2: "two" })));
    expect([lock.takenOverFrom, readdirSync(folder)]).toEqual([from, ["lock"]]);
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is not removed by a release after another process has acquired it", () => {
    const folder = dataFolder();
    const first = expectOk(acquire(folder, processes(1, { 1: "one" })));
    const second = expectOk(acquire(folder, processes(2, { 2: "two" })));
    first.release();
    expect(readdirSync(folder)).toEqual(["lock"]);
    second.release();
  });

  it("is acquired by one of two processes that find a stale lock at the same time", () => {
    const folder = dataFolder();
    const path = join(folder, "lock");
    writeFileSync(path, "dead");
    const winner = `${JSON.stringify({ pid: 3, process: "three", since: "now" })}\n`;
    const lateRename: StoreFiles["renameSync"] = (from, to) => {
      writeFileSync(path, winner); // the other process was faster
      renameSync(from, to);
    };
    const refused = acquire(folder, processes(2, { 2: "two", 3: "three" }), { ...fs, renameSync: lateRename });
    expect(refused).toEqual({ ok: false, error: { kind: "locked", file: path, pid: 3, since: "now" } });
    expect(readFileSync(path, "utf8")).toBe(winner);
  });

  it("is released when the store is closed, so that it can be reopened at once", () => {
    const folder = dataFolder();
    const one = processes(1, { 1: "one" });
    const { store } = expectOk(openStore(folder, { processes: one }));
    expect(openStore(folder, { processes: one })).toMatchObject({ ok: false, error: { kind: "locked", pid: 1 } });
    store.close();
    const again = expectOk(openStore(folder, { processes: one }));
    expect(again.recovered.takenOverFrom).toBeUndefined();
    again.store.close();
    const dead = expectOk(openStore(folder));
    const after = expectOk(openStore(folder));
    expect(after.recovered.takenOverFrom).toEqual(expect.any(Number));
    after.store.close();
    dead.store.close();
  });
});
