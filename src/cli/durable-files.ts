/** Files that have their name only when they are whole, also after a power failure, and that replace no other one. */
import { closeSync, constants, fsyncSync, linkSync, openSync } from "node:fs";

/** Of a file system without hard links. */
const NO_LINKS: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Gives a whole file a second name. False: there is a file of that name. Undefined: the file system has no hard links. */
export function linkNew(from: string, to: string): boolean | undefined {
  try {
    linkSync(from, to);
    return true;
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "EEXIST") return false;
    if (NO_LINKS.has(code)) return undefined;
    throw thrown;
  }
}

export function isExisting(thrown: unknown): boolean {
  return codeOf(thrown) === "EEXIST";
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
}

/** The names in a folder are durable afterwards. */
export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
