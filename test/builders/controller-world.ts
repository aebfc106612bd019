/** An embedded cluster with one manager in it: a fake clock, a client that retries, faults for that client, and everything that was logged. */
import { createLogger, expectOk, MetricsRegistry, noTracing, seededRandom, type FakeClock, type LogFields, type Tracer } from "#base";
import { createManager, type BoundController, type ControllerManager, type ManagerOptions } from "#controller-runtime";
import {
  startEmbeddedCluster,
  type Interception,
  type Interceptor,
  type InterceptMatch,
  type EmbeddedCluster,
  type LoggedAction,
} from "#embedded-cluster";
import { defineResource, events as eventResource, keyOf, type Condition, type KubeObject, type ObjectKey, type Resource } from "#kube";
import { createKubeClient, type KubeClient } from "#kube-client";
import { openCrd } from "./open-crd.ts";
import { SettlingClock } from "./settling-clock.ts";

export type Widget = KubeObject & {
  readonly spec: { readonly colour?: string; readonly count?: number };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[]; readonly [field: string]: unknown };
};
export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

export const widgets = defineResource<Widget>({ group: "lattice.dev", version: "v1", kind: "Widget", plural: "widgets", namespaced: true });
export const configMaps = defineResource<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});
export const secrets = defineResource<KubeObject>({ group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true });
/** An object that decides who reaches whom. */
export type Policy = KubeObject & { readonly spec: Readonly<Record<string, string>> };
export const policies = defineResource<Policy>({
  group: "lattice.dev",
  version: "v1",
  kind: "Policy",
  plural: "policies",
  namespaced: true,
});

export function widget(name: string, spec: Widget["spec"] = {}, metadata: Partial<Widget["metadata"]> = {}): Widget {
  return { apiVersion: "lattice.dev/v1", kind: "Widget", metadata: { name, namespace: "shop", ...metadata }, spec };
}

export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: Partial<ConfigMap["metadata"]> = {},
): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop", ...metadata }, data };
}

export type LogLine = { readonly level: string; readonly message: string; readonly fields: LogFields };

/** The user that the manager's client acts as. Faults and `writes` are about its requests alone. */
const OPERATOR = { name: "lattice", groups: ["system:masters"] };
const NAMESPACES = ["shop", "other", "lattice-system"];

export class ControllerWorld implements AsyncDisposable {
  readonly cluster: EmbeddedCluster<FakeClock>;
  readonly clock: FakeClock;
  readonly random = seededRandom(7);
  readonly client: KubeClient;
  readonly metrics = new MetricsRegistry();
  readonly lines: LogLine[] = [];
  readonly logger = createLogger((level, message, fields) => void this.lines.push({ level, message, fields }));
  readonly #stopping = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  private constructor(cluster: EmbeddedCluster<FakeClock>) {
    this.cluster = cluster;
    this.clock = cluster.clock;
    this.client = createKubeClient({ transport: cluster.transportFor(OPERATOR), clock: this.clock, random: this.random });
  }

  static async open(): Promise<ControllerWorld> {
    const namespaces = NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
    const clock = new SettlingClock();
    return new ControllerWorld(await startEmbeddedCluster({ clock, objects: [...namespaces, openCrd(widgets), openCrd(policies)] }));
  }

  start(controllers: readonly BoundController[], options: Partial<ManagerOptions> = {}): ControllerManager {
    const { clock, random, client, metrics, logger } = this;
    const tracer: Tracer = noTracing;
    const manager = createManager({ client, controllers, clock, random, logger, metrics, tracer, identity: "world", ...options });
    this.#ended = manager.run(this.#stopping.signal);
    return manager;
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Stops and waits; a timer that is left is a leak. Returns how many there are. */
  async end(ms = 60_000): Promise<number> {
    this.stop();
    await this.clock.advance(ms);
    await this.#ended;
    return this.clock.pending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
    await this.cluster.close();
  }

  /** The next requests of the manager's client that match get this answer; one request unless `times` says otherwise. */
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

  widget(name: string): Promise<Widget | undefined> {
    return this.object(widgets, { namespace: "shop", name });
  }

  async ready(name: string): Promise<Condition | undefined> {
    return (await this.widget(name))?.status?.conditions?.find((condition) => condition.type === "Ready");
  }

  /** "Warning Reason: note", oldest first. */
  async events(): Promise<readonly string[]> {
    return (await this.objects(eventResource)).map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
  }

  /** The requests of the manager's client, oldest first. */
  requests(): readonly LoggedAction[] {
    return this.cluster.actions.filter({ user: OPERATOR.name });
  }

  /** "PATCH namespaces/shop/configmaps/a", as far as the server accepted them. */
  writes(): readonly string[] {
    return this.requests()
      .filter(({ method, code = 0, path }) => method !== "GET" && code > 0 && code < 300 && !path.includes("events.k8s.io"))
      .map(({ method, path }) => `${method} ${path.replace(/^\/apis?\/(.*\/)?v1\//, "")}`);
  }
}

export async function putObject<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: T,
  fieldManager: string,
): Promise<T> {
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
