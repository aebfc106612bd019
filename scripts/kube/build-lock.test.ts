import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withLock } from "./build-lock.ts";

const quick = { touchMs: 5, staleMs: 60_000, lookMs: 1 };
let folder = "";
let lock = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lattice-lock-"));
  lock = join(folder, ".lock");
});
afterEach(() => rm(folder, { recursive: true }));

test("two never work at the same time, and the waiting one reports it once", async () => {
  let inside = 0;
  let most = 0;
  let waits = 0;
  const work = async () => {
    most = Math.max(most, ++inside);
    for (let turns = 0; turns < 20; turns++) await turn();
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => withLock(lock, () => waits++, work, quick)));
  expect({ most, waits, left: existsSync(lock) }).toEqual({ most: 1, waits: 2, left: false });
});

test("a lock that is no longer touched is taken over", async () => {
  await writeFile(lock, "a run that was killed");
  const longAgo = new Date(Date.now() - 120_000);
  await utimes(lock, longAgo, longAgo);
  expect(
    await withLock(
      lock,
      () => {},
      async () => "worked",
      quick,
    ),
  ).toBe("worked");
});

test("the lock is released when the work throws", async () => {
  const failing = withLock(
    lock,
    () => {},
    () => Promise.reject(new Error("no")),
    quick,
  );
  await expect(failing).rejects.toThrow("no");
  expect(existsSync(lock)).toBe(false);
});

test("a lock that another run took over is not released", async () => {
  await withLock(
    lock,
    () => {},
    () => writeFile(lock, "another run"),
    quick,
  );
  expect(await readFile(lock, "utf8")).toBe("another run");
});

test("a folder that cannot be written to is an error, not a wait", async () => {
  await expect(
    withLock(
      join(folder, "missing", ".lock"),
      () => {},
      async () => {},
      quick,
    ),
  ).rejects.toThrow("ENOENT");
});
