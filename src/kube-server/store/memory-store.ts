/** A Store in memory: for tests, and for clusters that exist only as long as their process. */
import type { HistoryLimit } from "./history.ts";
import { LiveStore, noJournal } from "./live-store.ts";
import type { Store } from "./port.ts";
import { StoreState } from "./store-state.ts";

export type MemoryStoreOptions = {
  /** Limits of the history for watches and pages of a list. */
  readonly historyLimit?: Partial<HistoryLimit> | undefined;
};

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new LiveStore(new StoreState({ historyLimit: options.historyLimit }), noJournal);
}
