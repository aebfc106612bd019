/**
 * A server in this process, called directly and over HTTPS, with or without a guard (authorization, admission). The same request to both,
 * in turn, measures the cost of the guard.
 */
import { expectOk, silentLogger, systemClock } from "#base";
import { defineResource, pathOf, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import {
  builtinKinds,
  certificateFor,
  createApiServer,
  createMemoryStore,
  inProcessClient,
  serveHttp,
  rbacOf,
  userOf,
  type ApiServerOptions,
} from "#kube-server";
import type { BenchResult } from "../../scripts/bench/bench.ts";
import { configMap, configMaps } from "./anchor-objects.ts";
import { LoadClient, type Ask } from "./api-load.ts";
import { pods } from "./pods.ts";

export type GuardedServer = {
  /** An administrator, to prepare the server. */
  readonly admin: KubeClient;
  /** The user of the measured requests, direct and over HTTPS. */
  readonly client: KubeClient;
  readonly load: LoadClient;
  readonly close: () => Promise<void>;
};

/** A user without special groups: RBAC has to evaluate the bindings. */
export const BENCH_USER = "bench";

export type Guard = {
  readonly name: string;
  readonly rbac?: boolean;
  readonly prepare: (admin: KubeClient) => Promise<void>;
  /** Requests per round: fewer for slow ones. */
  readonly requests?: number;
  /** What else is included in the figure. */
  readonly note?: string;
};

export async function startGuarded({ rbac = false, prepare }: Pick<Guard, "rbac" | "prepare">): Promise<GuardedServer> {
  const [store, clock, random] = [createMemoryStore({ historyLimit: { events: 5_000 } }), systemClock, Math.random];
  const user = userOf(BENCH_USER, "1", ["developers"]);
  const rules: Partial<ApiServerOptions> = rbac ? { authorize: rbacOf(store).authorize } : {};
  const server = createApiServer({ store, types: builtinKinds(store), clock, random, authenticate: () => user, ...rules });
  const certificate = expectOk(certificateFor("127.0.0.1", clock));
  const place = { host: "127.0.0.1", port: 0, certificate: certificate.server };
  const listener = expectOk(await serveHttp(place, { server, authenticate: () => user, logger: silentLogger, clock }));
  const [admin, client] = [inProcessClient(server, { clock, random, logger: silentLogger }), inProcessClient(server, { clock, random, logger: silentLogger, user })]; // prettier-ignore
  await prepare(admin);
  const target = { url: `https://127.0.0.1:${listener.port}`, caPem: certificate.authority, token: "bench" };
  const load = await LoadClient.open(target, 1);
  const close = async () => {
    load.close();
    await Promise.all([admin.close(), client.close()]);
    server.close();
    await listener.close();
  };
  return { admin, client, load, close };
}

type Kind = { readonly name: string; readonly resource: Resource; readonly make: (name: string) => KubeObject };

const namespace = "default";

const KINDS: readonly Kind[] = [
  {
    name: "ConfigMap",
    resource: configMaps,
    make: (name) => ({ ...configMap(0), metadata: { name, namespace, labels: { app: "web" } } }),
  },
  { name: "Pod", resource: pods, make: newPod },
];

function newPod(name: string): KubeObject {
  const resources = { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "256Mi" } };
  const containers = ["app", "proxy"].map((container) => ({ name: container, image: `images.example/${container}:1`, resources }));
  const metadata = { name, namespace, labels: { app: "web" } };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers } } as KubeObject;
}

const WARM_UP = 12;
const ROUNDS = 15;
const REQUESTS = 150;
let made = 0;

/** The cost of a create with the guard, compared with the same without it: each kind, direct and over HTTPS. */
export async function costOf(guard: Guard): Promise<readonly BenchResult[]> {
  const [guarded, bare] = [await startGuarded(guard), await startGuarded({ prepare: async () => {} })];
  const results: BenchResult[] = [];
  for (const kind of KINDS) {
    for (const [way, create] of [
      ["in process", byCall],
      ["over HTTPS", overHttps],
    ] as const) {
      const count = guard.requests ?? REQUESTS;
      const { withIt, without } = await fastest(count, (many) => create(guarded, kind, many), (many) => create(bare, kind, many)); // prettier-ignore
      const name = `create a ${kind.name} ${way}, ${guard.name}`;
      const note = `CPU time of client and server, less is better and 1 is free; without it ${without.toFixed(0)} µs${guard.note ?? ""}`;
      results.push({ name, value: withIt, unit: "µs", ratio: withIt / without, against: "the same request without it", note });
    }
  }
  await guarded.close();
  await bare.close();
  return results;
}

type Creates = (count: number) => Promise<void>;

async function byCall({ client }: GuardedServer, { resource, make }: Kind, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) expectOk(await client.create(resource, make(`bench-${made++}`)));
}

async function overHttps({ load }: GuardedServer, { resource, make }: Kind, count: number): Promise<void> {
  const asks: Ask[] = Array.from({ length: count }, () => {
    return { method: "POST", path: pathOf(resource, { namespace }), body: JSON.stringify(make(`bench-${made++}`)) };
  });
  for (const ask of asks) await load.ask(ask);
}

/**
 * Both sides take turns, and the best round of each counts, in CPU time of this process: on a shared machine everything else is noise.
 * Microseconds of one request.
 */
async function fastest(count: number, guarded: Creates, bare: Creates): Promise<{ readonly withIt: number; readonly without: number }> {
  let [withIt, without] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const [one, other] = [await cpuOf(guarded, count), await cpuOf(bare, count)];
    if (round >= 0) [withIt, without] = [Math.min(withIt, one), Math.min(without, other)];
  }
  return { withIt, without };
}

async function cpuOf(creates: Creates, count: number): Promise<number> {
  const before = process.cpuUsage();
  await creates(count);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

export const inGroup = (group: string, kind: string, plural: string, namespaced = false): Resource =>
  defineResource({ group, version: "v1", kind, plural, namespaced });
