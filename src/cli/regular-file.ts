/**
 * Reads files whose names or contents may be untrusted (a pull request): regular files only, with a size limit, and optionally only inside
 * one folder. Devices are refused, and so are pipes, unless the path is an argument: `--secrets <(sops -d secrets.yaml)`.
 *
 * The checks are made on the opened file, and its path is resolved again afterwards, so that a link that is replaced in between is
 * detected.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { andThen, err, fromThrowing, mapErr, ok, textOfFile, type Result } from "#base";

const MIB = 1024 * 1024;
/** For one `source` file of a service, or a file of secrets, assertions or tokens. */
export const MAX_SMALL_FILE = MIB;
/** For one file with resources. */
export const MAX_RESOURCE_FILE = 16 * MIB;

export type ReadLimits = {
  readonly bytes: number;
  /** Only files whose real path is in this folder. */
  readonly within?: string;
  /** The path is an argument of the user: a pipe is read to its end. */
  readonly pipes?: boolean;
};

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

export function readRegularFile(path: string, limits: ReadLimits): Result<Uint8Array, string> {
  if (limits.pipes === true && isPipe(path)) return readPipe(path, limits.bytes);
  return andThen(locate(path, limits), (real) => {
    const opened = fromThrowing(() => openSync(real, FLAGS), unreadable);
    if (!opened.ok) return opened;
    try {
      return andThen(check(opened.value, real), () => readUpTo(opened.value, limits.bytes));
    } finally {
      closeSync(opened.value);
    }
  });
}

const HOW_TO_GIVE_BYTES = "convert it, or give bytes with binaryContent or data in base64";

/** Refuses bytes that are not valid UTF-8. */
export function readRegularText(path: string, limits: ReadLimits): Result<string, string> {
  const bytes = readRegularFile(path, limits);
  return bytes.ok ? mapErr(textOfFile(bytes.value), (problem) => `${problem}; ${HOW_TO_GIVE_BYTES}`) : bytes;
}

function isPipe(path: string): boolean {
  const stats = fromThrowing(() => statSync(path), unreadable);
  return stats.ok && stats.value.isFIFO();
}

function readPipe(path: string, limit: number): Result<Uint8Array, string> {
  const opened = fromThrowing(() => openSync(path, constants.O_RDONLY), unreadable);
  if (!opened.ok) return opened;
  try {
    return readUpTo(opened.value, limit);
  } finally {
    closeSync(opened.value);
  }
}

/** The real path, if it is allowed and a regular file: no other file is opened. */
function locate(path: string, { within }: ReadLimits): Result<string, string> {
  const found = fromThrowing(() => {
    const real = realpathSync(path);
    return { real, stats: lstatSync(real, { bigint: true }), folder: within === undefined ? undefined : realpathSync(within) };
  }, unreadable);
  return andThen(found, ({ real, stats, folder }) => {
    if (folder !== undefined && !isInside(folder, real)) return err("is outside the folder of the file that names it");
    return andThen(checkKind(stats), () => ok(real));
  });
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function checkKind(stats: BigIntStats): Result<void, string> {
  if (stats.isFile()) return ok(undefined);
  return err(stats.isDirectory() ? "is a folder" : "is not a regular file; standard input is read with -");
}

/** Checks that the opened file is regular, and that it is still the file at the real path. */
function check(fd: number, path: string): Result<void, string> {
  const looked = fromThrowing(() => {
    const [opened, named] = [fstatSync(fd, { bigint: true }), lstatSync(path, { bigint: true })];
    return { opened, same: opened.ino === named.ino && opened.dev === named.dev && realpathSync(path) === path };
  }, unreadable);
  return andThen(looked, ({ opened, same }) => (same ? checkKind(opened) : err("was replaced while it was read")));
}

/** Counts the bytes that are read; the size of the file is not relied on. */
function readUpTo(fd: number, limit: number): Result<Uint8Array, string> {
  const stated = Number(fstatSync(fd, { bigint: true }).size);
  if (stated > limit) return tooLarge(limit);
  let bytes = new Uint8Array(Math.max(stated, 4_096) + 1);
  let length = 0;
  for (;;) {
    const read = fromThrowing(() => readSync(fd, bytes, length, bytes.length - length, null), unreadable);
    if (!read.ok) return read;
    if (read.value === 0) return ok(bytes.subarray(0, length));
    length += read.value;
    if (length > limit) return tooLarge(limit);
    if (length === bytes.length) {
      const larger = new Uint8Array(Math.min(bytes.length * 2, limit + 1));
      larger.set(bytes);
      bytes = larger;
    }
  }
}

function tooLarge(limit: number): Result<never, string> {
  return err(`is larger than ${limit / MIB} MiB`);
}

function unreadable(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  return typeof code === "string" ? `cannot be read (${code})` : "cannot be read";
}
