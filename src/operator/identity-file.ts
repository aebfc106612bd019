/**
 * The identity of a candidate in leader election, kept in a file: a container that restarts in the same Pod is the same candidate, so it leads
 * again at once instead of waiting until its own lease expires.
 *
 * Two processes with one identity would both lead. Therefore the file is locked while an operator runs, and the lock of a terminated process is
 * taken over. The lock is not seen on other machines: a copied file is an error of its user.
 */
import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { acquireProcessLock, err, fromThrowing, map, mapErr, ok, type Clock, type ProcessTable, type Result } from "#base";

export type IdentityFileOptions = {
  readonly path: string;
  /** The identity that is written when there is no file. */
  readonly fresh: string;
  readonly clock: Clock;
  readonly processes: ProcessTable;
};

export type KeptIdentity = {
  readonly identity: string;
  /** After this another process may use the file. */
  readonly release: () => void;
};

const FILE_MODE = 0o600;
const MAX_BYTES = 1_024;
/** The names of objects, and capitals: host names may have them. */
const IDENTITY = /^[A-Za-z0-9](?:[-._A-Za-z0-9]{0,251}[A-Za-z0-9])?$/;

/** The identity in the file; a new one is written there if the file does not exist. Errors are sentences that begin with the path. */
export function openIdentityFile({ path, fresh, clock, processes }: IdentityFileOptions): Result<KeptIdentity, string> {
  const lock = acquireProcessLock({ path: `${path}.lock`, clock, processes });
  if (!lock.ok) {
    if (lock.error.kind === "not-written") return err(`${path}: the folder ${dirname(path)} cannot be written: ${lock.error.message}`);
    const { pid, since } = lock.error;
    return err(`${path}: process ${pid} has been using this identity since ${since}; stop it, or give each operator its own file`);
  }
  const identity = readOrCreate(path, fresh);
  if (!identity.ok) lock.value.release();
  return map(identity, (value) => ({ identity: value, release: lock.value.release }));
}

function readOrCreate(path: string, fresh: string): Result<string, string> {
  const text = readSmallFile(path);
  if (!text.ok) return err(`${path} ${text.error}`);
  if (text.value === undefined) return mapErr(replaceFile(path, fresh), (problem) => `${path} cannot be written: ${problem}`);
  const identity = text.value.trim();
  if (IDENTITY.test(identity)) return ok(identity);
  const problem = identity === "" ? "is empty" : "is not the file of an identity (letters, digits, '-', '.' and '_')";
  return err(`${path} ${problem}; delete it to get a new identity, or give another path`);
}

/** Undefined: there is none. Opened without waiting: a named pipe has no writer. */
function readSmallFile(path: string): Result<string | undefined, string> {
  const opened = fromThrowing(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), systemError);
  if (!opened.ok) return opened.error.code === "ENOENT" ? ok(undefined) : err(`cannot be read: ${opened.error.message}`);
  try {
    const stats = fstatSync(opened.value);
    if (!stats.isFile()) return err("is not a regular file; give another path");
    if (stats.size > MAX_BYTES) return err("is too large for the file of an identity; give another path");
    return mapErr(
      fromThrowing(() => readFileSync(opened.value, "utf8"), systemError),
      ({ message }) => `cannot be read: ${message}`,
    );
  } finally {
    closeSync(opened.value);
  }
}

/** Written beside it, synced and renamed: a reader finds no file or the complete one, also after a crash. */
function replaceFile(path: string, identity: string): Result<string, string> {
  const draft = `${path}.new`;
  const write = () => {
    rmSync(draft, { force: true });
    const file = openSync(draft, "wx", FILE_MODE);
    try {
      writeFileSync(file, `${identity}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
    return identity;
  };
  return mapErr(fromThrowing(write, systemError), ({ message }) => message);
}

function systemError(thrown: unknown): { readonly code: string | undefined; readonly message: string } {
  const code = thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
  return { code, message: thrown instanceof Error ? thrown.message : String(thrown) };
}
