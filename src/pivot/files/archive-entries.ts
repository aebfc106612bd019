/** Files in a stream of bytes: for each the length of its name, the name, the length of its content, the content. Pure. */
import { err, ok, textOfBytes, type Result } from "#base";
import { MANIFEST_FILE } from "./file-names.ts";
import { FILE_LIMITS } from "./limits.ts";
import type { SavedFile } from "./saved-objects.ts";

const LENGTH = 4;
const MOST_NAME_BYTES = 512;

export function* archiveBytes(files: Iterable<{ readonly name: string; readonly text: string }>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const { name, text } of files)
    yield joined([name, text].map((part) => encoder.encode(part)).flatMap((part) => [lengthBytes(part.length), part]));
}

function lengthBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(LENGTH);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Takes the stream in pieces of any size. Limits are checked when a length is read, before its content is kept. */
export class ArchiveReader {
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** The length of the part that is read next, once it is known. */
  #wanted = LENGTH;
  #name: string | undefined;
  #total = 0;
  readonly #files: SavedFile[] = [];

  push(bytes: Uint8Array): Result<void, string> {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    while (this.#length >= this.#wanted) {
      const taken = this.#take(joined(this.#pieces));
      if (!taken.ok) return taken;
    }
    return ok(undefined);
  }

  /** All files, once the stream has ended. */
  end(): Result<readonly SavedFile[], string> {
    return this.#length > 0 || this.#name !== undefined ? err("ends within a file") : ok(this.#files);
  }

  /** The length of a name or of a content, or the part itself. */
  #take(bytes: Uint8Array): Result<void, string> {
    const length = new DataView(bytes.buffer).getUint32(0);
    const limit = this.#limit();
    if (length > limit) return err(`has a file or a name that is larger than ${limit} bytes`);
    this.#wanted = LENGTH + length;
    let rest = bytes;
    if (bytes.length >= this.#wanted) {
      const content = bytes.subarray(LENGTH, this.#wanted);
      const kept = this.#name === undefined ? this.#takeName(content) : this.#takeContent(this.#name, content);
      if (!kept.ok) return kept;
      rest = bytes.subarray(this.#wanted);
      this.#wanted = LENGTH;
    }
    this.#pieces = [rest];
    this.#length = rest.length;
    return ok(undefined);
  }

  #limit(): number {
    if (this.#name === undefined) return MOST_NAME_BYTES;
    return this.#name === MANIFEST_FILE ? FILE_LIMITS.manifestBytes : FILE_LIMITS.fileBytes;
  }

  #takeName(bytes: Uint8Array): Result<void, string> {
    if (this.#files.length >= FILE_LIMITS.files) return err(`has more than ${FILE_LIMITS.files} files`);
    const name = textOfBytes(bytes);
    if (!name.ok) return err("has a file whose name is no text");
    this.#name = name.value;
    return ok(undefined);
  }

  #takeContent(name: string, bytes: Uint8Array): Result<void, string> {
    this.#total += bytes.length;
    if (this.#total > FILE_LIMITS.totalBytes) return err(`is larger than ${FILE_LIMITS.totalBytes} bytes`);
    this.#files.push({ name, bytes: bytes.slice() });
    this.#name = undefined;
    return ok(undefined);
  }
}
