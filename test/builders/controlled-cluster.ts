/** An API server in this process with kube-controllers, a fake clock, and all log lines. */
import { createLogger, expectOk, FakeClock, seededRandom, type LogFields } from "#base";
import { keyText, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { startKubeControllers, type KubeController, type KubeControllersOptions, type RunningKubeControllers } from "#kube-controllers";
import { builtinKinds, createApiServer, createMemoryStore, inProcessClient } from "#kube-server";

export type ControlledCluster = {
  readonly clock: FakeClock;
  /** The test's own client. */
  readonly client: KubeClient;
  readonly running: RunningKubeControllers;
  readonly lines: readonly { readonly level: string; readonly message: string; readonly fields: LogFields }[];
  /** "DELETE configmaps/shop/a": the accepted writes of the controllers, oldest first. */
  readonly writes: string[];
  /** Advances the clock and lets the controllers finish due work. */
  readonly advance: (ms: number) => Promise<void>;
  /** Stops everything; returns the number of remaining timers (a leak, if not 0). */
  readonly end: () => Promise<number>;
};

export type ControlledClusterOptions = Partial<Omit<KubeControllersOptions, "clock" | "logger" | "random">> & {
  readonly controllers?: readonly KubeController[];
  /** Creates objects before the controllers start. */
  readonly before?: (client: KubeClient) => Promise<void>;
  /** Wraps the client of the controllers: faults, delays. */
  readonly between?: (client: KubeClient) => KubeClient;
};

export async function controlledCluster(options: ControlledClusterOptions = {}): Promise<ControlledCluster> {
  const clock = new FakeClock();
  const random = seededRandom(11);
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const logger = createLogger((level, message, fields) => void lines.push({ level, message, fields }));
  const store = createMemoryStore();
  const server = createApiServer({ store, types: builtinKinds(store), clock, random });
  const client = inProcessClient(server, { clock, random, logger });
  const own = inProcessClient(server, { clock, random, logger });
  await options.before?.(client);
  const writes: string[] = [];
  const between = options.between?.(own) ?? own;
  const running = expectOk(await startKubeControllers({ ...options, client: countingWrites(between, writes), clock, random, logger }));
  return {
    clock,
    client,
    running,
    lines,
    writes,
    async advance(ms) {
      await clock.advance(ms);
      await running.idle();
    },
    async end() {
      await running.close();
      await Promise.all([client.close(), own.close()]);
      return clock.pending;
    },
  };
}

function countingWrites(client: KubeClient, writes: string[]): KubeClient {
  const note = <T extends { readonly ok: boolean; readonly value?: unknown }>(
    verb: string,
    resource: Resource,
    key: ObjectKey,
    answer: T,
  ): T => {
    if (answer.ok && answer.value !== false && resource.plural !== "events") writes.push(`${verb} ${resource.plural}/${keyText(key)}`);
    return answer;
  };
  const keyed = (object: KubeObject) => ({ namespace: object.metadata.namespace, name: object.metadata.name });
  const below = (key: ObjectKey, subresource?: string) =>
    subresource === undefined ? key : { ...key, name: `${key.name}/${subresource}` };
  return {
    get: (resource, key, call) => client.get(resource, key, call),
    list: (resource, query, call) => client.list(resource, query, call),
    watch: (resource, query, signal, onOpen) => client.watch(resource, query, signal, onOpen),
    raw: (path, call) => client.raw(path, call),
    close: () => client.close(),
    create: async (resource, object, call) => note("CREATE", resource, keyed(object), await client.create(resource, object, call)),
    update: async (resource, object, call) =>
      note("UPDATE", resource, below(keyed(object), call?.subresource), await client.update(resource, object, call)),
    apply: async (resource, object, call) =>
      note("APPLY", resource, below(keyed(object), call.subresource), await client.apply(resource, object, call)),
    patch: async (resource, key, body, call) =>
      note("PATCH", resource, below(key, call?.subresource), await client.patch(resource, key, body, call)),
    delete: async (resource, key, call) => note("DELETE", resource, key, await client.delete(resource, key, call)),
    deleteCollection: async (resource, query, call) =>
      note("DELETECOLLECTION", resource, { name: query.namespace ?? "" }, await client.deleteCollection(resource, query, call)),
  };
}
