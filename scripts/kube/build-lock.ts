/**
 * A lock file, so that two runs that start together build once.
 *
 * Its owner touches it regularly, and a lock that was not touched for a while is taken over: a process id has no meaning between containers
 * that share a cache. Two waiters may take over at the same time and both build; that only costs time, because finished binaries are
 * renamed into place.
 */
import { randomUUID } from "node:crypto";
import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

export type LockTimes = { readonly touchMs: number; readonly staleMs: number; readonly lookMs: number };

const TIMES: LockTimes = { touchMs: 5_000, staleMs: 30_000, lookMs: 500 };

/** Runs `work` with the lock. `onWait` is called once, if another run has the lock. */
export async function withLock<T>(file: string, onWait: () => void, work: () => Promise<T>, times: LockTimes = TIMES): Promise<T> {
  const owner = randomUUID();
  for (let waited = false; !(await take(file, owner)); waited = true) {
    if (!waited) onWait();
    if (await isStale(file, times.staleMs)) await rm(file, { force: true });
    else await delay(times.lookMs);
  }
  const touching = setInterval(() => void touch(file), times.touchMs);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    await release(file, owner);
  }
}

async function take(file: string, owner: string): Promise<boolean> {
  try {
    await writeFile(file, owner, { flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function isStale(file: string, staleMs: number): Promise<boolean> {
  const touched = await unlessGone(stat(file));
  return touched !== undefined && Date.now() - touched.mtimeMs > staleMs;
}

async function touch(file: string): Promise<void> {
  const now = new Date();
  await unlessGone(utimes(file, now, now));
}

/** Only if it is still ours: a run that took over a stale lock has written another name into it. */
async function release(file: string, owner: string): Promise<void> {
  if ((await unlessGone(readFile(file, "utf8"))) === owner) await rm(file, { force: true });
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
