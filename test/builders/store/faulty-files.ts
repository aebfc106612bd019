/**
 * A file system with injected faults: the process dies at the n-th modifying call (in the middle of a write), or
 * single calls fail with an error. `fsync` counts as a call and does nothing.
 */
import * as fs from "node:fs";
import type { StoreFiles } from "#kube-server";

const CHANGES = new Set([
  "chmodSync",
  "copyFileSync",
  "fsyncSync",
  "ftruncateSync",
  "linkSync",
  "mkdirSync",
  "renameSync",
  "rmSync",
  "writeFileSync",
  "writeSync",
]);
const NAMES = [...CHANGES, "closeSync", "fstatSync", "openSync", "readdirSync", "readFileSync", "readSync", "statSync"];

export class FaultyFiles {
  /** Number of modifying calls that still succeed; the process dies at the next one. */
  #left = Number.POSITIVE_INFINITY;
  readonly #failing = new Map<string, string>();
  #open = new Set<number>();
  changes = 0;
  readonly files = Object.fromEntries(NAMES.map((name) => [name, (...args: unknown[]) => this.#call(name, args)])) as unknown as StoreFiles;

  dieAfter(changes: number): void {
    this.#left = changes;
  }

  get dead(): boolean {
    return this.#left < 0;
  }

  /** Calls of this name throw this error code until `heal`. */
  fail(name: keyof StoreFiles, code: string): void {
    this.#failing.set(name, code);
  }

  heal(): void {
    this.#failing.clear();
  }

  /** Files that were opened and not closed. */
  get open(): number {
    return this.#open.size;
  }

  #call(name: string, args: unknown[]): unknown {
    if (name === "closeSync") return this.#close(args);
    if (this.dead) throw new Error("the process is dead");
    const code = this.#failing.get(name);
    if (code !== undefined) {
      if (name === "writeSync" && code === "ENOSPC") writeHalf(args); // a full disk stores the part that fits
      throw Object.assign(new Error(`${code}: injected`), { code });
    }
    if (CHANGES.has(name) || (name === "openSync" && String(args[1]).startsWith("w"))) this.#count(name, args);
    if (name === "fsyncSync") return undefined;
    const result = real(name, args);
    if (name === "openSync") this.#open.add(result as number);
    return result;
  }

  #count(name: string, args: unknown[]): void {
    this.changes += 1;
    this.#left -= 1;
    if (!this.dead) return;
    if (name === "writeSync") writeHalf(args);
    throw new Error("the process dies here");
  }

  /** The operating system closes the files of a dead process, so this also works after death. */
  #close(args: unknown[]): void {
    this.#open.delete(args[0] as number);
    real("closeSync", args);
  }
}

function writeHalf([fd, bytes, offset, length, position]: unknown[]): void {
  real("writeSync", [fd, bytes, offset, Math.floor((length as number) / 2), position]);
}

function real(name: string, args: unknown[]): unknown {
  return (fs as unknown as Record<string, (...all: unknown[]) => unknown>)[name]?.(...args);
}
