/**
 * Creates the API server of a cluster from its options: store, kinds, users, admission. It does not listen yet.
 *
 * Admission of ServiceAccounts is activated later: see `admission.ts`.
 */
import { err, ok, type Clock, type Logger, type Result } from "#base";
import { builtinKinds, createGuardedServer, openStore, parseTokenFile, type ApiServer, type Store, type User } from "#kube-server";
import { withServiceAccounts } from "./admission.ts";
import { listOf } from "./list-of.ts";
import type { ClusterOptions } from "./options.ts";
import { podLogsOf } from "./pod-logs.ts";
import { openIdentity, type ClusterIdentity } from "./identity/index.ts";
import { ADMIN, ClusterUsers } from "./users.ts";
import { adaptTypes, typesFrom } from "./schemas/index.ts";

export type ClusterDependencies = { readonly clock: Clock; readonly random: () => number; readonly logger: Logger };

export type OpenServer = {
  readonly server: ApiServer;
  readonly users: ClusterUsers;
  /** Absent without a data folder. */
  readonly identity: ClusterIdentity | undefined;
  /** Set by the listener; returned by discovery. */
  readonly listening: { address: string };
  /** The initial objects are stored, and clients may connect. */
  readonly markReady: () => void;
  /** Closes the store too. */
  readonly close: () => void;
};

export async function openServer(options: ClusterOptions, dependencies: ClusterDependencies): Promise<Result<OpenServer, string>> {
  const others = usersOfTokenFile(options);
  if (!others.ok) return others;
  const store = openStore({ ...dependencies, dataDir: options.dataDir, repair: options.repair });
  if (!store.ok) return store;
  const { users = [] } = options;
  const identity = identityOf(options);
  const opened = identity.ok
    ? await serve(options, dependencies, {
        users: new ClusterUsers(users, { others: others.value, kept: identity.value?.tokens }),
        identity: identity.value,
        store: store.value,
      })
    : identity;
  if (!opened.ok) store.value.close();
  return opened;
}

/** After the store is open: its lock protects the other files of the folder too. */
function identityOf({ dataDir, users = [] }: ClusterOptions): Result<ClusterIdentity | undefined, string> {
  return dataDir === undefined ? ok(undefined) : openIdentity(dataDir, [ADMIN, ...users.map(({ name }) => name)]);
}

function usersOfTokenFile({ tokens }: ClusterOptions): Result<((token: string) => User | undefined) | undefined, string> {
  if (tokens === undefined) return ok(undefined);
  const table = parseTokenFile(tokens);
  return table.ok ? ok(table.value.userOf) : err(`the token file: ${table.error}`);
}

type Parts = { readonly users: ClusterUsers; readonly identity: ClusterIdentity | undefined; readonly store: Store };

async function serve(
  options: ClusterOptions,
  dependencies: ClusterDependencies,
  { users, identity, store }: Parts,
): Promise<Result<OpenServer, string>> {
  const { openApi, indexes = [], listTypePatches = false, controllers = false, dataDir, kubernetesVersion } = options;
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
    version: kubernetesVersion,
    podLogs: podLogsOf(controllers),
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
  return ok({ server, users, identity, listening, markReady, close });
}
