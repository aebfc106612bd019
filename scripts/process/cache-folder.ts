/** The folder for downloads, kept between runs. scripts/clone/private-folder.cjs has the same rule, in syntax for old Nodes. */
import { homedir } from "node:os";
import { join } from "node:path";

export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return env["LATTICE_CACHE"] || join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "lattice");
}
