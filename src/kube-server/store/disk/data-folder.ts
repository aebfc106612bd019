/** The file names in the folder of a store. Revisions are padded, so that `ls` sorts the files. */
import { join } from "node:path";
import type { StoreFiles } from "./store-files.ts";

const DIGITS = 16; // enough for the largest safe integer
const NUMBERED = /^(log|snapshot)-(\d{16})$/;
const PART = ".part";
/** Other keys are written long before the first object, so that a first start that was killed has not lost any. */
const MARK = /^(cut|damaged)-|^service-account\.key$/;

export type NumberedFile = { readonly name: string; readonly path: string; readonly revision: number };
export type FolderContent = {
  /** In ascending order. */
  readonly logs: readonly NumberedFile[];
  readonly snapshots: readonly NumberedFile[];
  /** Snapshots that were never finished. */
  readonly parts: readonly string[];
  /** A server has used the folder: its key, or removed bytes of a log, are present. */
  readonly marked: boolean;
};

export const logPath = (folder: string, base: number): string => join(folder, `log-${padded(base)}`);
export const snapshotPath = (folder: string, revision: number): string => join(folder, `snapshot-${padded(revision)}`);
/** The name of an incomplete file. */
export const partPath = (path: string): string => `${path}${PART}`;

export function readFolder(files: StoreFiles, folder: string): FolderContent {
  const names = files.readdirSync(folder).toSorted();
  const numbered = (kind: string) =>
    names.flatMap((name) => {
      const found = NUMBERED.exec(name);
      return found?.[1] === kind ? [{ name, path: join(folder, name), revision: Number(found[2]) }] : [];
    });
  const parts = names.filter((name) => name.endsWith(PART) && NUMBERED.test(name.slice(0, -PART.length)));
  const marked = names.some((name) => MARK.test(name));
  return { logs: numbered("log"), snapshots: numbered("snapshot"), parts: parts.map((name) => join(folder, name)), marked };
}

/** An unused name: files that were set aside are never overwritten. */
export function freePath(files: StoreFiles, folder: string, name: string): string {
  const taken = new Set(files.readdirSync(folder));
  let free = name;
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
  return join(folder, free);
}

function padded(revision: number): string {
  return String(revision).padStart(DIGITS, "0");
}
