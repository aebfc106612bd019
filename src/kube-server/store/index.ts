export { type HistoryLimit } from "./history.ts";
export { createMemoryStore, type MemoryStoreOptions } from "./memory-store.ts";
export { openPersistentStore, type OpenedStore, type PersistentStoreOptions, type RecoveryReport } from "./persistent-store.ts";
export { describeOpenError, type StoreOpenError } from "./disk/open-error.ts";
export type { KeptDamage } from "./disk/mend.ts";
export type { StoreFiles } from "./disk/store-files.ts";
export type {
  CollectionName,
  FieldMatch,
  Listed,
  ListRequest,
  RevisionError,
  StorageError,
  Store,
  StoreChange,
  StoreConflict,
  Stored,
  StoreEvent,
  StoreKey,
} from "./port.ts";
