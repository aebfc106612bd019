/**
 * An embedded cluster with a fake clock and one client under test, which retries and decodes as over HTTP. Requests and watches of that client
 * can fail; other clients change objects beside it.
 */
import { expectOk, seededRandom, type FakeClock } from "#base";
import {
  startEmbeddedCluster,
  type EmbeddedCluster,
  type Interception,
  type Interceptor,
  type InterceptMatch,
  type LoggedAction,
  type WatchInterception,
} from "#embedded-cluster";
import { keyOf, type KubeObject, type ObjectKey, type Resource } from "#kube";
import { createKubeClient, type KubeClient, type KubeClientOptions } from "#kube-client";
import { FaultyStreams } from "./faulty-streams.ts";
import { openCrd } from "./open-crd.ts";
import { SettlingClock } from "./settling-clock.ts";

/** The user that the client under test acts as. Faults and `requests` are about its requests alone. */
const OPERATOR = { name: "lattice", groups: ["system:masters"] };

export type ApiWorldOptions = {
  /** Kinds that the cluster gets a CustomResourceDefinition for. */
  readonly resources: readonly Resource[];
  readonly namespaces: readonly string[];
  readonly retry?: KubeClientOptions["retry"];
  /** Runs the controllers of a controller manager too; they are off by default. */
  readonly controllers?: boolean;
};

export class ApiWorld implements AsyncDisposable {
  readonly cluster: EmbeddedCluster<FakeClock>;
  readonly clock: FakeClock;
  readonly random = seededRandom(7);
  readonly client: KubeClient;
  /** Watches of the client under test. */
  readonly watches: WatchInterception;
  readonly streams = new FaultyStreams();

  constructor(cluster: EmbeddedCluster<FakeClock>, retry?: KubeClientOptions["retry"]) {
    const transport = this.streams.transport(cluster.transportFor(OPERATOR));
    this.cluster = cluster;
    this.clock = cluster.clock;
    this.watches = cluster.interceptWatches({ user: OPERATOR.name });
    this.client = createKubeClient({ transport, clock: this.clock, random: this.random, ...(retry === undefined ? {} : { retry }) });
  }

  static async open({ retry, ...options }: ApiWorldOptions): Promise<ApiWorld> {
    return new ApiWorld(await startCluster(options), retry);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.cluster.close();
  }

  /** The next requests of the client under test that match get this response; `times`: how many, default one. */
  intercept(match: InterceptMatch, interceptor: Interceptor): Interception {
    return this.cluster.intercept({ times: 1, ...match, user: OPERATOR.name }, interceptor);
  }

  /** Another client creates or replaces an object, status and all. */
  put<T extends KubeObject>(resource: Resource<T>, object: T, fieldManager = "other"): Promise<T> {
    return putObject(this.cluster.client, resource, object, fieldManager);
  }

  /** Another client deletes an object; finalizers hold it. */
  async remove(resource: Resource, key: ObjectKey): Promise<void> {
    expectOk(await this.cluster.client.delete(resource, key));
  }

  async object<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> {
    const found = await this.cluster.client.get(resource, key);
    return found.ok || found.error.kind !== "not-found" ? expectOk(found) : undefined;
  }

  /** Without those that every cluster starts with. */
  async objects<T extends KubeObject>(resource: Resource<T>): Promise<readonly T[]> {
    const { items } = expectOk(await this.cluster.client.list(resource));
    return items.filter(({ metadata }) => metadata.namespace !== "kube-system");
  }

  /** The requests of the client under test, oldest first. */
  requests(): readonly LoggedAction[] {
    return this.cluster.actions.filter({ user: OPERATOR.name });
  }
}

export async function startCluster(options: Omit<ApiWorldOptions, "retry">): Promise<EmbeddedCluster<FakeClock>> {
  const { resources, namespaces, controllers = false } = options;
  const places = namespaces.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  return startEmbeddedCluster({ clock: new SettlingClock(), objects: [...places, ...resources.map(openCrd)], controllers });
}

async function putObject<T extends KubeObject>(client: KubeClient, resource: Resource<T>, object: T, fieldManager: string): Promise<T> {
  const current = await client.get(resource, keyOf(object));
  if (!current.ok && current.error.kind !== "not-found") return expectOk(current);
  const version = current.ok ? { resourceVersion: current.value.metadata.resourceVersion } : {};
  const { resourceVersion: _, uid: _uid, ...metadata } = object.metadata;
  const next = { ...object, metadata: { ...metadata, ...version } } as T;
  const written = expectOk(
    await (current.ok ? client.update(resource, next, { fieldManager }) : client.create(resource, next, { fieldManager })),
  );
  if (!("status" in object)) return written;
  const reported = { ...written, status: object.status };
  return expectOk(await client.update(resource, reported, { subresource: "status", fieldManager }));
}

/** As an informer caches it. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
