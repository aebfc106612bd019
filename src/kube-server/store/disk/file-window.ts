/** Reads a file of any size in parts: Node reads at most 2 GiB at once. */
import type { StoreFiles } from "./store-files.ts";

const BLOCK = 1024 * 1024;

export class FileWindow {
  readonly #files: StoreFiles;
  readonly #fd: number;
  readonly size: number;
  #start = 0;
  #block: Buffer = Buffer.alloc(0);

  constructor(files: StoreFiles, fd: number) {
    this.#files = files;
    this.#fd = fd;
    this.size = files.fstatSync(fd).size;
  }

  /** The returned bytes stay valid: each read uses a new buffer. */
  bytes(offset: number, length: number): Buffer {
    const from = offset - this.#start;
    if (from >= 0 && from + length <= this.#block.length) return this.#block.subarray(from, from + length);
    this.#block = this.#read(offset, Math.min(Math.max(length, BLOCK), this.size - offset));
    this.#start = offset;
    return this.#block.subarray(0, length);
  }

  indexOf(mark: Uint8Array, offset: number): number | undefined {
    for (let from = offset; from + mark.length <= this.size; from += BLOCK) {
      const block = this.bytes(from, Math.min(BLOCK + mark.length - 1, this.size - from));
      const at = block.indexOf(mark);
      if (at >= 0) return from + at;
    }
    return undefined;
  }

  #read(offset: number, length: number): Buffer {
    const block = Buffer.allocUnsafe(length);
    for (let done = 0; done < length;) {
      const got = this.#files.readSync(this.#fd, block, done, length - done, offset + done);
      if (got === 0) throw new Error("the file became shorter while it was read");
      done += got;
    }
    return block;
  }
}
