/**
 * fleet.json: the clusters and their processes, for users and their scripts. It is output: an edited file is replaced at the next change.
 *
 * It is replaced by a rename, so that a reader sees a complete file. When it cannot be written (disk full), the fleet runs on, and it is tried
 * again.
 */
import type { Clock, Logger, Result } from "#base";
import { writePrivateFile } from "#pki";
import type { ClusterView } from "../fleet-types.ts";

export type FleetFileOptions = {
  readonly path: string;
  readonly clusters: () => readonly ClusterView[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly write?: (path: string, text: string) => Result<void, string>;
};

/** Changes within this time are written once. */
const COALESCE_MS = 20;
const RETRY_MS = 5_000;

export class FleetFile {
  readonly #options: FleetFileOptions;
  #cancel: (() => void) | undefined;
  #written: string | undefined;
  #failed = false;

  constructor(options: FleetFileOptions) {
    this.#options = options;
  }

  /** Writes it soon. */
  changed(): void {
    this.#cancel ??= this.#options.clock.after(COALESCE_MS, () => this.flush());
  }

  flush(): void {
    const { path, clusters, clock, logger, write = writePrivateFile } = this.#options;
    this.#cancel?.();
    this.#cancel = undefined;
    const text = `${JSON.stringify({ clusters: clusters().map(recordOf) }, null, 2)}\n`;
    if (text === this.#written) return;
    const written = write(path, text);
    if (!written.ok && !this.#failed) logger.error("the list of clusters cannot be written; it is tried again", { reason: written.error });
    if (!written.ok) this.#cancel = clock.after(RETRY_MS, () => this.flush());
    this.#failed = !written.ok;
    this.#written = written.ok ? text : undefined;
  }

  close(): void {
    this.flush();
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

function recordOf({ name, parent, kubeconfig, pids, state }: ClusterView) {
  return { name, ...(parent === undefined ? {} : { parent }), kubeconfig, pids, state };
}
