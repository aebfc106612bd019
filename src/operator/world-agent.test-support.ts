/** The agent services of many clusters on one API server, each with a namespace of its own. */
import { expectOk, sleep, type Clock, type Logger } from "#base";
import type { CacheReader } from "#controller-runtime";
import { IDENTITY_CONFIG_MAP, PARENT_CONFIG_SECRET, UplinkSlot } from "#controllers";
import { configMaps, namespaces, secrets, secretsByMetadata, type KubeObject, type ObjectKey, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { agentService, type AgentServiceShared } from "./agent/agent-service.ts";

export type WorldAgentOptions = Pick<AgentServiceShared, "transport" | "post" | "pollMs" | "random"> & {
  readonly cluster: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** The agent service of one cluster, started again after an early end as the manager does. */
export class WorldAgent {
  readonly uplink = new UplinkSlot();
  /** Why it could not be started. */
  readonly errors: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #configVersion: string | undefined;

  constructor(options: WorldAgentOptions) {
    const { cluster } = options;
    this.#running = this.#run({
      ...options,
      cache: cacheOf(cluster, () => this.#configVersion),
      record: () => {},
      signal: this.#stop.signal,
      home: homeOf(cluster),
      uplink: this.uplink,
      apiServer: undefined,
    });
  }

  configured(version: string): void {
    this.#configVersion = version;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(context: Parameters<typeof agentService.start>[0]): Promise<void> {
    const { signal, clock } = context;
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    while (!signal.aborted) {
      const started = await agentService.start(context);
      if (!started.ok) this.errors.push(started.error);
      else {
        await Promise.race([started.value.ended, aborted]);
        await started.value.close();
      }
      await sleep(clock, 1_000, signal);
    }
  }
}

/** The operator's namespace of this cluster: all agents share one API server. */
export function homeOf(cluster: string): string {
  return `home-${cluster}`;
}

function cacheOf(cluster: string, version: () => string | undefined): CacheReader {
  const get = (resource: Resource, { name }: ObjectKey): object | undefined => {
    if (resource === configMaps && name === IDENTITY_CONFIG_MAP) return { metadata: { name }, data: { cluster } };
    const resourceVersion = version();
    if (resource === secretsByMetadata && name === PARENT_CONFIG_SECRET && resourceVersion !== undefined)
      return { metadata: { name, resourceVersion } };
    return undefined;
  };
  return { get, list: () => [], byIndex: () => [], isServed: () => true, access: () => "readable" } as unknown as CacheReader;
}

export type ParentTexts = {
  readonly cell: string;
  readonly endpoint: string;
  readonly bootstrap: string;
  readonly trustBundle: string;
  readonly csrToken: string;
};

/** As the manifests of a registration do it. Returns the version of the Secret. */
export async function configureParent(client: KubeClient, cluster: string, parent: ParentTexts): Promise<string> {
  const { trustBundle, csrToken, ...others } = parent;
  const texts = { ...others, "ca.crt": trustBundle, "csr-token": csrToken };
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
  const namespace = homeOf(cluster);
  expectOk(
    await client.apply(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { fieldManager: "test" }),
  );
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: PARENT_CONFIG_SECRET, namespace }, data };
  const applied = expectOk(await client.apply<KubeObject>(secrets, secret, { fieldManager: "test" }));
  return applied.metadata.resourceVersion ?? "";
}
