/**
 * Clusters that `lattice uninstall` has deleted, as files of this machine: a cluster whose machines are gone cannot be distinguished from one that does not answer. The
 * name of a file is a digest of address and authority, so that a new cluster of the same name or address has another one.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { andThen, describeThrown, fromThrowing, sha256Hex, type Result } from "#base";
import type { ClusterConfig } from "#kube-client";
import { writePrivateFile } from "#pki";
import type { CliIo } from "../io.ts";

/** Where commands keep what they must know after a crash, by the rules of XDG. */
export function stateFolder({ env, home }: Pick<CliIo, "env" | "home">): string {
  const base = env["XDG_STATE_HOME"] ?? "";
  return join(base === "" ? join(home, ".local", "state") : base, "lattice");
}

function fileOf(io: Pick<CliIo, "env" | "home">, { server, certificateAuthority = "" }: ClusterConfig): string {
  return join(stateFolder(io), "deleted-clusters", sha256Hex(`${server}\n${certificateAuthority}`).slice(0, 32));
}

export function isMarkedDeleted(io: Pick<CliIo, "env" | "home">, config: ClusterConfig): boolean {
  return existsSync(fileOf(io, config));
}

export function markClusterDeleted(io: Pick<CliIo, "env" | "home">, config: ClusterConfig): Result<void, string> {
  const folder = join(stateFolder(io), "deleted-clusters");
  const made = fromThrowing(() => mkdirSync(folder, { recursive: true, mode: 0o700 }), describeThrown);
  return andThen(made, () => writePrivateFile(fileOf(io, config), `${config.server}\n`));
}
