/**
 * A watcher that resumes with its last version after every interruption and never lists again: if one acknowledged write is missing
 * from its events, the server has lost an event.
 */
import { setTimeout as wait } from "node:timers/promises";
import { configMaps, type ConfigMap } from "#kube";
import type { KubeClient, WatchEvent } from "#kube-client";

const RETRY_MS = 100;

export class ResumingWatcher {
  /** `name version` of every event. */
  readonly seen = new Set<string>();
  readonly wrong: string[] = [];
  resumed = 0;
  #version: string;
  readonly #running: Promise<void>;
  readonly #stop = new AbortController();

  constructor(client: KubeClient, options: { readonly namespace: string; readonly from: string }) {
    this.#version = options.from;
    this.#running = this.#run(client, options.namespace);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(client: KubeClient, namespace: string): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      for await (const event of client.watch(configMaps, { namespace, resourceVersion: this.#version }, signal)) {
        if (event.ok) this.#take(event.value);
        else if (event.error.kind === "gone") this.wrong.push(`version ${this.#version} has expired: ${event.error.message}`);
      }
      this.resumed += 1;
      await wait(RETRY_MS);
    }
  }

  #take(event: WatchEvent<ConfigMap>): void {
    if (event.type === "BOOKMARK") {
      this.#version = event.resourceVersion;
      return;
    }
    const { name, resourceVersion = "" } = event.object.metadata;
    if (Number(resourceVersion) <= Number(this.#version)) this.wrong.push(`${name}: version ${resourceVersion} after ${this.#version}`);
    this.#version = resourceVersion;
    this.seen.add(`${name} ${resourceVersion}`);
  }
}
