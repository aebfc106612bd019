/** A backup of a namespace, from a client. */
import { openSide } from "./api-side.ts";
import type { MoveOptions } from "./move-namespace.ts";
import type { Moved } from "./failure.ts";
import { readBackup, type BackupFiles, type BackupRequest } from "./read-backup.ts";

export type { BackupFiles } from "./read-backup.ts";

export type BackupOptions = BackupRequest & Pick<MoveOptions, "source" | "namespace" | "clock" | "random" | "signal" | "report">;

/** Reads only. */
export function readNamespaceBackup({ source, namespace, clock, random, signal, report, ...request }: BackupOptions): Moved<BackupFiles> {
  const side = openSide({ client: source, side: "source", clock, random, signal });
  return readBackup({ source: side, namespace, clock, random, signal, waitMs: 0, report }, request);
}
