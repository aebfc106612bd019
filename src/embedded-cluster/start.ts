/** From options to a running cluster. Everything heavy that an option does not ask for is not done. */
import { randomBytes } from "node:crypto";
import { FakeClock, ok, seededRandom, silentLogger, systemClock, type Result } from "#base";
import { inProcessClient, userOf, type ApiServer } from "#kube-server";
import { ActionLog } from "./actions/index.ts";
import { orThrow } from "./cluster-error.ts";
import { CONTROLLER_USER, startControllers } from "./controllers.ts";
import { EmbeddedCluster } from "./embedded-cluster.ts";
import { Authority } from "./endpoint/index.ts";
import { putIn, readFirstObjects } from "./first-objects.ts";
import { createDoor, Interceptors } from "./interceptors/index.ts";
import { openServer, type Ground, type OpenServer } from "./open-server.ts";
import type { ClockOf, ClusterOptions } from "./options.ts";

/**
 * Starts a Kubernetes cluster in this process. It is ready when the promise resolves; with nothing asked for that takes milliseconds.
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
  const ground = groundOf(options);
  const opened = await openServer(options, ground);
  if (!opened.ok) return opened;
  const { server, people, handOver, close } = opened.value;
  const loaded = await putIn({ server, user: people.admin.user, keepExisting: options.dataDir !== undefined }, documents.value);
  if (!loaded.ok) {
    close();
    return loaded;
  }
  handOver();
  const started = await withControllers(options, ground, assemble(options, ground, opened.value));
  if (started.ok && options.resettable === true) await started.value.keepInitialState();
  return started;
}

function groundOf({ clock = "system", random, seed, dataDir, logger = silentLogger }: ClusterOptions): Ground {
  const time = clock === "fake" ? new FakeClock() : clock === "system" ? systemClock : clock;
  // a folder that lives on must not see the uids of its first life again
  const chosen = seed ?? (dataDir === undefined ? 1 : randomBytes(4).readUInt32LE());
  return { clock: time, random: random ?? seededRandom(chosen), logger };
}

/** `own`: the door of the cluster's own controllers, which are in no log. */
type Assembled = { readonly cluster: EmbeddedCluster; readonly own: ApiServer; readonly authority: Authority };

function assemble(options: ClusterOptions, ground: Ground, { server, people, listening }: OpenServer): Assembled {
  const interceptors = new Interceptors();
  for (const { match, interceptor } of options.interceptors ?? []) interceptors.add(match, interceptor);
  const [actions, authority] = [new ActionLog(), new Authority()];
  const { clock } = ground;
  const door = createDoor({ server, interceptors, clock, log: options.logActions === false ? undefined : actions });
  const own = createDoor({ server, interceptors, clock, own: true });
  const cluster = new EmbeddedCluster({ ...ground, server, door, interceptors, actions, people, authority, listening });
  return { cluster, own, authority };
}

async function withControllers(
  { controllers = false }: ClusterOptions,
  ground: Ground,
  { cluster, own, authority }: Assembled,
): Promise<Result<EmbeddedCluster, string>> {
  if (controllers === false) return ok(cluster);
  const user = userOf(CONTROLLER_USER, CONTROLLER_USER, ["system:masters"]);
  // warnings of the server are for people; controllers know which of their kinds are deprecated
  const client = inProcessClient(own, { ...ground, logger: silentLogger, user, userAgent: "kube-controller-manager" });
  const rootCa = authority.root();
  const wanted = controllers === true ? {} : controllers;
  const started = rootCa.ok ? await startControllers(wanted, { ...ground, client, rootCa: rootCa.value }) : rootCa;
  if (started.ok) cluster.follow(started.value);
  else await cluster.close();
  return started.ok ? ok(cluster) : started;
}
