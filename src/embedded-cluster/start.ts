/** From options to a running cluster. Everything heavy that an option does not ask for is not done. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  collect,
  describeThrown,
  err,
  FakeClock,
  fromPromise,
  ok,
  seededRandom,
  silentLogger,
  systemClock,
  type Clock,
  type Logger,
  type Result,
} from "#base";
import { parseJson, parseYaml, type Json } from "#kube";
import {
  accountTokens,
  builtinKinds,
  createApiServer,
  createMemoryStore,
  describeOpenError,
  inProcessClient,
  openKeyFile,
  openPersistentStore,
  parseTokenFile,
  rbacOf,
  userOf,
  type ApiServer,
  type ResourceType,
  type Store,
} from "#kube-server";
import { ActionLog } from "./actions/index.ts";
import { withServiceAccounts } from "./admission.ts";
import { describeProblems, orThrow } from "./cluster-error.ts";
import { CONTROLLER_USER, startControllers } from "./controllers.ts";
import { EmbeddedCluster } from "./embedded-cluster.ts";
import { Authority } from "./endpoint/index.ts";
import { loadFixtures, readDocuments, type Document } from "./fixtures/index.ts";
import { createDoor, Interceptors } from "./interceptors/index.ts";
import { objectDocuments } from "./object-documents.ts";
import type { ClockOf, ClusterOptions } from "./options.ts";
import { People } from "./people.ts";
import { adaptTypes, describedTypes } from "./schemas/index.ts";

/**
 * Starts a Kubernetes cluster in this process. It is ready when the promise resolves; with nothing asked for that takes milliseconds.
 *
 * @example
 * await using cluster = await startEmbeddedCluster({ fixtures: "test/fixtures" });
 * const answer = await cluster.client.get(configMaps, { namespace: "default", name: "settings" });
 */
export async function startEmbeddedCluster<const O extends ClusterOptions>(options?: O): Promise<EmbeddedCluster<ClockOf<O>>> {
  const cluster = orThrow(await open(options ?? {}));
  return cluster as EmbeddedCluster<ClockOf<O>>;
}

async function open(options: ClusterOptions): Promise<Result<EmbeddedCluster, string>> {
  const ground = groundOf(options);
  const store = openStore(options, ground);
  if (!store.ok) return store;
  const furnished = await furnish(options, ground, store.value);
  if (!furnished.ok) store.value.close();
  return furnished;
}

type Ground = { readonly clock: Clock; readonly random: () => number; readonly logger: Logger };

function groundOf({ clock = "system", random, seed, dataDir, logger = silentLogger }: ClusterOptions): Ground {
  const time = clock === "fake" ? new FakeClock() : clock === "system" ? systemClock : clock;
  // a folder that lives on must not see the uids of its first life again
  const chosen = seed ?? (dataDir === undefined ? 1 : randomBytes(4).readUInt32LE());
  return { clock: time, random: random ?? seededRandom(chosen), logger };
}

function openStore({ dataDir }: ClusterOptions, { clock, logger }: Ground): Result<Store, string> {
  if (dataDir === undefined) return ok(createMemoryStore());
  const opened = openPersistentStore({ dataDir, clock, logger });
  return opened.ok ? ok(opened.value.store) : err(describeOpenError(opened.error));
}

async function furnish(options: ClusterOptions, ground: Ground, store: Store): Promise<Result<EmbeddedCluster, string>> {
  const types = await typesOf(options, store);
  if (!types.ok) return types;
  const documents = await documentsOf(options);
  if (!documents.ok) return documents;
  const people = peopleOf(options);
  if (!people.ok) return people;
  const listening = { address: "127.0.0.1" };
  const adaptType = adaptTypes({ indexes: options.indexes ?? [], listTypePatches: options.listTypePatches === true });
  const key = options.dataDir === undefined ? ok(undefined) : openKeyFile(options.dataDir);
  if (!key.ok) return key;
  let isHandedOver = false;
  const server = createApiServer({
    ...ground,
    store,
    types: types.value,
    adaptType,
    ...((options.controllers ?? false) === false ? {} : { admission: withServiceAccounts(() => isHandedOver) }),
    authenticate: people.value.userOfToken,
    accounts: accountTokens({ store, clock: ground.clock, key: key.value }),
    authorize: rbacOf(store).authorize,
    address: () => listening.address,
  });
  const loaded = await seed({ server, people: people.value, keepExisting: options.dataDir !== undefined }, documents.value);
  if (!loaded.ok) {
    server.close();
    return loaded;
  }
  isHandedOver = true;
  const authority = new Authority();
  const assembled = assemble(options, { ...ground, server, people: people.value, authority, listening });
  return startAll(options, { ...ground, assembled, authority });
}

