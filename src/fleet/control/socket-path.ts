/**
 * Where the control socket is: in the folder of the fleet. A Unix socket's path has about 100 characters at most; for a longer one it is in a
 * private folder below the system's folder for temporary files, named after the fleet's folder.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { describeThrown, err, fromThrowing, ok, sha256Hex, type Result } from "#base";
import { createFolder } from "#pki";
import type { FleetFolder } from "../fleet-types.ts";

/** macOS has 104 with the final NUL, Linux 108. */
const MAX_PATH_BYTES = 103;
const NAME = "control.sock";
const OTHERS = 0o077;

export type SocketPathOptions = { readonly temporary: string; readonly userId: number | undefined };

export function controlSocketPath({ path }: Pick<FleetFolder, "path">, { temporary, userId }: SocketPathOptions): Result<string, string> {
  const inFolder = join(path, NAME);
  if (Buffer.byteLength(inFolder) <= MAX_PATH_BYTES) return ok(inFolder);
  const folder = join(temporary, `lattice-${userId ?? "user"}-${sha256Hex(path).slice(0, 16)}`);
  const made = createFolder(folder, 0o700);
  if (!made.ok) return made;
  // another user may have created it before
  const found = fromThrowing(() => lstatSync(folder), describeThrown);
  const isOurs =
    found.ok && found.value.isDirectory() && (found.value.mode & OTHERS) === 0 && (userId === undefined || found.value.uid === userId);
  return isOurs
    ? ok(join(folder, NAME))
    : err(`${folder} belongs to another user, or others can access it; delete it, or choose a folder with a shorter path`);
}
