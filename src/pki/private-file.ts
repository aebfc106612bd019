/**
 * Writes a file that contains a key or a token: at no time can anyone but its owner read it.
 *
 * The text is never written into an existing file, because others may have it open. It is written into a new folder beside the target,
 * synced and renamed: a reader sees the old file or the complete new one, also after a power failure.
 */
import { closeSync, fsyncSync, lstatSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { andThen, describeThrown, err, fromThrowing, type Result } from "#base";

const OWNER_ONLY = 0o600;

export function writePrivateFile(path: string, text: string): Result<void, string> {
  const failed = (thrown: unknown) => `${path} cannot be written: ${describeThrown(thrown)}`;
  return andThen(
    fromThrowing(() => lstatSync(path, { throwIfNoEntry: false }), failed),
    (target) => {
      const kind = target === undefined ? undefined : unsupportedKind(target);
      if (kind !== undefined) return err(`${path} is ${kind}; give the path of a regular file, or one that does not exist yet`);
      return andThen(
        fromThrowing(() => mkdtempSync(join(dirname(path), `.${basename(path)}-`)), failed),
        (folder) => {
          const written = replaceFrom(folder, { path, text, target });
          const removed = fromThrowing(() => rmSync(folder, { recursive: true, force: true }), failed);
          return written.ok ? removed : written;
        },
      );
    },
  );
}

type Replacement = { readonly path: string; readonly text: string; readonly target: Stats | undefined };

function replaceFrom(folder: string, { path, text, target }: Replacement): Result<void, string> {
  // mkdtemp creates the folder with mode 0700, so only this user can access it
  const owner = fromThrowing(() => lstatSync(folder).uid, describeThrown);
  if (!owner.ok) return owner;
  if (target !== undefined && target.uid !== owner.value)
    return err(`${path} belongs to another user (${target.uid}); delete it, or give another path`);
  const replace = () => {
    const file = join(folder, "new");
    writeFileSync(file, text, { mode: OWNER_ONLY, flag: "wx", flush: true });
    renameSync(file, path);
    syncFolder(dirname(path));
  };
  return fromThrowing(replace, (thrown) => `${path} cannot be written: ${describeThrown(thrown)}`);
}

/** A new name survives a power failure only after a sync of its folder. Some systems cannot sync a folder, which is no error. */
function syncFolder(path: string): void {
  fromThrowing(() => {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }, describeThrown);
}

/** Undefined for a regular file. */
export function unsupportedKind(target: Stats): string | undefined {
  if (target.isFile()) return undefined;
  if (target.isSymbolicLink()) return "a symbolic link";
  if (target.isDirectory()) return "a folder";
  return target.isFIFO() ? "a named pipe" : "a device";
}
