/**
 * A log file of bounded size: at the limit it is renamed to NAME.1, which replaces the one before, and a new one begins.
 *
 * A log must not end the process that writes it: output that cannot be written (disk full) is left out, and reported once.
 */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { describeThrown, fromThrowing, type Logger } from "#base";

export type RotatingLogOptions = { readonly path: string; readonly maxBytes?: number; readonly logger: Logger };

const MAX_BYTES = 10 * 1024 * 1024;

export class RotatingLog {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #logger: Logger;
  #file: number | undefined;
  #size = 0;
  #failed = false;

  constructor({ path, maxBytes = MAX_BYTES, logger }: RotatingLogOptions) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#logger = logger;
  }

  write(chunk: Uint8Array): void {
    const written = fromThrowing(() => this.#append(chunk), describeThrown);
    if (!written.ok && !this.#failed)
      this.#logger.warn("a log file cannot be written; its lines are lost", { path: this.#path, reason: written.error });
    if (!written.ok) this.close(); // another attempt with the next line
    this.#failed = !written.ok;
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) fromThrowing(() => closeSync(file), describeThrown);
  }

  #append(chunk: Uint8Array): void {
    let file = this.#file ?? this.#open();
    if (this.#size > 0 && this.#size + chunk.length > this.#maxBytes) {
      this.close();
      renameSync(this.#path, `${this.#path}.1`);
      file = this.#open();
    }
    for (let done = 0; done < chunk.length;) done += writeSync(file, chunk, done);
    this.#size += chunk.length;
  }

  #open(): number {
    const file = openSync(this.#path, "a", 0o600);
    this.#file = file;
    this.#size = fstatSync(file).size;
    return file;
  }
}
