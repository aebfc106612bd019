import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { dataFolder, storeOpener } from "../../../../test/builders/store/data-folder.ts";
import { FaultyFiles } from "../../../../test/builders/store/faulty-files.ts";
import { configMap, contentOf, MAPS, put } from "../../../../test/builders/store/objects.ts";
import { encodeRecord, type KnownRecord } from "./disk-records.ts";
import { encodeFrame } from "./frames.ts";
import { describeOpenError } from "./open-error.ts";
import { openPersistentStore } from "../persistent-store.ts";

const openStore = storeOpener(openPersistentStore);

const numbered = (kind: string, revision: number) => `${kind}-${String(revision).padStart(16, "0")}`;
const file = (...records: readonly KnownRecord[]) => Buffer.concat(records.map((record) => encodeFrame(encodeRecord(record))));
const change = (revision: number, key = `a/${revision}`): KnownRecord => ({
  kind: "change",
  change: { revision, collection: MAPS, key, object: configMap(key, "1", revision) },
});
const folderWith = (files: Readonly<Record<string, Uint8Array>>) => {
  const folder = dataFolder();
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return folder;
};

const [log1, log3, snapshot3] = [numbered("log", 1), numbered("log", 3), numbered("snapshot", 3)];
const goodSnapshot = file({ kind: "snapshot", revision: 3 }, change(2), change(3), { kind: "end", objects: 2 });
const goodLog = file({ kind: "log", base: 3 }, change(4));

describe("the content of a folder", () => {
  const rows: { name: string; files: Record<string, Uint8Array>; want: string[] }[] = [
    { name: "a snapshot and the log after it", files: { [snapshot3]: goodSnapshot, [log3]: goodLog }, want: ["a/2", "a/3", "a/4"] },
    { name: "a snapshot alone", files: { [snapshot3]: goodSnapshot }, want: ["a/2", "a/3"] },
    {
      name: "a chain of logs",
      files: { [log1]: file({ kind: "log", base: 1 }, change(2), change(3)), [log3]: goodLog },
      want: ["a/2", "a/3", "a/4"],
    },
    {
      name: "older files that a snapshot has replaced, damaged or not",
      files: { [snapshot3]: goodSnapshot, [log3]: goodLog, [log1]: Buffer.alloc(500), [numbered("snapshot", 2)]: Buffer.from("x") },
      want: ["a/2", "a/3", "a/4"],
    },
    {
      name: "logs that were created and never used",
      files: {
        [log1]: file({ kind: "log", base: 1 }, change(2), change(3), change(4)),
        [log3]: Buffer.from([0xff]),
        [numbered("log", 9)]: Buffer.alloc(0),
      },
      want: ["a/2", "a/3", "a/4"],
    },
  ];
  it.each(rows)("is read: $name", ({ files, want }) => {
    const folder = folderWith(files);
    const { store, recovered } = expectOk(openStore(folder));
    expect([recovered.cut, expectOk(store.list(MAPS)).items.map(({ key }) => key)]).toEqual([[], want]);
    const next = put(store, "a/new", "1").revision;
    store.close();
    expect(readdirSync(folder).filter((name) => name.startsWith("log"))).not.toContain(numbered("log", 9));
    const again = expectOk(openStore(folder)).store;
    expect(again.revision).toBe(next);
    again.close();
  });
});

