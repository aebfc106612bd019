/** Writes and reads the file of a backup piece by piece. It is private, and has its name only when it is complete. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describeThrown, err, fromThrowing, ok, type Result } from "#base";
import { unsupportedKind, type ByteSource } from "#pki";
import { linkNew, syncFolder } from "../durable-files.ts";

export type SealedOutput = {
  /** Replace an existing file. */
  readonly force: boolean;
  readonly seal: (write: (bytes: Uint8Array) => Result<void, string>) => Promise<Result<void, string>>;
};

/** The number of bytes. */
export async function writeSealedFile(path: string, { force, seal }: SealedOutput): Promise<Result<number, string>> {
  const failed = (thrown: unknown) => `cannot be written: ${describeThrown(thrown)}`;
  const target = fromThrowing(() => lstatSync(path, { throwIfNoEntry: false }), failed);
  if (!target.ok) return target;
  const kind = target.value === undefined ? undefined : unsupportedKind(target.value);
  if (kind !== undefined) return err(`is ${kind}; name a regular file, or one that does not exist yet`);
  if (target.value !== undefined && !force) return err(EXISTS);
  // in a folder of its own: whatever is beside the target is left alone
  const folder = fromThrowing(() => mkdtempSync(join(dirname(path), `.${basename(path)}-`)), failed);
  if (!folder.ok) return folder;
  const written = await writeThrough(join(folder.value, "partial"), path, { force, seal });
  rmSync(folder.value, { recursive: true, force: true });
  return written;
}

async function writeThrough(partial: string, path: string, { force, seal }: SealedOutput): Promise<Result<number, string>> {
  const failed = (thrown: unknown) => `cannot be written: ${describeThrown(thrown)}`;
  const opened = fromThrowing(() => openSync(partial, "wx", 0o600), failed);
  if (!opened.ok) return opened;
  let bytes = 0;
  const write = (piece: Uint8Array) => {
    bytes += piece.length;
    return fromThrowing(() => writeAll(opened.value, piece), failed);
  };
  const sealed = await seal(write);
  const ended = sealed.ok ? fromThrowing(() => fsyncSync(opened.value), failed) : sealed;
  closeSync(opened.value);
  const named = ended.ok ? fromThrowing(() => nameFile(partial, path, force), failed) : ended;
  if (!named.ok) return named;
  return named.value ? ok(bytes) : err(EXISTS);
}

const EXISTS = "exists already; name another file, or replace it with --force";

/** False: a file of that name was created meanwhile. */
function nameFile(partial: string, path: string, force: boolean): boolean {
  const isNew = force ? undefined : linkNew(partial, path);
  if (isNew === undefined) renameSync(partial, path);
  // a folder that cannot be read cannot be synced
  if (isNew !== false)
    fromThrowing(
      () => syncFolder(dirname(path)),
      () => undefined,
    );
  return isNew !== false;
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

/** Reads a regular file from its beginning; `read` gets as many bytes as it asks for, fewer only at the end. */
export async function readSealedFile<T>(
  path: string,
  read: (source: ByteSource) => Promise<Result<T, string>>,
): Promise<Result<T, string>> {
  const failed = (thrown: unknown) => `cannot be read: ${describeThrown(thrown)}`;
  const opened = fromThrowing(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), failed);
  if (!opened.ok) return opened;
  try {
    if (!fstatSync(opened.value).isFile()) return err("is no regular file");
    return await read((bytes) => fromThrowing(() => readUpTo(opened.value, bytes), failed));
  } finally {
    closeSync(opened.value);
  }
}

function readUpTo(file: number, bytes: number): Uint8Array {
  const piece = new Uint8Array(bytes);
  let length = 0;
  while (length < bytes) {
    const read = readSync(file, piece, length, bytes - length, null);
    if (read === 0) break;
    length += read;
  }
  return piece.subarray(0, length);
}