function peopleOf({ users = [], tokens }: ClusterOptions): Result<People, string> {
  if (tokens === undefined) return ok(new People(users));
  const table = parseTokenFile(tokens);
  return table.ok ? ok(new People(users, table.value.userOf)) : err(`the token file: ${table.error}`);
}

type Made = Ground & {
  readonly server: ApiServer;
  readonly people: People;
  readonly authority: Authority;
  readonly listening: { address: string };
};

function assemble(options: ClusterOptions, made: Made): Assembled {
  const interceptors = new Interceptors();
  for (const { match, interceptor } of options.interceptors ?? []) interceptors.add(match, interceptor);
  const actions = new ActionLog();
  const log = options.logActions === false ? undefined : actions;
  const { server, clock } = made;
  const door = createDoor({ server, interceptors, clock, log });
  const own = createDoor({ server, interceptors, clock, own: true });
  return { cluster: new EmbeddedCluster({ ...made, door, interceptors, actions }), own };
}

type Assembled = { readonly cluster: EmbeddedCluster; readonly own: ApiServer };

async function startAll(
  { controllers = false }: ClusterOptions,
  { assembled: { cluster, own }, authority, ...ground }: Ground & { readonly assembled: Assembled; readonly authority: Authority },
): Promise<Result<EmbeddedCluster, string>> {
  if (controllers === false) return ok(cluster);
  // warnings of the server are for people; controllers know which of their kinds are deprecated
  const client = inProcessClient(own, {
    ...ground,
    logger: silentLogger,
    user: userOf(CONTROLLER_USER, CONTROLLER_USER, ["system:masters"]),
  });
  const rootCa = authority.root();
  if (!rootCa.ok) return rootCa;
  const started = await startControllers(controllers === true ? {} : controllers, { ...ground, client, rootCa: rootCa.value });
  if (!started.ok) {
    await cluster.close();
    return started;
  }
  cluster.follow(started.value);
  return ok(cluster);
}

async function typesOf({ openApi }: ClusterOptions, store: Store): Promise<Result<readonly ResourceType[], string>> {
  const builtin = builtinKinds(store);
  const described: ResourceType[] = [];
  for (const source of listOf(openApi)) {
    const document = typeof source === "string" ? await readOpenApi(source) : ok(source);
    if (!document.ok) return document;
    const types = describedTypes(document.value, [...builtin, ...described]);
    if (!types.ok) return err(typeof source === "string" ? `${source}: ${types.error}` : types.error);
    described.push(...types.value);
  }
  return ok([...builtin, ...described]);
}

/** JSON is read as JSON: a whole swagger.json has megabytes, and YAML takes its time. */
async function readOpenApi(path: string): Promise<Result<Json, string>> {
  const text = await fromPromise(readFile(path, "utf8"), (thrown) => `${path}: cannot be read: ${describeThrown(thrown)}`);
  if (!text.ok) return text;
  if (text.value.trimStart().startsWith("{")) {
    const json = parseJson(text.value);
    return json.ok ? json : err(`${path}: ${json.error}`);
  }
  const yaml = parseYaml(text.value);
  if (yaml.ok) return ok(yaml.value[0] ?? null);
  return err(`${path}${yaml.error.line === undefined ? "" : `:${yaml.error.line}`}: ${yaml.error.message}`);
}

async function documentsOf({ crds, fixtures, objects = [] }: ClusterOptions): Promise<Result<readonly Document[], string>> {
  const read = collect(await Promise.all([...listOf(crds).map(readDefinitions), ...listOf(fixtures).map(readDocuments)]));
  if (!read.ok) return err(describeProblems(read.error.flat()));
  return ok([...read.value.flat(), ...objectDocuments(objects)]);
}

/** Folders of definitions hold other things too (kustomization.yaml); as in envtest, they are left alone. */
async function readDefinitions(path: string): ReturnType<typeof readDocuments> {
  const read = await readDocuments(path);
  if (!read.ok) return read;
  const definitions = read.value.filter(({ value }) => value["kind"] === "CustomResourceDefinition");
  return definitions.length > 0 ? ok(definitions) : err([{ file: path, message: "holds no CustomResourceDefinition" }]);
}

/** What happened before the cluster was handed over is nobody's history. */
async function seed(
  { server, people, keepExisting }: { readonly server: ApiServer; readonly people: People; readonly keepExisting: boolean },
  documents: readonly Document[],
): Promise<Result<void, string>> {
  if (documents.length === 0) return ok(undefined);
  const loaded = await loadFixtures({ server, user: people.admin.user, keepExisting }, documents);
  if (!loaded.ok) return err(describeProblems(loaded.error));
  server.store.compact(server.store.revision);
  return ok(undefined);
}

function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value as T];
}