describe("a folder cannot be opened, and is not changed, when", () => {
  const broken = Buffer.from(goodSnapshot).fill(0, 50, 60);
  const rows: { name: string; files: Record<string, Uint8Array>; at: string; problem: string; left: string[] }[] = [
    {
      name: "its snapshot is damaged",
      files: { [snapshot3]: broken, [log3]: goodLog },
      at: snapshot3,
      problem: "the checksum of a record's head does not match",
      left: ["a/3", "a/4"],
    },
    {
      name: "its snapshot has lost its end",
      files: { [snapshot3]: file({ kind: "snapshot", revision: 3 }, change(2)) },
      at: snapshot3,
      problem: "the end of the snapshot is missing",
      left: ["a/2"],
    },
    {
      name: "its snapshot has lost its head",
      files: { [snapshot3]: file(change(2), change(3), { kind: "end", objects: 2 }) },
      at: snapshot3,
      problem: "not what a snapshot of revision 3 has here",
      left: ["a/2", "a/3"],
    },
    {
      name: "a log in the middle is missing",
      files: { [snapshot3]: goodSnapshot, [numbered("log", 5)]: file({ kind: "log", base: 5 }, change(6)) },
      at: numbered("log", 5),
      problem: "it begins after revision 5, but what comes before it ends at 3",
      left: ["a/2", "a/3", "a/6"],
    },
    {
      name: "an older log is torn",
      files: { [log1]: file({ kind: "log", base: 1 }, change(2), change(3)).subarray(0, -1), [log3]: goodLog },
      at: log1,
      problem: "a record is cut short, 199 of 200 bytes",
      left: ["a/2", "a/4"],
    },
    {
      name: "revisions are missing inside a log",
      files: { [log1]: file({ kind: "log", base: 1 }, change(2), change(9)) },
      at: log1,
      problem: "revision 9 after revision 2",
      left: ["a/2", "a/9"],
    },
    {
      name: "revisions run backwards inside a log",
      files: { [log1]: file({ kind: "log", base: 1 }, change(2), change(3), change(2, "a/again")) },
      at: log1,
      problem: "revision 2 after revision 3",
      left: ["a/2", "a/3"],
    },
    {
      name: "a log has the head of another",
      files: { [log1]: file({ kind: "log", base: 7 }, change(2)) },
      at: log1,
      problem: "not the head of a log after revision 1",
      left: ["a/2"],
    },
    {
      name: "a log has a record of a snapshot",
      files: { [log1]: file({ kind: "log", base: 1 }, change(2), { kind: "end", objects: 1 }) },
      at: log1,
      problem: "not a change",
      left: ["a/2"],
    },
    {
      name: "a complete record is invalid",
      files: {
        [log1]: Buffer.concat([
          file({ kind: "log", base: 1 }, change(2)),
          encodeFrame(`{"r":3,"c":"","k":"x","o":7}`),
          encodeFrame("[]"),
          encodeFrame("{"),
        ]),
      },
      at: log1,
      problem: "not a record of a store",
      left: ["a/2"],
    },
  ];
  it.each(rows)("$name; repair keeps the rest", ({ files, at, problem, left }) => {
    const folder = folderWith(files);
    const opened = openStore(folder);
    expect(opened).toEqual({ ok: false, error: { kind: "corrupt", file: join(folder, at), offset: expect.any(Number), problem } });
    expect(readdirSync(folder)).toEqual(Object.keys(files).toSorted());
    for (const [name, bytes] of Object.entries(files)) expect(readFileSync(join(folder, name))).toEqual(Buffer.from(bytes));

    const { store, recovered } = expectOk(openStore(folder, { repair: true }));
    expect(expectOk(store.list(MAPS)).items.map(({ key }) => key)).toEqual(left);
    expect(recovered.cut[0]).toMatchObject({ file: join(folder, at), problem, keptIn: join(folder, `damaged-${at}`) });
    expect(readFileSync(join(folder, `damaged-${at}`))).toEqual(Buffer.from(files[at] ?? []));
    const content = contentOf(store);
    store.close();
    const again = expectOk(openStore(folder));
    expect([again.recovered.cut, contentOf(again.store)]).toEqual([[], content]);
    again.store.close();
  });

  it("a newer version wrote it, also with repair", () => {
    const folder = folderWith({ [log1]: Buffer.concat([encodeFrame(`{"format":2,"log":1}`), encodeFrame(`{"format":2,"log":1}`)]) });
    for (const repair of [false, true]) {
      const opened = openStore(folder, { repair });
      expect(opened.ok ? "" : describeOpenError(opened.error)).toBe(
        `${join(folder, log1)} has format 2: a newer version wrote it and must read it. Nothing was changed`,
      );
    }
  });
});

it("the message about a damaged folder names the file, the byte and the remedy", () => {
  const words = describeOpenError({ kind: "corrupt", file: "/data/log-1", offset: 7, problem: "the checksum does not match" });
  expect(words).toMatch(
    /^\/data\/log-1 is damaged at byte 7: the checksum does not match\. Nothing was changed\. Restore .* or start once with --repair \(in code: repair: true\)/,
  );
});

it("a repair reuses no revision, also when the end of the log is damaged as well", () => {
  const bytes = file({ kind: "log", base: 1 }, change(2), change(3), change(4), change(5), change(6));
  bytes.fill(0, 250, 260); // the record of revision 3
  bytes.fill(0, 700); // those of 5 and 6
  const { store, recovered } = expectOk(openStore(folderWith({ [log1]: bytes }), { repair: true }));
  expect(recovered.cut).toHaveLength(2);
  expect(expectOk(store.list(MAPS)).items.map(({ key }) => key)).toEqual(["a/2", "a/4"]);
  expect(store.revision).toBeGreaterThan(6);
  store.close();
});

it("a repair that is killed at any call can be repeated, and the damaged file stays", () => {
  const bytes = file({ kind: "log", base: 1 }, change(2), change(3), change(4)).fill(0, 250, 260);
  const folder = folderWith({ [log1]: bytes });
  let finished = false;
  for (let calls = 0; !finished; calls += 1) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    writeFileSync(join(folder, log1), bytes);
    const disk = new FaultyFiles();
    disk.dieAfter(calls);
    const first = openStore(folder, { repair: true, files: disk.files });
    finished = !disk.dead;
    if (first.ok) first.value.store.close();
    const { store } = expectOk(openStore(folder, { repair: true }));
    expect(expectOk(store.list(MAPS)).items.map(({ key }) => key)).toEqual(["a/2", "a/4"]);
    store.close();
    const copies = readdirSync(folder).filter((name) => name.startsWith("damaged-"));
    expect(
      copies.some((name) => readFileSync(join(folder, name)).equals(bytes)),
      `killed at call ${calls}`,
    ).toBe(true);
  }
});
