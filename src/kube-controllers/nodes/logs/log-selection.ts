/**
 * The part of a log that a client asked for, from the bytes of its file in blocks of any size. It keeps at most one entry in memory.
 *
 * Lines that are not entries are left out, as a kubelet does: a write may have been interrupted.
 */
import { Buffer } from "node:buffer";
import { ENTRY_BYTES, HEAD_BYTES, LINE_BREAK, parseEntry } from "./log-entry.ts";

export type LogSelectionOptions = {
  /** The time of a line before its text. */
  readonly timestamps: boolean;
  /** Milliseconds since the epoch: earlier entries are left out. */
  readonly since?: number | undefined;
  readonly limitBytes?: number | undefined;
};

const LONGEST_LINE = ENTRY_BYTES + HEAD_BYTES;
const NOTHING = Buffer.alloc(0);
const END_OF_LINE = Buffer.from([LINE_BREAK]);

export class LogSelection {
  readonly #options: LogSelectionOptions;
  #remaining: number;
  /** The beginning of a line whose end is in the next block. */
  #unfinished: Buffer = NOTHING;
  /** The rest of a line that is too long for an entry is skipped. */
  #skipping = false;
  #atLineStart = true;

  constructor(options: LogSelectionOptions) {
    this.#options = options;
    this.#remaining = options.limitBytes ?? Infinity;
  }

  /** The limit is reached: no more output follows. */
  get isFull(): boolean {
    return this.#remaining === 0;
  }

  /** The output for the next bytes of the file. */
  next(block: Buffer): Buffer {
    const output: Buffer[] = [];
    let at = 0;
    for (let end = block.indexOf(LINE_BREAK); end >= 0; end = block.indexOf(LINE_BREAK, at)) {
      output.push(...this.#line(block.subarray(at, end), true));
      at = end + 1;
    }
    this.#keep(block.subarray(at));
    return Buffer.concat(output);
  }

  /** The output for a last line without its end. */
  end(): Buffer {
    return Buffer.concat(this.#unfinished.length === 0 ? [] : this.#line(NOTHING, false));
  }

  /** The file was replaced: what follows is the beginning of a line. */
  restart(): void {
    this.#unfinished = NOTHING;
    this.#skipping = false;
  }

  #keep(rest: Buffer): void {
    if (this.#skipping || rest.length === 0) return;
    this.#skipping = this.#unfinished.length + rest.length > LONGEST_LINE;
    this.#unfinished = this.#skipping ? NOTHING : Buffer.concat([this.#unfinished, rest]);
  }

  #line(end: Buffer, isComplete: boolean): readonly Buffer[] {
    const line = this.#unfinished.length === 0 ? end : Buffer.concat([this.#unfinished, end]);
    const isSkipped = this.#skipping || line.length > LONGEST_LINE;
    this.restart();
    const entry = isSkipped ? undefined : parseEntry(line);
    if (entry === undefined || entry.time < (this.#options.since ?? -Infinity)) return [];
    const endsLine = entry.endsLine && isComplete;
    const time = this.#options.timestamps && this.#atLineStart ? [Buffer.from(`${entry.timeText} `)] : [];
    this.#atLineStart = endsLine;
    return [...time, entry.text, ...(endsLine ? [END_OF_LINE] : [])].flatMap((part) => this.#limited(part));
  }

  #limited(part: Buffer): readonly Buffer[] {
    if (this.#remaining === 0) return [];
    const cut = part.length > this.#remaining ? part.subarray(0, this.#remaining) : part;
    this.#remaining -= cut.length;
    return [cut];
  }
}
