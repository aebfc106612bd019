/**
 * Creates a folder and its missing parents, one `mkdir` each.
 *
 * Node's own recursive mkdir is not used: where the system returns ENOENT below an existing folder (/proc), it never returns.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";

export type FolderFiles = { readonly mkdirSync: typeof mkdirSync; readonly statSync: typeof statSync };

const nodeFiles: FolderFiles = { mkdirSync, statSync };

/** `mode` is set on every created folder. An existing folder is not changed. */
export function createFolder(path: string, mode: number, files: FolderFiles = nodeFiles): Result<void, string> {
  const missing: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    const kind = kindOf(files, folder);
    if (kind === "other") return err(`${notAFolder(path, folder)}; choose a folder, or a path where one can be created`);
    if (kind === "folder") break;
    missing.unshift(folder);
    if (dirname(folder) === folder) break;
  }
  for (const folder of missing) {
    const made = fromThrowing(() => files.mkdirSync(folder, { mode }), describeThrown);
    // another process may have created it in between
    if (!made.ok && kindOf(files, folder) !== "folder") return err(`${path} cannot be created: ${made.error}; choose another folder`);
  }
  return ok(undefined);
}

function kindOf(files: FolderFiles, path: string): "folder" | "other" | "missing" {
  // stat errors (a parent is a file, or not accessible) are reported for the parent or by mkdir
  const found = fromThrowing(() => files.statSync(path, { throwIfNoEntry: false }), describeThrown);
  if (!found.ok || found.value === undefined) return "missing";
  return found.value.isDirectory() ? "folder" : "other";
}

function notAFolder(path: string, found: string): string {
  return path === found ? `${path} is not a folder` : `${path} cannot be created: ${found} is not a folder`;
}
