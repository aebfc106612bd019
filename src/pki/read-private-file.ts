/**
 * Reads a file that `writePrivateFile` has written, and refuses one that others could have read or replaced: a symbolic link, a file of
 * another user, a file with permissions for others. The checks are made on the opened file, so that it cannot be exchanged in between.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { andThen, describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { unsupportedKind } from "./private-file.ts";

export type PrivateFileOptions = {
  readonly maxBytes: number;
  /** Whether others may read the file: a certificate has no secret. They may never write it. */
  readonly readableByOthers?: boolean;
};

const OTHERS_MAY_WRITE = 0o022;
const OTHERS_MAY_ACCESS = 0o077;

/** Undefined: there is no such file. */
export function readPrivateFile(path: string, options: PrivateFileOptions): Result<string | undefined, string> {
  const failed = (thrown: unknown) => `${path} cannot be read: ${describeThrown(thrown)}`;
  return andThen(
    fromThrowing(() => lstatSync(path, { throwIfNoEntry: false }), failed),
    (found) => {
      if (found === undefined) return ok(undefined);
      const kind = unsupportedKind(found);
      if (kind !== undefined) return err(`${path} is ${kind}; replace it with a regular file`);
      return andThen(
        fromThrowing(() => readChecked(path, options), failed),
        (read) => read,
      );
    },
  );
}

function readChecked(path: string, options: PrivateFileOptions): Result<string, string> {
  // without waiting: the file may have become a pipe since lstat
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const problem = problemOf(fstatSync(file), path, options);
    return problem === undefined ? ok(readFileSync(file, "utf8")) : err(`${path} ${problem}`);
  } finally {
    closeSync(file);
  }
}

function problemOf(stats: Stats, path: string, { maxBytes, readableByOthers = false }: PrivateFileOptions): string | undefined {
  const user = process.geteuid?.();
  const mode = stats.mode & 0o777;
  const octal = mode.toString(8).padStart(4, "0");
  if (user !== undefined && stats.uid !== user) {
    return `belongs to another user (${stats.uid}); run as that user, or change its owner with: chown ${user} ${path}`;
  }
  if ((mode & (readableByOthers ? OTHERS_MAY_WRITE : OTHERS_MAY_ACCESS)) !== 0) {
    const what = readableByOthers ? "written" : "read or written";
    return `can be ${what} by other users (mode ${octal}); if its content is not known to them, run: chmod 600 ${path}`;
  }
  if (stats.size > maxBytes) return `has ${stats.size} bytes, and at most ${maxBytes} are read; restore it from a copy`;
  return undefined;
}
