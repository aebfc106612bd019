/** A cluster in memory with one manager in it: a fake clock, a scripted API, a client, and everything that was logged. */
import { createLogger, FakeClock, MetricsRegistry, noTracing, seededRandom, type LogFields, type Tracer } from "#base";
import { createManager, eventResource, type BoundController, type ControllerManager, type ManagerOptions } from "#controller-runtime";
import { defineResource, type Condition, type KubeObject } from "#kube";
import { createKubeClient, type KubeClient } from "#kube-client";
import { withManagedFields } from "./managed-fields.ts";
import { ScriptedApi } from "./scripted-api/index.ts";

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

export class ControllerWorld {
  readonly clock = new FakeClock();
  readonly random = seededRandom(7);
  readonly api = new ScriptedApi({ clock: this.clock, random: this.random });
  readonly client: KubeClient = createKubeClient({
    transport: withManagedFields(this.api.transportFor("lattice")),
    clock: this.clock,
    random: this.random,
  });
  readonly metrics = new MetricsRegistry();
  readonly lines: LogLine[] = [];
  readonly logger = createLogger((level, message, fields) => void this.lines.push({ level, message, fields }));
  readonly #stopping = new AbortController();
  #ended: Promise<void> = Promise.resolve();

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

  widget(name: string): Widget | undefined {
    return this.api.object(widgets, { namespace: "shop", name });
  }

  ready(name: string): Condition | undefined {
    return this.widget(name)?.status?.conditions?.find((condition) => condition.type === "Ready");
  }

  /** "Warning Reason: note", oldest first. */
  events(): readonly string[] {
    return this.api.objects(eventResource).map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
  }

  /** "PATCH configmaps/shop/a", as far as the server said yes. */
  writes(): readonly string[] {
    return this.api.log
      .filter(({ method, code, path }) => method !== "GET" && code < 300 && !path.includes("events.k8s.io"))
      .map(({ method, path }) => `${method} ${(path.split("?")[0] ?? path).replace(/^\/apis?\/(.*\/)?v1\//, "")}`);
  }
}
