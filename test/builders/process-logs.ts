/** The logs of fake processes, in files as a kubelet has them. */
import { Buffer } from "node:buffer";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk, systemClock } from "#base";
import { containerLogFolder, ContainerLogWriter, findContainerLog, readContainerLog, type ContainerLogOptions } from "#kube-controllers";

export class ProcessLogs {
  readonly folder = mkdtempSync(join(tmpdir(), "lattice-process-logs-"));
  /** Readers that have not ended. */
  open = 0;
  /** Chunks that a client has taken. */
  taken = 0;
  readonly #running = new Map<string, ContainerLogWriter>();

  /** The container starts, or starts again. */
  start(container: string): void {
    this.end(container);
    const folder = containerLogFolder(this.folder, container);
    this.#running.set(container, expectOk(ContainerLogWriter.next({ folder, clock: systemClock })));
  }

  write(container: string, text: string): void {
    const writer = this.#running.get(container);
    if (writer !== undefined) expectOk(writer.write("stdout", Buffer.from(text)));
  }

  end(container: string): void {
    this.#running.get(container)?.close();
    this.#running.delete(container);
  }

  readonly read = (options: ContainerLogOptions, signal: AbortSignal): AsyncIterable<Uint8Array> | undefined => {
    const path = findContainerLog(containerLogFolder(this.folder, options.container), options);
    if (path === undefined) return undefined;
    const isComplete = () => this.#running.get(options.container)?.path !== path;
    return this.#counted(readContainerLog({ path, options, clock: systemClock, signal, isComplete }));
  };

  async *#counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    this.open += 1;
    try {
      for await (const chunk of chunks) {
        this.taken += 1;
        yield chunk;
      }
    } finally {
      this.open -= 1;
    }
  }

  remove(): void {
    for (const container of this.#running.keys()) this.end(container);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
