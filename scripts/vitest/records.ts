/**
 * The duration and the number of tests of each file in earlier runs, for the estimate of the next one.
 *
 * The file is a cache: one that is missing or damaged is the same as none, and one that cannot be written is left out.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { FileRecord, Records } from "./progress.ts";

export function readRecords(path: string): Records {
  try {
    const parsed = JSON.parse(readFileSync(path, "utf8")) as unknown;
    return new Map(Object.entries(parsed ?? {}).filter((entry): entry is [string, FileRecord] => isRecord(entry[1])));
  } catch {
    return new Map();
  }
}

/** Files that this run left out keep their record. */
export function writeRecords(path: string, records: Records): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const merged = new Map([...readRecords(path), ...records]);
    writeFileSync(path, JSON.stringify(Object.fromEntries([...merged].toSorted(([a], [b]) => (a < b ? -1 : 1))), undefined, 1));
  } catch {
    // a folder that cannot be written costs the next run its estimate, nothing else
  }
}

function isRecord(value: unknown): value is FileRecord {
  const { ms, tests } = (value ?? {}) as Partial<Record<keyof FileRecord, unknown>>;
  return typeof ms === "number" && ms >= 0 && typeof tests === "number" && tests >= 0;
}
