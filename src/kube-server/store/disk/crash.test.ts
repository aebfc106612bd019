/** Kills and damage at every position. Every acknowledged write is present afterwards, or its loss is reported. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { dataFolder, storeOpener } from "../../../../test/builders/store/data-folder.ts";
import { FaultyFiles } from "../../../../test/builders/store/faulty-files.ts";
import { configMap, contentOf, MAPS } from "../../../../test/builders/store/objects.ts";
import type { Store } from "../port.ts";
import { openPersistentStore } from "../persistent-store.ts";

const openStore = storeOpener(openPersistentStore);

const LOG = "log-0000000000000001";

type Write = { readonly key: string; readonly value: string | undefined };

function attemptWrite(store: Store, { key, value }: Write): boolean {
  const object = value === undefined ? undefined : (revision: number) => configMap(key, value, revision);
  return store.write({ collection: MAPS, key, expected: store.get(MAPS, key)?.revision, object }).ok;
}

/** Content after each number of writes, from an undisturbed store. */
function contentsOf(writes: readonly Write[]): readonly (readonly string[])[] {
  const dataDir = dataFolder();
  const { store } = expectOk(openStore(dataDir));
  const contents = [contentOf(store)];
  for (const write of writes) {
    attemptWrite(store, write);
    contents.push(contentOf(store));
  }
  store.close();
  return contents;
}

/** Writes until the process is killed; returns the number of acknowledged writes. */
function writeUntilDeath(disk: FaultyFiles, dataDir: string, writes: readonly Write[]): number {
  const opened = openStore(dataDir, { files: disk.files, snapshotAfterBytes: 600 });
  if (!opened.ok) return 0;
  const failed = writes.findIndex((write) => !attemptWrite(opened.value.store, write));
  opened.value.store.close();
  return failed < 0 ? writes.length : failed;
}

/** Creations, updates, and some deletions of recently written objects. */
const WRITES: readonly Write[] = Array.from({ length: 40 }, (_, at) =>
  at % 7 === 6 ? { key: `a/${((at - 1) * 5) % 8}`, value: undefined } : { key: `a/${(at * 5) % 8}`, value: `value-${at}` },
);

describe("a process that is killed", () => {
  it("at any call that changes the disk, mid-write or mid-rotation, leaves every acknowledged write behind", () => {
    const contents = contentsOf(WRITES);
    const whole = new FaultyFiles();
    expect(writeUntilDeath(whole, dataFolder(), WRITES)).toBe(WRITES.length);
    expect(whole.changes).toBeGreaterThan(100);
    const dataDir = dataFolder();
    for (let calls = 0; calls < whole.changes; calls += 1) {
      rmSync(dataDir, { recursive: true });
      mkdirSync(dataDir);
      const disk = new FaultyFiles();
      disk.dieAfter(calls);
      const acknowledged = writeUntilDeath(disk, dataDir, WRITES);
      const { store } = expectOk(openStore(dataDir));
      const found = JSON.stringify(contentOf(store));
      // the interrupted write is either complete or absent
      expect([JSON.stringify(contents[acknowledged]), JSON.stringify(contents[acknowledged + 1])], `killed at call ${calls}`).toContain(
        found,
      );
      for (const write of WRITES) expect(attemptWrite(store, write)).toBe(true);
      const content = contentOf(store);
      store.close();
      const again = expectOk(openStore(dataDir));
      expect([again.recovered.cut, contentOf(again.store)]).toEqual([[], content]);
      again.store.close();
      expect(disk.open).toBe(0);
    }
  });

  it("repeatedly, at random calls, even during recovery, loses nothing", () => {
    const write = fc.record({
      key: fc.constantFrom("a/1", "a/2", "b/1"),
      value: fc.option(fc.string({ maxLength: 30 }), { nil: undefined }),
    });
    const life = fc.record({ writes: fc.array(write, { maxLength: 30 }), calls: fc.nat(60) });
    fc.assert(
      fc.property(fc.array(life, { minLength: 1, maxLength: 6 }), (lives) => {
        const dataDir = dataFolder();
        let known: readonly string[] = [];
        let revision = 1;
        for (const { writes, calls } of lives) {
          const disk = new FaultyFiles();
          disk.dieAfter(calls);
          const opened = openStore(dataDir, { files: disk.files, snapshotAfterBytes: 300 });
          if (!opened.ok) continue;
          const { store } = opened.value;
          const underWay = expectKnown(store, { known, revision });
          ({ known, revision } = underWay);
          for (const one of writes) {
            if (!attemptWrite(store, one)) break;
            [known, revision] = [contentOf(store), store.revision];
          }
          store.close();
        }
        const { store } = expectOk(openStore(dataDir));
        expectKnown(store, { known, revision });
        store.close();
      }),
      { numRuns: 60 },
    );
  });
});

/** One unacknowledged write may be present; then the revision is higher by one. */
function expectKnown(
  store: Store,
  { known, revision }: { known: readonly string[]; revision: number },
): { known: readonly string[]; revision: number } {
  const content = contentOf(store);
  if (store.revision === revision) expect(content).toEqual(known);
  else expect(store.revision).toBe(revision + 1);
  const untouched = known.filter((line) => content.includes(line));
  expect(known.length - untouched.length).toBeLessThanOrEqual(1);
  return { known: content, revision: store.revision };
}

