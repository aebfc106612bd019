/**
 * Creates the API server of a cluster from its options: store, kinds, users, admission. It does not listen yet.
 *
 * Admission of ServiceAccounts is activated later: see `admission.ts`.
 */
import { err, ok, type Clock, type Logger, type Result } from "#base";
import { builtinKinds, createGuardedServer, openStore, parseTokenFile, type ApiServer, type Store } from "#kube-server";
import { withServiceAccounts } from "./admission.ts";
import { listOf } from "./list-of.ts";
import type { ClusterOptions } from "./options.ts";
import { ClusterUsers } from "./users.ts";
import { adaptTypes, typesFrom } from "./schemas/index.ts";

export type ClusterDependencies = { readonly clock: Clock; readonly random: () => number; readonly logger: Logger };

export type OpenServer = {
  readonly server: ApiServer;
  readonly users: ClusterUsers;
  /** Set by the listener; returned by discovery. */
  readonly listening: { address: string };
  /** The initial objects are stored, and clients may connect. */
  readonly markReady: () => void;
  /** Closes the store too. */
  readonly close: () => void;
};

export async function openServer(options: ClusterOptions, dependencies: ClusterDependencies): Promise<Result<OpenServer, string>> {
  const users = usersOf(options);
  if (!users.ok) return users;
  const store = openStore({ ...dependencies, dataDir: options.dataDir, repair: options.repair });
  if (!store.ok) return store;
  const opened = await serve(options, dependencies, { users: users.value, store: store.value });
  if (!opened.ok) store.value.close();
  return opened;
}

function usersOf({ users = [], tokens }: ClusterOptions): Result<ClusterUsers, string> {
  if (tokens === undefined) return ok(new ClusterUsers(users));
  const table = parseTokenFile(tokens);
  return table.ok ? ok(new ClusterUsers(users, table.value.userOf)) : err(`the token file: ${table.error}`);
}

type Parts = { readonly users: ClusterUsers; readonly store: Store };

async function serve(
  options: ClusterOptions,
  dependencies: ClusterDependencies,
  { users, store }: Parts,
): Promise<Result<OpenServer, string>> {
  const { openApi, indexes = [], listTypePatches = false, controllers = false, dataDir } = options;
  const types = await typesFrom(listOf(openApi), builtinKinds(store));
  if (!types.ok) return types;
  const listening = { address: "127.0.0.1" };
  let isReady = false;
  const made = createGuardedServer({
    ...dependencies,
    store,
    dataDir,
    types: types.value,
    adaptType: adaptTypes({ indexes, listTypePatches }),
    ...(controllers === false ? {} : { admission: withServiceAccounts(() => isReady) }),
    authenticate: users.userOfToken,
    address: () => listening.address,
  });
  if (!made.ok) return made;
  const server = made.value;
  const markReady = () => {
    isReady = true;
  };
  const close = () => {
    server.close();
    store.close();
  };
  return ok({ server, users, listening, markReady, close });
}
