/** A controlled cluster with simulated nodes that run Pods, as a user of the embedded cluster has, with a fake clock. */
import { expectOk } from "#base";
import { events, keyText, type Json, type KubeObject, type Resource } from "#kube";
import { createSimulation, kubeControllers, type Simulation, type SimulationOptions } from "#kube-controllers";
import { controlledCluster, type ControlledCluster, type ControlledClusterOptions } from "./controlled-cluster.ts";

export type SimulatedCluster = ControlledCluster & {
  readonly simulation: Simulation;
  /** Advances the clock in small steps, so that the effects of a step happen at their time and not at the end. */
  readonly live: (ms: number, stepMs?: number) => Promise<void>;
  readonly create: (resource: Resource, name: string, body: object) => Promise<KubeObject>;
  readonly read: <T extends KubeObject>(resource: Resource<T>, name: string) => Promise<T>;
  readonly all: <T extends KubeObject>(resource: Resource<T>) => Promise<readonly T[]>;
  readonly patch: (resource: Resource, name: string, patch: Json) => Promise<void>;
  /** "Normal ScalingReplicaSet: …", about objects of this kind, oldest first. */
  readonly eventsOn: (kind: string) => Promise<readonly string[]>;
};

export type SimulatedClusterOptions = Omit<ControlledClusterOptions, "simulation"> & { readonly simulation?: SimulationOptions };

export async function simulatedCluster(options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
  const simulation = createSimulation(options.simulation);
  const controllers =
    options.controllers ?? kubeControllers({ podMetrics: simulation.usage, namespaceGraceMs: 0, podLimit: options.podLimit });
  const cluster = await controlledCluster({ ...options, controllers, simulation: simulation.controllers });
  const { client } = cluster;
  const namespace = "default";
  await cluster.running.idle();
  return {
    ...cluster,
    simulation,
    async live(ms, stepMs = 20) {
      await cluster.running.idle();
      for (let left = ms; left > 0; left -= stepMs) await cluster.advance(Math.min(left, stepMs));
    },
    async create(resource, name, body) {
      const apiVersion = resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
      const { metadata, ...rest } = body as { metadata?: object };
      const place = resource.namespaced ? { namespace } : {};
      return expectOk(
        await client.create(resource, { apiVersion, kind: resource.kind, metadata: { ...place, name, ...metadata }, ...rest }),
      );
    },
    read: async (resource, name) => expectOk(await client.get(resource, resource.namespaced ? { namespace, name } : { name })),
    all: async (resource) => expectOk(await client.list(resource)).items,
    async patch(resource, name, patch) {
      const key = resource.namespaced ? { namespace, name } : { name };
      const answer = await client.patch(resource, key, { type: "strategic", patch });
      if (!answer.ok) throw new Error(`${keyText(key)}: ${answer.error.message}`);
    },
    async eventsOn(kind) {
      await new Promise((resolve) => setImmediate(resolve));
      const found = expectOk(await client.list(events)).items;
      return found.filter(({ regarding }) => regarding["kind"] === kind).map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
    },
  };
}

/** A template with one container. */
export function podTemplate(
  image: string,
  more: { spec?: object; annotations?: Readonly<Record<string, string>>; container?: object } = {},
) {
  return {
    metadata: { labels: { app: "web" }, ...(more.annotations === undefined ? {} : { annotations: more.annotations }) },
    spec: { containers: [{ name: "web", image, ...more.container }], ...more.spec },
  };
}

export const SELECTOR = { matchLabels: { app: "web" } };

/** Throws if the value is undefined. */
export function defined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the value is undefined");
  return value;
}
