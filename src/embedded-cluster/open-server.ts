/**
 * The API server of a cluster as its options want it: store, kinds, people, admission. Nobody can reach it yet.
 *
 * Whether ServiceAccounts are asked for changes once: see `admission.ts`.
 */
import { err, ok, type Clock, type Logger, type Result } from "#base";
import { builtinKinds, createGuardedServer, openStore, parseTokenFile, type ApiServer, type Store } from "#kube-server";
import { withServiceAccounts } from "./admission.ts";
import { listOf } from "./list-of.ts";
import type { ClusterOptions } from "./options.ts";
import { People } from "./people.ts";
import { adaptTypes, typesFrom } from "./schemas/index.ts";

export type Ground = { readonly clock: Clock; readonly random: () => number; readonly logger: Logger };

export type OpenServer = {
  readonly server: ApiServer;
  readonly people: People;
  /** Written by whoever listens; discovery tells it. */
  readonly listening: { address: string };
  /** From now on others come: the cluster is as its options wanted it. */
  readonly handOver: () => void;
  /** With the store. */
  readonly close: () => void;
};

export async function openServer(options: ClusterOptions, ground: Ground): Promise<Result<OpenServer, string>> {
  const people = peopleOf(options);
  if (!people.ok) return people;
  const store = openStore({ ...ground, dataDir: options.dataDir, repair: options.repair });
  if (!store.ok) return store;
  const opened = await serve(options, ground, { people: people.value, store: store.value });
  if (!opened.ok) store.value.close();
  return opened;
}

function peopleOf({ users = [], tokens }: ClusterOptions): Result<People, string> {
  if (tokens === undefined) return ok(new People(users));
  const table = parseTokenFile(tokens);
  return table.ok ? ok(new People(users, table.value.userOf)) : err(`the token file: ${table.error}`);
}

type Parts = { readonly people: People; readonly store: Store };

async function serve(options: ClusterOptions, ground: Ground, { people, store }: Parts): Promise<Result<OpenServer, string>> {
  const { openApi, indexes = [], listTypePatches = false, controllers = false, dataDir } = options;
  const types = await typesFrom(listOf(openApi), builtinKinds(store));
  if (!types.ok) return types;
  const listening = { address: "127.0.0.1" };
  let isHandedOver = false;
  const made = createGuardedServer({
    ...ground,
    store,
    dataDir,
    types: types.value,
    adaptType: adaptTypes({ indexes, listTypePatches }),
    ...(controllers === false ? {} : { admission: withServiceAccounts(() => isHandedOver) }),
    authenticate: people.userOfToken,
    address: () => listening.address,
  });
  if (!made.ok) return made;
  const server = made.value;
  const handOver = () => {
    isHandedOver = true;
  };
  const close = () => {
    server.close();
    store.close();
  };
  return ok({ server, people, listening, handOver, close });
}
