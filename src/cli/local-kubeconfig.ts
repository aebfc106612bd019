/**
 * The kubeconfig that `lattice up` wrote, found in `.lattice` of the current folder or of the nearest parent folder.
 *
 * A kubeconfig can name programs to run and servers to send tokens to, and a folder may come from an untrusted source (an archive, a shared
 * disk). So a file is used only if no other user can read it, it names a server on this machine and no program, and its `lattice up` is
 * running.
 */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { err, fromThrowing, ok, type Result } from "#base";
import { readKubeconfig, type Kubeconfig } from "#kube-client";
import type { CliIo } from "./io.ts";

export type LocalKubeconfig =
  | { readonly kind: "none" }
  | { readonly kind: "stopped"; readonly folder: string }
  | { readonly kind: "unsafe"; readonly file: string; readonly why: string }
  | { readonly kind: "running"; readonly folder: string; readonly file: string };

const FOLDER = ".lattice";
const OTHERS_ACCESS = 0o077;
const OTHERS_WRITE = 0o022;

export async function findLocalKubeconfig(io: CliIo): Promise<LocalKubeconfig> {
  const folder = nearestFolder(io.cwd);
  if (folder === undefined) return { kind: "none" };
  const file = join(folder, "kubeconfig");
  const safe = await checkLocalKubeconfig(io, file);
  if (!safe.ok) return { kind: "unsafe", file, why: safe.error };
  const { fleetFolder, runningUp } = await import("#fleet");
  return (await runningUp(fleetFolder(folder))) === undefined ? { kind: "stopped", folder } : { kind: "running", folder, file };
}

function nearestFolder(start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    const folder = join(at, FOLDER);
    if (infoOf(join(folder, "kubeconfig")) !== undefined) return folder;
    if (dirname(at) === at) return undefined;
  }
}

function infoOf(path: string) {
  const info = fromThrowing(
    () => lstatSync(path),
    () => undefined,
  );
  return info.ok ? info.value : undefined;
}

/** The error is why it is not used. */
export async function checkLocalKubeconfig(io: CliIo, file: string): Promise<Result<void, string>> {
  const folder = dirname(file);
  const [folderInfo, fileInfo] = [infoOf(folder), infoOf(file)];
  if (folderInfo?.isDirectory() !== true || fileInfo?.isFile() !== true) return err("it is a symbolic link, or in one");
  const { userId } = io;
  if (userId !== undefined && [folderInfo, fileInfo].some(({ uid }) => uid !== userId)) return err("it belongs to another user");
  if ((fileInfo.mode & OTHERS_ACCESS) !== 0) return err("other users can read it");
  if ((folderInfo.mode & OTHERS_WRITE) !== 0) return err("other users can write to its folder");
  const config = await readKubeconfig({ path: file, env: {}, home: io.home, clock: io.clock });
  return config.ok ? checkContent(config.value) : err("it cannot be read");
}

function checkContent({ clusters, users }: Kubeconfig): Result<void, string> {
  for (const { value } of users.values()) {
    if (value.exec !== undefined || value.authProvider !== undefined) return err("it names a program that gets credentials");
    if (value.tokenFile !== undefined) return err("it names a token file");
  }
  for (const { value } of clusters.values()) {
    const host = URL.parse(value.server ?? "")?.hostname ?? "";
    if (host !== "127.0.0.1") return err("its server is not on this machine");
  }
  return ok(undefined);
}
