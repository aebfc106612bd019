/**
 * Builds the missing binaries with Go into the cache, once.
 *
 * Each is built under another name, run to print its version, and only then renamed: a file with its proper name is complete, and a run
 * after an interrupted one continues where it stopped.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "#base";
import { runProgram } from "../process/run-program.ts";
import { withLock } from "./build-lock.ts";
import { missingBinaries } from "./find-binaries.ts";
import { goEnvironment } from "./go.ts";
import { buildFolder } from "./patched-modules.ts";
import { BINARIES, type Binary } from "./versions.ts";

export type BuildOptions = {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** The programs; by default those that every story needs. */
  readonly binaries?: readonly Binary[];
  /** The interval of progress messages of a long build. */
  readonly everyMs?: number;
};

const UNFINISHED = ".unfinished-";

export async function buildBinaries(options: BuildOptions): Promise<Result<void, string>> {
  const { folder, say, binaries = BINARIES } = options;
  await mkdir(folder, { recursive: true });
  const onWait = () => say("another run is building the same binaries; waiting for it");
  return withLock(join(folder, ".lock"), onWait, async () => {
    await removeUnfinished(folder);
    const missing = await missingBinaries(folder, binaries);
    const minutes = missing.reduce((sum, binary) => sum + binary.minutes, 0);
    const programs = missing.length === 1 ? "1 program" : `${missing.length} programs`;
    if (missing.length > 0) say(`building ${programs} into ${folder}: about ${minutes} minutes on 2 cores, and only once`);
    for (const [index, binary] of missing.entries()) {
      const built = await buildOne(binary, `${index + 1} of ${missing.length}`, options);
      if (!built.ok) return built;
    }
    return ok(undefined);
  });
}

async function buildOne(binary: Binary, position: string, options: BuildOptions): Promise<Result<void, string>> {
  const { folder, environment, say, everyMs = 15_000 } = options;
  const what = `${binary.name} ${binary.version}`;
  say(`building ${what} (${position}, about ${binary.minutes} min)`);
  const began = performance.now();
  const elapsed = () => `${Math.round((performance.now() - began) / 1_000)} s`;
  const unfinished = join(folder, `${UNFINISHED}${randomUUID()}`);
  const verb = binary.build === "program" ? ["build"] : ["test", "-c"];
  const args = [...verb, "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", binary.ldflags, "-o", unfinished, binary.package];
  const ticking = setInterval(() => say(`still building ${what}: ${elapsed()} of about ${binary.minutes} min`), everyMs);
  const cwd = await buildFolder(binary.module, folder, environment);
  const ran = cwd.ok ? await runProgram("go", args, { cwd: cwd.value, env: goEnvironment(environment) }) : { code: 1, stderr: cwd.error };
  clearInterval(ticking);
  if (ran.code !== 0) return err(`go could not build ${what}:\n${lastLines(ran.stderr, 15)}`);
  const asked = await runProgram(unfinished, binary.versionArgs, { cwd: folder });
  const isRight = binary.prints === undefined ? asked.stdout.includes(binary.version) : asked.stderr.includes(binary.prints);
  if (asked.code !== 0 || !isRight) {
    return err(`${what} was built but does not run here: ${lastLines(asked.stderr + asked.stdout, 5)}`);
  }
  await rename(unfinished, join(folder, binary.name));
  say(`built ${what} in ${elapsed()}`);
  return ok(undefined);
}

/** Files of a run that was killed. No other run is building: this one holds the lock. */
async function removeUnfinished(folder: string): Promise<void> {
  const files = (await readdir(folder)).filter((file) => file.startsWith(UNFINISHED));
  await Promise.all(files.map((file) => rm(join(folder, file), { force: true })));
}

function lastLines(text: string, count: number): string {
  return text.trimEnd().split("\n").slice(-count).join("\n");
}
