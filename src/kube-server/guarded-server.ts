/** A server with service account tokens and RBAC, and its store. Without a socket. */
import { err, map, ok, silentLogger, type Clock, type Logger, type Result } from "#base";
import { accountTokens, openKeyFile, rbacOf } from "./auth/index.ts";
import { createApiServer, type ApiServer, type ApiServerOptions } from "./rest/api-server.ts";
import { createMemoryStore, describeOpenError, openPersistentStore, type Store } from "./store/index.ts";

export type StoreOptions = {
  /** Absent: the store is in memory. */
  readonly dataDir?: string | undefined;
  /** Open a damaged `dataDir` with its intact records; the damaged files are kept under other names. */
  readonly repair?: boolean | undefined;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
};

export function openStore({ dataDir, repair, clock, logger = silentLogger }: StoreOptions): Result<Store, string> {
  if (dataDir === undefined) return ok(createMemoryStore());
  const opened = openPersistentStore({ dataDir, repair, clock, logger });
  return opened.ok ? ok(opened.value.store) : err(describeOpenError(opened.error));
}

export type GuardedOptions = Omit<ApiServerOptions, "accounts" | "authorize"> & Pick<StoreOptions, "dataDir">;

export function createGuardedServer({ dataDir, ...options }: GuardedOptions): Result<ApiServer, string> {
  const { store, clock } = options;
  const key = dataDir === undefined ? ok(undefined) : openKeyFile(dataDir);
  return map(key, (known) =>
    createApiServer({ ...options, accounts: accountTokens({ store, clock, key: known }), authorize: rbacOf(store).authorize }),
  );
}
