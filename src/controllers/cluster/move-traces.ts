/** What moves have left in a namespace, by the cache. */
import type { CacheReader } from "#controller-runtime";
import { configMaps, secretsByMetadata } from "#kube";
import { MOVE_JOURNAL, MOVE_RECORD, type ownershipOf } from "#pivot";

export type MoveTraces = Parameters<typeof ownershipOf>[0];

export function tracesIn(cache: CacheReader, namespace: string): MoveTraces {
  return {
    record: cache.get(configMaps, { namespace, name: MOVE_RECORD }),
    hasJournal: cache.get(secretsByMetadata, { namespace, name: MOVE_JOURNAL }) !== undefined,
  };
}
