/**
 * Reads the log of a container from its file: the last lines without reading the whole file, and new lines while they are written.
 *
 * A follower checks the file at intervals of the injected clock. It continues at the beginning when the file was truncated or replaced, and
 * ends when the process that writes it has ended.
 */
import { Buffer } from "node:buffer";
import { open, stat, type FileHandle } from "node:fs/promises";
import { sleep, type Clock } from "#base";
import type { ContainerLogOptions } from "../pod-processes.ts";
import { LINE_BREAK } from "./log-entry.ts";
import { LogSelection } from "./log-selection.ts";

export type LogReading = {
  readonly path: string;
  readonly options: Omit<ContainerLogOptions, "container" | "previous">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether the whole output is in the file: its process has ended. A follower ends then. */
  readonly isComplete: () => boolean;
};

const BLOCK_BYTES = 65_536;
const CHECK_INTERVAL_MS = 250;

/** In chunks of about BLOCK_BYTES, each read when the one before was taken. Rejects when the file cannot be opened or read. */
export async function* readContainerLog(reading: LogReading): AsyncGenerator<Uint8Array, void> {
  const { path, options, signal } = reading;
  const selection = new LogSelection(options);
  let file: FileHandle | undefined = await open(path, "r");
  try {
    const { size } = await file.stat();
    let from = options.tailLines === undefined ? 0 : await tailStart(file, size, options.tailLines);
    // without `follow`, lines that are written meanwhile do not count: the response ends
    const until = options.follow ? Infinity : size;
    while (file !== undefined && !signal.aborted && !selection.isFull) {
      const wasComplete = reading.isComplete();
      const block = await readBlock(file, from, Math.min(BLOCK_BYTES, until - from));
      from += block.length;
      const output = selection.next(block);
      if (output.length > 0) yield output;
      if (block.length > 0) continue;
      const change: FileChange = options.follow ? await changeOf(file, path, from) : "none";
      if (change === "truncated" || change === "replaced") {
        selection.restart();
        from = 0;
      }
      if (change === "replaced") file = await reopen(file, path);
      if (change === "none" && (!options.follow || wasComplete || !(await sleep(reading.clock, CHECK_INTERVAL_MS, signal)))) break;
    }
    const rest = selection.end();
    if (rest.length > 0 && !signal.aborted) yield rest;
  } finally {
    await file?.close();
  }
}

async function readBlock(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
  return buffer.subarray(0, bytesRead);
}

type FileChange = "none" | "longer" | "truncated" | "replaced";

async function changeOf(file: FileHandle, path: string, read: number): Promise<FileChange> {
  // before the size of the open file: a file that was replaced gets no more output, so that its last entries are not missed
  const current = await stat(path).catch(() => undefined);
  const own = await file.stat();
  if (own.size !== read) return own.size < read ? "truncated" : "longer";
  // a file that was moved away may have no successor yet
  return current === undefined || (current.ino === own.ino && current.dev === own.dev) ? "none" : "replaced";
}

async function reopen(file: FileHandle, path: string): Promise<FileHandle | undefined> {
  await file.close();
  return open(path, "r").catch(() => undefined);
}

/** Where the last lines begin; blocks are read from the end. */
async function tailStart(file: FileHandle, size: number, lines: number): Promise<number> {
  if (lines === 0) return size;
  let left = lines + 1; // the line break before the first of them
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = await readBlock(file, start, end - start);
    for (let at = block.lastIndexOf(LINE_BREAK); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(LINE_BREAK, at - 1)) {
      left -= 1;
      if (left === 0) return start + at + 1;
    }
  }
  return 0;
}
