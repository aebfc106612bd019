/**
 * The package as installed in another project, without npm: the built entry point in a separate node_modules, beside the files of the
 * project. `npm pack` and npm itself are tested in test/long.
 */
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk } from "#base";
import { buildEntries, ENTRIES } from "../../scripts/build/entries.ts";
import { projectRoot } from "../../scripts/process/project.ts";
import { TEST_DIST } from "./program.ts";

export type UserProject = { readonly root: string; readonly remove: () => Promise<void> };

/** A project with the files of `folder`, and `lattice` among its modules. `also`: packages of this repository that it may use too. */
export async function projectUsingLattice(folder: string, also: readonly string[] = []): Promise<UserProject> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "lattice-user-")));
  const installed = join(root, "node_modules/@lattice-fleet/lattice");
  await mkdir(installed, { recursive: true });
  await cp(join(projectRoot, folder), root, { recursive: true });
  await writeFile(join(root, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  await writeFile(join(installed, "package.json"), await readFile(join(projectRoot, "package.json")));
  const entries = ENTRIES.filter(({ file }) => file.startsWith("kube-server."));
  if (TEST_DIST === undefined) expectOk(await buildEntries(join(installed, "dist"), entries));
  else await cp(TEST_DIST, join(installed, "dist"), { recursive: true });
  for (const name of also) await symlink(join(projectRoot, "node_modules", name), join(root, "node_modules", name));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}
