/** Starts a cluster from its options. Expensive parts are created only if an option needs them. */
import { randomBytes } from "node:crypto";
import { FakeClock, ok, seededRandom, silentLogger, systemClock, type Result } from "#base";
import { inProcessClient, userOf, type ApiServer } from "#kube-server";
import { ActionLog } from "./actions/index.ts";
import { orThrow } from "./cluster-error.ts";
import { CONTROLLER_USER, startControllers } from "./controllers.ts";
import { EmbeddedCluster } from "./embedded-cluster.ts";
import { Authority } from "./endpoint/index.ts";
import { storeFirstObjects, readFirstObjects } from "./first-objects.ts";
import { createInterceptedServer, Interceptors } from "./interceptors/index.ts";
import { openServer, type ClusterDependencies, type OpenServer } from "./open-server.ts";
import type { ClockOf, ClusterOptions } from "./options.ts";

/**
 * Starts a Kubernetes cluster in this process. It is ready when the promise resolves; with default options that takes milliseconds.
 *
 * @example
 * await using cluster = await startEmbeddedCluster({ fixtures: "fixtures" });
 * const answer = await cluster.client.get(configMaps, { namespace: "default", name: "settings" });
 */
export async function startEmbeddedCluster<const O extends ClusterOptions>(options?: O): Promise<EmbeddedCluster<ClockOf<O>>> {
  const cluster = orThrow(await start(options ?? {}));
  return cluster as EmbeddedCluster<ClockOf<O>>;
}

async function start(options: ClusterOptions): Promise<Result<EmbeddedCluster, string>> {
  const documents = await readFirstObjects(options);
  if (!documents.ok) return documents;
  const dependencies = dependenciesOf(options);
  const opened = await openServer(options, dependencies);
  if (!opened.ok) return opened;
  const { server, users, markReady, close } = opened.value;
  const loaded = await storeFirstObjects({ server, user: users.admin.user, keepExisting: options.dataDir !== undefined }, documents.value);
  if (!loaded.ok) {
    close();
    return loaded;
  }
  markReady();
  const started = await withControllers(options, dependencies, assemble(options, dependencies, opened.value));
  if (started.ok && options.resettable === true) await started.value.keepInitialState();
  return started;
}

function dependenciesOf({ clock = "system", random, seed, dataDir, logger = silentLogger }: ClusterOptions): ClusterDependencies {
  const time = clock === "fake" ? new FakeClock() : clock === "system" ? systemClock : clock;
  // a data folder that is opened again must get different uids
  const chosen = seed ?? (dataDir === undefined ? 1 : randomBytes(4).readUInt32LE());
  return { clock: time, random: random ?? seededRandom(chosen), logger };
}

/** `own`: the server for the cluster's own controllers, whose requests are not logged. */
type Assembled = { readonly cluster: EmbeddedCluster; readonly own: ApiServer; readonly authority: Authority };

function assemble(
  options: ClusterOptions,
  dependencies: ClusterDependencies,
  { server, users, identity, listening }: OpenServer,
): Assembled {
  const interceptors = new Interceptors();
  for (const { match, interceptor } of options.interceptors ?? []) interceptors.add(match, interceptor);
  const [actions, authority] = [new ActionLog(), new Authority(identity)];
  const { clock } = dependencies;
  const intercepted = createInterceptedServer({ server, interceptors, clock, log: options.logActions === false ? undefined : actions });
  const own = createInterceptedServer({ server, interceptors, clock, own: true });
  const cluster = new EmbeddedCluster({
    ...dependencies,
    server,
    intercepted,
    interceptors,
    actions,
    users,
    authority,
    identity,
    listening,
  });
  return { cluster, own, authority };
}

async function withControllers(
  { controllers = false }: ClusterOptions,
  dependencies: ClusterDependencies,
  { cluster, own, authority }: Assembled,
): Promise<Result<EmbeddedCluster, string>> {
  if (controllers === false) return ok(cluster);
  const user = userOf(CONTROLLER_USER, CONTROLLER_USER, ["system:masters"]);
  // warnings of the server are for users; controllers use deprecated kinds on purpose
  const client = inProcessClient(own, { ...dependencies, logger: silentLogger, user, userAgent: "kube-controller-manager" });
  const rootCa = authority.root();
  const wanted = controllers === true ? {} : controllers;
  wanted.beforeStart?.(cluster);
  const started = rootCa.ok ? await startControllers(wanted, { ...dependencies, client, rootCa: rootCa.value }) : rootCa;
  if (started.ok) cluster.attachControllers(started.value);
  else await cluster.close();
  return started.ok ? ok(cluster) : started;
}
