/** Deletes a folder with its content. Links are deleted and never followed; depth and number of files are bounded. */
import { lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { describeThrown, err, fromPromise, ok, type Result } from "#base";

const MAX_DEPTH = 64;
const MAX_ENTRIES = 1_000_000;

/** A path that does not exist is no error. */
export async function removeTree(path: string): Promise<Result<void, string>> {
  const removed = await fromPromise(remove(path, 0, { entries: 0 }), (thrown) => thrown);
  if (removed.ok) return ok(undefined);
  return err(removed.error instanceof TooLarge ? removed.error.message : describeThrown(removed.error));
}

class TooLarge extends Error {}

async function remove(path: string, depth: number, counted: { entries: number }): Promise<void> {
  counted.entries += 1;
  if (counted.entries > MAX_ENTRIES) throw new TooLarge(`it contains more than ${MAX_ENTRIES} files; delete it yourself`);
  const info = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (info === undefined) return;
  if (!info.isDirectory()) return unlink(path);
  if (depth >= MAX_DEPTH) throw new TooLarge(`${path} is nested more than ${MAX_DEPTH} folders deep; delete it yourself`);
  for (const name of await readdir(path)) await remove(join(path, name), depth + 1, counted);
  await rmdir(path);
}
