/**
 * The process that test/stories/store-kill.test.ts kills: opens the store in the given folder and writes as fast as it can. After
 * each write it records the acknowledgement in a file; every recorded write must stay in the store.
 *
 * Arguments: data folder, file of acknowledgements, seed.
 */
import { openSync, writeSync } from "node:fs";
import { createLogger, expectOk, seededRandom, systemClock } from "#base";
import { openPersistentStore } from "#kube-server";
import { acknowledgement, KILL_COLLECTION, killObject } from "./kill-objects.ts";

const [dataDir = "", acknowledgements = "", seed = "1"] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const notes = openSync(acknowledgements, "w");
const logger = createLogger((level, message, fields) => level === "warn" && console.error(message, JSON.stringify(fields)));
// small logs, so that kills often happen while a snapshot is written or old files are removed
const { store } = expectOk(openPersistentStore({ dataDir, clock: systemClock, logger, snapshotAfterBytes: 40_000 }));
writeSync(notes, `open ${store.revision}\n`);

let seen = store.revision;
expectOk(store.watch({ collection: KILL_COLLECTION, from: seen, onEvent: ({ revision }) => follow(revision) }));
for (;;) write();

function write(): void {
  const key = `load/${Math.floor(random() * 60)}`;
  const current = store.get(KILL_COLLECTION, key);
  const text = "x".repeat(Math.floor(random() * 4_000));
  const deletes = current !== undefined && random() < 0.2;
  const object = deletes ? undefined : (revision: number) => killObject(key, revision, text);
  expectOk(store.write({ collection: KILL_COLLECTION, key, expected: current?.revision, object }));
  writeSync(notes, acknowledgement({ revision: store.revision, key, deleted: deletes }));
}

function follow(revision: number): void {
  if (revision !== seen + 1) throw new Error(`a watcher at revision ${seen} received revision ${revision}`);
  seen = revision;
}
