/**
 * The log format of container runtimes, one entry per line: `2026-11-16T17:07:37.123456789Z stdout F text`.
 *
 * Tag F ends a line of the output. P does not: the line was too long for one entry, or the output ended without a line break. Texts are
 * bytes: a process may write anything.
 */
import { Buffer } from "node:buffer";
import { millisecondsOf } from "#base";

export type OutputStream = "stdout" | "stderr";

/** The longest text of an entry, as in containerd. */
export const ENTRY_BYTES = 16_384;

export const LINE_BREAK = 0x0a;
const SPACE = 0x20;
const NOTHING = Buffer.alloc(0);
const END_OF_ENTRY = Buffer.from([LINE_BREAK]);

/** Formats the output of one stream. A line without its end is kept, at most ENTRY_BYTES of it, until the rest arrives. */
export class LogFormatter {
  readonly #stream: OutputStream;
  #unfinished: Buffer = NOTHING;

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  format(chunk: Uint8Array, now: number): Buffer {
    const output = Buffer.concat([this.#unfinished, chunk]);
    const entries: Buffer[] = [];
    let at = 0;
    for (let end = output.indexOf(LINE_BREAK); at < output.length; end = output.indexOf(LINE_BREAK, at)) {
      const stop = end < 0 ? output.length : end;
      for (; stop - at > ENTRY_BYTES; at += ENTRY_BYTES) entries.push(...this.#entry("P", output.subarray(at, at + ENTRY_BYTES), now));
      if (end < 0) break;
      entries.push(...this.#entry("F", output.subarray(at, end), now));
      at = end + 1;
    }
    this.#unfinished = Buffer.from(output.subarray(at)); // a copy: a view would keep the whole chunk in memory
    return Buffer.concat(entries);
  }

  /** The output that has no line break at its end. */
  end(now: number): Buffer {
    const rest = this.#unfinished;
    this.#unfinished = NOTHING;
    return rest.length === 0 ? NOTHING : Buffer.concat(this.#entry("P", rest, now));
  }

  #entry(tag: "P" | "F", text: Buffer, now: number): readonly Buffer[] {
    return [Buffer.from(`${entryTime(now)} ${this.#stream} ${tag} `), text, END_OF_ENTRY];
  }
}

/** With nanoseconds, as a container runtime writes it. */
function entryTime(now: number): string {
  return `${new Date(now).toISOString().slice(0, -1)}000000Z`;
}

export type LogEntry = {
  readonly timeText: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly text: Buffer;
  readonly endsLine: boolean;
};

/** The longest time, stream and tag of an entry. */
export const HEAD_BYTES = 256;

/** Undefined: not an entry. `line` is without its line break; the text is a view on it. */
export function parseEntry(line: Buffer): LogEntry | undefined {
  const first = line.indexOf(SPACE);
  const second = line.indexOf(SPACE, first + 1);
  const third = line.indexOf(SPACE, second + 1);
  if (first < 0 || second < 0 || third < 0 || third > HEAD_BYTES) return undefined;
  const timeText = line.toString("latin1", 0, first);
  const time = millisecondsOf(timeText);
  const stream = line.toString("latin1", first + 1, second);
  if (Number.isNaN(time) || (stream !== "stdout" && stream !== "stderr")) return undefined;
  const [tag] = line.toString("latin1", second + 1, third).split(":");
  return { timeText, time, text: line.subarray(third + 1), endsLine: tag !== "P" };
}
