/**
 * A clone of this project as a newcomer has it: the files that git would hand out, nothing beside them, no node_modules,
 * an empty npm cache and an empty cache of ours.
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

/** Under `npm run` the environment is full of what npm means for this project; the clone must not see it. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = /^(npm_(lifecycle|package|node|execpath|command)|INIT_CWD|NODE_OPTIONS|VITEST|LATTICE_)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)));
}
