/**
 * Finds the binaries: in a folder that the user names, or in the cache of builds.
 *
 * A folder of the user that lacks a program is an error. `KUBEBUILDER_ASSETS` is different: envtest sets it for other projects and has no
 * controller manager, so an incomplete one is skipped with a note.
 */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cacheFolder } from "../process/cache-folder.ts";
import { runProgram } from "../process/run-program.ts";
import { BINARIES, KUBE_VERSION, type Binary } from "./versions.ts";

export type Source =
  | { readonly kind: "given"; readonly folder: string; readonly by: string }
  | { readonly kind: "incomplete"; readonly folder: string; readonly by: string; readonly missing: readonly string[] }
  | { readonly kind: "cache"; readonly folder: string; readonly complete: boolean; readonly note?: string };

export async function findBinaries(named: string | undefined, environment: NodeJS.ProcessEnv): Promise<Source> {
  const asked = [
    { folder: named, by: "--bin" },
    { folder: environment["LATTICE_KUBE_BIN"], by: "LATTICE_KUBE_BIN" },
  ].find(({ folder }) => isSet(folder));
  if (asked?.folder !== undefined) {
    const folder = resolve(asked.folder);
    const missing = await missingNames(folder);
    return missing.length === 0 ? { kind: "given", folder, by: asked.by } : { kind: "incomplete", folder, by: asked.by, missing };
  }
  const assets = environment["KUBEBUILDER_ASSETS"];
  const missing = isSet(assets) ? await missingNames(assets) : [];
  if (isSet(assets) && missing.length === 0) return { kind: "given", folder: resolve(assets), by: "KUBEBUILDER_ASSETS" };
  const folder = binaryCache(environment);
  const complete = (await missingBinaries(folder)).length === 0;
  return isSet(assets)
    ? { kind: "cache", folder, complete, note: `KUBEBUILDER_ASSETS (${assets}) lacks ${missing.join(", ")} and is not used` }
    : { kind: "cache", folder, complete };
}

export function binaryCache(environment: NodeJS.ProcessEnv): string {
  return resolve(cacheFolder(environment), `kube-${KUBE_VERSION}`, "bin");
}

export async function missingBinaries(folder: string, binaries = BINARIES): Promise<readonly Binary[]> {
  const present = await Promise.all(binaries.map(({ name }) => isExecutable(join(folder, name))));
  return binaries.filter((_, index) => !present[index]);
}

/** Notes for readers of the results: binaries of other versions than the lane was written for. */
export async function otherVersions(folder: string): Promise<readonly string[]> {
  const notes = await Promise.all(
    BINARIES.map(async ({ name, version, versionArgs }) => {
      const { stdout } = await runProgram(join(folder, name), versionArgs, { cwd: folder });
      const actual = /\d+\.\d+\.\d+/.exec(stdout)?.[0];
      return actual === version ? [] : [`${name} is ${actual ?? "of an unknown version"}; the stories were written for ${version}`];
    }),
  );
  return notes.flat();
}

async function missingNames(folder: string): Promise<readonly string[]> {
  return (await missingBinaries(folder)).map(({ name }) => name);
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** An empty variable counts as not set, as in shell scripts. */
function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
