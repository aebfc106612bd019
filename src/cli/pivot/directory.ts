/**
 * The directory of an export on disk. Files have keys of clusters: the directory is created with mode 0700, files with 0600. Only regular files
 * directly in it are read: a link or a folder in it is an error, so that no name leads out of it.
 */
import { lstatSync, mkdtempSync, opendirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { createFolder } from "#pki";
import { FILE_LIMITS, isExportFile, isOwnFile, type ExportFolder } from "#pivot";
import { isExisting, linkNew, syncFolder } from "../durable-files.ts";
import { readRegularFile } from "../regular-file.ts";

/** A file that is being written; what a killed process has left of it is written anew. Names that begin with it are not listed. */
const PARTIAL = ".lattice-partial";

export function exportDirectory(path: string): ExportFolder {
  const failed = (thrown: unknown) => `${path} cannot be written: ${describeThrown(thrown)}`;
  return {
    list: () => listFiles(path),
    read: (name, maxBytes) => readRegularFile(join(path, name), { bytes: maxBytes, within: path }),
    write: (name, text) => {
      if (!isExportFile(name)) return err(`${name} is no name of a file of an export`);
      const made = createFolder(path, 0o700);
      return made.ok ? fromThrowing(() => replaceFile(path, name, text), failed) : made;
    },
    create: (name, text) => {
      if (!isExportFile(name)) return err(`${name} is no name of a file of an export`);
      const made = createFolder(path, 0o700);
      return made.ok ? fromThrowing(() => createFile(path, name, text), failed) : made;
    },
    remove: (name) =>
      fromThrowing(() => {
        rmSync(join(path, name), { force: true });
        if (isOwnFile(name)) syncFolder(path);
      }, failed),
  };
}

/** A receipt, or an abort, of an export whose directory is elsewhere or lost. */
export const NO_DIRECTORY: ExportFolder = {
  list: () => ok(undefined),
  read: () => err("there is no directory"),
  write: () => err("name the directory with --directory"),
  create: () => err("name the directory with --directory"),
  remove: () => ok(undefined),
};

/** A reader sees the old file or the whole new one, also after a power failure. */
function replaceFile(path: string, name: string, text: string): void {
  const partial = join(path, PARTIAL);
  rmSync(partial, { force: true });
  writeFileSync(partial, text, { mode: 0o600, flag: "wx", flush: true });
  renameSync(partial, join(path, name));
  // names of objects' files need no sync of their own: the manifest, which follows them, has their hashes
  if (isOwnFile(name)) syncFolder(path);
}

/** Two processes that create the same file do not see each other's content: one of them has it, and the other gets false. */
function createFile(path: string, name: string, text: string): boolean {
  const folder = mkdtempSync(join(path, `${PARTIAL}-`));
  try {
    const partial = join(folder, name);
    writeFileSync(partial, text, { mode: 0o600, flag: "wx", flush: true });
    const isNew = linkNew(partial, join(path, name)) ?? writeNew(join(path, name), text);
    syncFolder(path);
    // the directory may have been created for this file, in one that cannot be read
    if (isNew)
      fromThrowing(
        () => syncFolder(dirname(path)),
        () => undefined,
      );
    return isNew;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeNew(to: string, text: string): boolean {
  try {
    writeFileSync(to, text, { mode: 0o600, flag: "wx", flush: true });
    return true;
  } catch (thrown) {
    if (isExisting(thrown)) return false;
    throw thrown;
  }
}

function listFiles(path: string): Result<readonly { readonly name: string; readonly bytes: number }[] | undefined, string> {
  const unreadable = (thrown: unknown) => `${path} cannot be read: ${describeThrown(thrown)}`;
  const found = fromThrowing(() => lstatSync(path, { throwIfNoEntry: false }), unreadable);
  if (!found.ok) return found;
  if (found.value === undefined) return ok(undefined);
  if (!found.value.isDirectory()) return err(`${path} is no directory`);
  const listed = fromThrowing(() => readNames(path), unreadable);
  if (!listed.ok) return listed;
  if (listed.value === undefined) return err(`${path} has more than ${FILE_LIMITS.files} files`);
  const files: { name: string; bytes: number }[] = [];
  for (const name of listed.value) {
    const stats = fromThrowing(() => lstatSync(join(path, name)), unreadable);
    if (!stats.ok) return stats;
    if (!stats.value.isFile()) return err(`${join(path, name)} is no regular file; an export has nothing else`);
    files.push({ name, bytes: stats.value.size });
  }
  return ok(files.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
}

/** Undefined: there are too many. A directory is read entry by entry, so that its size is limited before it is held. */
function readNames(path: string): readonly string[] | undefined {
  const names: string[] = [];
  const folder = opendirSync(path);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (entry.name.startsWith(PARTIAL)) continue;
      names.push(entry.name);
      if (names.length > FILE_LIMITS.files + 3) return undefined;
    }
    return names;
  } finally {
    folder.closeSync();
  }
}
