/**
 * A build with the key of the sources that it has read (scripts/clone/sources.cjs).
 *
 * The sources may change while the build runs. Their stamps, which change with every write, are compared before and after; if they differ, it is
 * unknown which version was read, and the build is repeated.
 */
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { relative, resolve } from "node:path";
import type { Result } from "#base";
import { projectRoot } from "../process/project.ts";

type Sources = { readonly root: string; /** Relative to the root. */ readonly dependencies: readonly string[] };

/** CommonJS without types, because run.cjs needs it in any Node. */
type SourcesModule = {
  readonly keyOfSources: (sources: Sources & { readonly settings: readonly string[] }) => string;
  readonly listSources: (root: string) => readonly string[];
  readonly settingsOf: (root: string, nodeVersion: string) => readonly string[];
  readonly stampOfSources: (sources: Sources) => string;
};

const { keyOfSources, listSources, settingsOf, stampOfSources } = createRequire(import.meta.url)("../clone/sources.cjs") as SourcesModule;

export type KeyedBuild = { readonly key: string; /** Files of packages that were read. */ readonly dependencies: readonly string[] };

const MOST_ATTEMPTS = 5;

export function keyOfClone(dependencies: readonly string[]): string {
  return keyOfSources({ root: projectRoot, settings: settingsOf(projectRoot, process.versions.node), dependencies });
}

/** `build` gives the files that it has read, as absolute paths. `problem` makes an error of a sentence. */
export async function buildWithKey<E>(
  build: () => Promise<Result<readonly string[], E>>,
  problem: (sentence: string) => E,
): Promise<Result<KeyedBuild, E>> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const started = Date.now();
    const stamp = stampOfSources({ root: projectRoot, dependencies: [] });
    const built = await build();
    const dependencies = built.ok ? built.value.filter(isDependency).map((file) => relative(projectRoot, file)) : [];
    const key = keyOfClone(dependencies);
    const changed =
      stampOfSources({ root: projectRoot, dependencies: [] }) !== stamp || dependencies.some((file) => changedSince(file, started));
    if (changed) continue;
    if (!built.ok) return built;
    const unknown = unlisted(built.value);
    if (unknown === undefined) return { ok: true, value: { key, dependencies } };
    return { ok: false, error: problem(`${unknown} is part of the program, but not of the sources that scripts/clone/sources.cjs lists`) };
  }
  return { ok: false, error: problem("the sources changed during each of several attempts to build them") };
}

function isDependency(file: string): boolean {
  return file.replaceAll("\\", "/").includes("/node_modules/");
}

/** By the time that no program can set. They were not known before the build, so there is no stamp to compare. */
function changedSince(file: string, time: number): boolean {
  return (statSync(resolve(projectRoot, file), { throwIfNoEntry: false })?.ctimeMs ?? time) >= time;
}

function unlisted(files: readonly string[]): string | undefined {
  const listed = new Set(listSources(projectRoot).map((file) => resolve(projectRoot, file)));
  return files.find((file) => !isDependency(file) && !listed.has(file));
}
