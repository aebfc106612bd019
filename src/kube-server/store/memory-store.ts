/** A Store that forgets everything with the process: for tests, and for clusters that live as long as a terminal. */
import type { HistoryLimit } from "./history.ts";
import { LiveStore, noJournal } from "./live-store.ts";
import type { Store } from "./port.ts";
import { StoreState } from "./store-state.ts";

export type MemoryStoreOptions = {
  /** How far back watches and pages of a list can reach. */
  readonly historyLimit?: Partial<HistoryLimit> | undefined;
};

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new LiveStore(new StoreState({ historyLimit: options.historyLimit }), noJournal);
}