describe("a log", () => {
  const writes = WRITES.slice(0, 8);
  let dataDir: string;
  let bytes: Buffer;
  let contents: readonly (readonly string[])[];
  /** The end of each record, beginning with the head of the log. */
  let ends: number[];

  beforeEach(() => {
    contents = contentsOf(writes);
    dataDir = dataFolder();
    const { store } = expectOk(openStore(dataDir));
    ends = [readFileSync(join(dataDir, LOG)).length];
    for (const write of writes) {
      attemptWrite(store, write);
      ends.push(readFileSync(join(dataDir, LOG)).length);
    }
    store.close();
    bytes = readFileSync(join(dataDir, LOG));
  });

  const restore = (content: Uint8Array) => {
    for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name));
    writeFileSync(join(dataDir, LOG), content);
  };

  it("that ends at any byte opens with every complete record, and reports the removed bytes", () => {
    for (let length = 0; length <= bytes.length; length += 1) {
      restore(bytes.subarray(0, length));
      const whole = Math.max(
        0,
        ends.findLastIndex((end) => end <= length),
      );
      const { store, recovered } = expectOk(openStore(dataDir));
      expect(contentOf(store), `cut at ${length}`).toEqual(contents[whole]);
      expect(store.revision).toBe(whole + 1); // a torn record was never acknowledged: its revision is free
      const offset = ends[whole] ?? 0;
      const left = length > offset ? [{ file: join(dataDir, LOG), offset, bytes: length - offset }] : [];
      expect(recovered.cut).toMatchObject(left);
      for (const { keptIn } of recovered.cut) expect(readFileSync(keptIn)).toEqual(bytes.subarray(offset, length));
      store.close();
    }
  });

  it("with any byte flipped is an error with the position, or is truncated at the last record; no revision is reused", () => {
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      restore(damaged);
      const record = ends.findIndex((end) => at < end);
      const offset = ends[record - 1] ?? 0;
      const opened = openStore(dataDir);
      if (record < ends.length - 1) {
        expect(opened, `flipped ${at}`).toMatchObject({ ok: false, error: { kind: "corrupt", file: join(dataDir, LOG), offset } });
        expect(readdirSync(dataDir)).toEqual([LOG]);
        expect(readFileSync(join(dataDir, LOG))).toEqual(damaged);
        continue;
      }
      const { store, recovered } = expectOk(opened);
      expect(recovered.cut).toMatchObject([{ offset, bytes: bytes.length - offset }]);
      expect(contentOf(store)).toEqual(contents[record - 1]);
      expect(store.revision).toBeGreaterThanOrEqual(writes.length + 1);
      const watched = store.watch({ collection: MAPS, from: writes.length + 1, onEvent: () => {} });
      expect(watched).toMatchObject(store.revision === writes.length + 1 ? { ok: true } : { ok: false, error: { kind: "compacted" } });
      const next = store.revision + 1;
      expect(attemptWrite(store, { key: "a/new", value: "1" })).toBe(true);
      store.close();
      const again = expectOk(openStore(dataDir)).store;
      expect(again.revision).toBe(next);
      again.close();
    }
  });

  it("with any byte flipped is repaired on request: other records stay, the file is kept, revisions continue", () => {
    for (let at = 0; at < bytes.length; at += 7) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      restore(damaged);
      const record = ends.findIndex((end) => at < end);
      if (record === ends.length - 1) continue; // a tail needs no repair
      const { store, recovered } = expectOk(openStore(dataDir, { repair: true }));
      expect(recovered.cut).toMatchObject([{ offset: ends[record - 1] ?? 0, keptIn: join(dataDir, `damaged-${LOG}`) }]);
      expect(readFileSync(join(dataDir, `damaged-${LOG}`))).toEqual(damaged);
      const lost = writes[record - 1]?.key ?? "";
      const others = (lines: readonly string[] | undefined) => lines?.filter((line) => lost === "" || !line.includes(` ${lost}=`));
      expect(others(contentOf(store)), `flipped ${at}`).toEqual(others(contents.at(-1)));
      expect(store.revision).toBeGreaterThan(writes.length + 1);
      const content = contentOf(store);
      store.close();
      const again = expectOk(openStore(dataDir));
      expect([again.recovered.cut, contentOf(again.store)]).toEqual([[], content]);
      again.store.close();
    }
  });

  it("with zeros at its end, as after a power failure, is truncated there", () => {
    restore(Buffer.concat([bytes, Buffer.alloc(4_096)]));
    const { store, recovered } = expectOk(openStore(dataDir));
    expect(recovered.cut).toMatchObject([{ offset: bytes.length, bytes: 4_096, problem: "no record begins here" }]);
    expect(contentOf(store)).toEqual(contents.at(-1));
    store.close();
  });

  it("that lost its only record and its head starts over without reusing a revision", () => {
    restore(Buffer.alloc(ends[1] ?? 0, 7));
    const { store, recovered } = expectOk(openStore(dataDir));
    expect(recovered.cut).toMatchObject([{ offset: 0, bytes: ends[1] }]);
    expect(attemptWrite(store, { key: "a/1", value: "1" })).toBe(true);
    const { revision } = store;
    expect(revision).toBeGreaterThan(2);
    store.close();
    const again = expectOk(openStore(dataDir)).store;
    expect(again.revision).toBe(revision);
    again.close();
  });

  it("larger than the read window is read completely, and all damage is found", () => {
    const big = dataFolder();
    const { store } = expectOk(openStore(big));
    for (let at = 0; at < 40; at += 1) attemptWrite(store, { key: `a/${at}`, value: "x".repeat(100_000) });
    const content = contentOf(store);
    store.close();
    const again = expectOk(openStore(big)).store;
    expect(contentOf(again)).toEqual(content);
    again.close();
    const path = join(big, LOG);
    const holes = readFileSync(path).fill(0, 150_000, 2_500_000);
    copyFileSync(path, join(big, "copy"));
    writeFileSync(path, holes);
    expect(openStore(big)).toMatchObject({ ok: false, error: { kind: "corrupt" } });
    const repaired = expectOk(openStore(big, { repair: true }));
    expect(repaired.recovered.objects).toBeGreaterThan(10);
    repaired.store.close();
  });
});
