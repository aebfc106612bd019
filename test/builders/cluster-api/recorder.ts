/** Watches the objects of one cluster of Cluster API and keeps every version of them, in the order in which the API server reports them. */
import {
  capiClusters,
  capiMachineDeployments,
  capiMachineHealthChecks,
  capiMachines,
  capiMachineSets,
  devClusters,
  devMachines,
  devMachineTemplates,
  kubeadmConfigs,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  secrets,
  type Json,
  type KubeObject,
  type Resource,
} from "#kube";
import type { KubeClient } from "#kube-client";

export type StoryObject = KubeObject & { readonly spec?: Json; readonly status?: Json };
export type StoryEvent = { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: StoryObject };
export type StoryChapter = { readonly title: string; readonly events: StoryEvent[] };

const WATCHED: readonly Resource<StoryObject>[] = [
  capiClusters,
  capiMachineDeployments,
  capiMachineHealthChecks,
  capiMachines,
  capiMachineSets,
  devClusters,
  devMachines,
  devMachineTemplates,
  kubeadmConfigs,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  secrets,
];

export function storyResource(kind: string): Resource<StoryObject> {
  const found = WATCHED.find((resource) => resource.kind === kind);
  if (found === undefined) throw new Error(`kind ${kind} is not recorded`);
  return found;
}

export class ClusterApiRecorder {
  readonly chapters: StoryChapter[] = [];
  /** Watches that ended with an error: the recording is incomplete. */
  readonly problems: string[] = [];
  readonly #objects = new Map<string, StoryObject>();
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  /** Resolves when all watches are open. */
  async start(client: KubeClient, namespace: string): Promise<void> {
    this.chapter("before");
    const opened = WATCHED.map(
      (resource) =>
        new Promise<void>((resolve) => {
          this.#running = Promise.all([this.#running, this.#watch(client, resource, { namespace, onOpen: resolve }).then(resolve)]);
        }),
    );
    await Promise.all(opened);
  }

  chapter(title: string): void {
    this.chapters.push({ title, events: [] });
  }

  /** The number of events so far. */
  get length(): number {
    return this.chapters.reduce((sum, { events }) => sum + events.length, 0);
  }

  /** The objects of a kind that exist now. */
  all(kind: string): readonly StoryObject[] {
    return [...this.#objects.values()].filter((object) => object.kind === kind);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #watch(
    client: KubeClient,
    resource: Resource<StoryObject>,
    { namespace, onOpen }: { readonly namespace: string; readonly onOpen: () => void },
  ): Promise<void> {
    for await (const event of client.watch(resource, { namespace }, this.#stop.signal, onOpen)) {
      if (!event.ok) this.problems.push(`${resource.plural}: ${event.error.message}`);
      else if (event.value.type !== "BOOKMARK") this.#add(event.value);
    }
    if (!this.#stop.signal.aborted) this.problems.push(`${resource.plural}: the server ended the watch`);
  }

  #add({ type, object }: StoryEvent): void {
    const key = `${object.kind} ${object.metadata.name}`;
    if (type === "DELETED") this.#objects.delete(key);
    else this.#objects.set(key, object);
    this.chapters.at(-1)?.events.push({ type, object: withoutSecrets(object) });
  }
}

/** Only the names of the keys of a Secret are recorded. */
function withoutSecrets(object: StoryObject): StoryObject {
  if (object.kind !== "Secret") return object;
  const { apiVersion, kind, metadata } = object;
  const data = (object as { readonly data?: object }).data ?? {};
  return {
    apiVersion,
    kind,
    metadata,
    spec: { keys: Object.keys(data).toSorted(), type: (object as { readonly type?: string }).type ?? "" },
  };
}
