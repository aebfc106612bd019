/** A cluster with one manager, and the log lines of the manager. */
import { createLogger, MetricsRegistry, noTracing, type LogFields, type Tracer } from "#base";
import { createManager, type BoundController, type ControllerManager, type ManagerOptions } from "#controller-runtime";
import { defineResource, events as eventResource, type Condition, type KubeObject } from "#kube";
import { ApiWorld, startCluster } from "./api-world.ts";

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

export class ControllerWorld extends ApiWorld {
  readonly metrics = new MetricsRegistry();
  readonly lines: LogLine[] = [];
  readonly logger = createLogger((level, message, fields) => void this.lines.push({ level, message, fields }));
  #stopping = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  static override async open(): Promise<ControllerWorld> {
    const namespaces = ["shop", "other", "lattice-system"];
    return new ControllerWorld(await startCluster({ namespaces, resources: [widgets, policies] }));
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

  /** Another manager after `stop`, as after an upgrade or a crash of the first. */
  restart(controllers: readonly BoundController[], options: Partial<ManagerOptions> = {}): ControllerManager {
    this.#stopping = new AbortController();
    return this.start(controllers, options);
  }

  /** Stops and waits. Returns the number of remaining timers, each of which is a leak. */
  async end(ms = 60_000): Promise<number> {
    this.stop();
    await this.clock.advance(ms);
    await this.#ended;
    return this.clock.pending;
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

  /** "PATCH namespaces/shop/configmaps/a", as far as the server accepted them. */
  writes(): readonly string[] {
    return this.requests()
      .filter(({ method, code = 0, path }) => method !== "GET" && code > 0 && code < 300 && !path.includes("events.k8s.io"))
      .map(({ method, path }) => `${method} ${path.replace(/^\/apis?\/(.*\/)?v1\//, "")}`);
  }
}
