/** A path for messages: relative where that is shorter. */
import { relative } from "node:path";

export function shortPath(cwd: string, path: string): string {
  const near = relative(cwd, path);
  return near.startsWith("..") ? path : near === "" ? "." : near;
}
