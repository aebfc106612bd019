/** `lattice down` after the supervisor has ended: cleans up after one that was killed, and deletes the folder on request. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { map, ok, type Result } from "#base";
import type { FleetFolder, FleetProcess } from "../fleet-types.ts";
import { LOCK } from "./folder-names.ts";
import type { LeftoverPorts } from "./leftovers.ts";
import { readMarker } from "./marker.ts";
import { claimFolder } from "./open-folder.ts";
import { purgeFolder } from "./purge.ts";

export type EndedFolder = {
  /** Processes of a killed supervisor that were ended. */
  readonly ended: readonly FleetProcess[];
  /** Absent if it was not to be deleted. */
  readonly purged?: "deleted" | "absent" | undefined;
};

/** Nothing is written to a folder that is not one of Lattice. */
export async function endFolder(
  folder: FleetFolder,
  { purge, ...ports }: LeftoverPorts & { purge: boolean },
): Promise<Result<EndedFolder, string>> {
  const marker = readMarker(folder.path);
  const isOurs = marker.ok && marker.value.kind !== "absent";
  const isUsed = existsSync(folder.record) || existsSync(join(folder.path, LOCK));
  if (!isOurs || (!isUsed && !purge))
    return purge ? map(await purgeFolder(folder), (purged) => ({ ended: [], purged })) : ok({ ended: [] });
  const claimed = await claimFolder(folder, ports);
  if (!claimed.ok) return claimed;
  const { ended } = claimed.value;
  const purged = purge ? await purgeFolder(folder) : ok(undefined);
  if (!purged.ok || purged.value === undefined) claimed.value.close();
  return map(purged, (value) => ({ ended, purged: value }));
}
