/**
 * Writes the output of a container's process into its log file. Writes are synchronous: nothing waits in memory when the disk is slow.
 *
 * A full file is moved to `N.log.1`, so that a log takes at most twice its limit; readers see the rest that is in `N.log`.
 */
import type { Buffer } from "node:buffer";
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { describeThrown, fromThrowing, type Clock, type Result } from "#base";
import { LogFormatter, type OutputStream } from "./log-entry.ts";
import { logPath, nextLogNumber, rotatedPath } from "./log-files.ts";

/** As a kubelet's default. */
const DEFAULT_LIMIT_BYTES = 10 * 1024 * 1024;

export type LogWriterOptions = {
  /** Of the container (`containerLogFolder`). */
  readonly folder: string;
  readonly clock: Clock;
  readonly limitBytes?: number | undefined;
};

export class ContainerLogWriter {
  /** Which start of the container this is, from 0. */
  readonly number: number;
  readonly path: string;
  readonly #clock: Clock;
  readonly #limitBytes: number;
  readonly #formatters = { stdout: new LogFormatter("stdout"), stderr: new LogFormatter("stderr") };
  #fd: number | undefined;

  private constructor({ folder, clock, limitBytes = DEFAULT_LIMIT_BYTES }: LogWriterOptions, number: number) {
    this.number = number;
    this.path = logPath(folder, number);
    this.#clock = clock;
    this.#limitBytes = limitBytes;
    this.#fd = openSync(this.path, "a", 0o600);
  }

  /** Begins the log of the next start. */
  static next(options: LogWriterOptions): Result<ContainerLogWriter, string> {
    const problem = (thrown: unknown) => `cannot write a log in ${options.folder}: ${describeThrown(thrown)}`;
    return fromThrowing(() => {
      mkdirSync(options.folder, { recursive: true, mode: 0o700 });
      return new ContainerLogWriter(options, nextLogNumber(options.folder));
    }, problem);
  }

  /** After an error the output is lost, and later output is tried again. */
  write(stream: OutputStream, chunk: Uint8Array): Result<void, string> {
    return this.#append(this.#formatters[stream].format(chunk, this.#clock.now()));
  }

  close(): Result<void, string> {
    const now = this.#clock.now();
    const rests = [this.#formatters.stdout, this.#formatters.stderr].map((formatter) => this.#append(formatter.end(now)));
    const closed = this.#attempt(() => this.#release());
    return rests.find((rest) => !rest.ok) ?? closed;
  }

  #append(entries: Buffer): Result<void, string> {
    return this.#attempt(() => {
      if (entries.length === 0) return;
      const fd = (this.#fd ??= openSync(this.path, "a", 0o600));
      const { size } = fstatSync(fd);
      if (size > 0 && size + entries.length > this.#limitBytes) {
        this.#rotate();
        return writeEntries((this.#fd = openSync(this.path, "a", 0o600)), entries, 0);
      }
      writeEntries(fd, entries, size);
    });
  }

  #rotate(): void {
    this.#release();
    renameSync(this.path, rotatedPath(this.path));
  }

  #release(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #attempt(run: () => void): Result<void, string> {
    return fromThrowing(run, (thrown) => `cannot write ${this.path}: ${describeThrown(thrown)}`);
  }
}

/** An entry that does not fit on the disk is removed again: the next one must begin a line. */
function writeEntries(fd: number, entries: Buffer, size: number): void {
  try {
    for (let at = 0; at < entries.length;) at += writeSync(fd, entries, at);
  } catch (thrown) {
    fromThrowing(() => ftruncateSync(fd, size), String);
    throw thrown;
  }
}
