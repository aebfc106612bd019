/**
 * A fresh clone of this project: only the files in git, no node_modules, an empty npm cache and an empty cache of Lattice.
 */
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { listFiles } from "../../scripts/check/tree.ts";
import { projectRoot } from "../../scripts/process/project.ts";

export type Clone = { readonly root: string; readonly env: NodeJS.ProcessEnv; readonly remove: () => Promise<void> };

export async function freshClone(): Promise<Clone> {
  const home = await mkdtemp(join(tmpdir(), "lattice-clone-"));
  const root = join(home, "lattice");
  for (const file of await listFiles(projectRoot)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await copyFile(join(projectRoot, file), join(root, file));
  }
  const env = { ...withoutNpm(process.env), npm_config_cache: join(home, "npm"), LATTICE_CACHE: join(home, "cache") };
  return { root, env, remove: () => rm(home, { recursive: true, force: true }) };
}

/** `npm run` sets environment variables for this project, which the clone must not inherit. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = /^(npm_(lifecycle|package|node|execpath|command)|INIT_CWD|NODE_OPTIONS|VITEST|LATTICE_)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)));
}
