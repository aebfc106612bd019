/** The management cluster, by the file of its kubeconfig, which may be written while an installation runs. */
import { existsSync } from "node:fs";
import { err, ok, silentLogger, type Result } from "#base";
import type { ManagementAccess } from "#install";
import type { KubeClient } from "#kube-client";
import { connect, type Connection } from "../cluster.ts";
import type { CliIo } from "../io.ts";
import { MAX_SMALL_FILE, readRegularText } from "../regular-file.ts";
import { isMarkedDeleted, markClusterDeleted } from "./deleted-clusters.ts";

const ANSWER_WITHIN_MS = 5_000;

export class KubeconfigManagement implements ManagementAccess {
  readonly #io: CliIo;
  readonly #path: string;
  #connection: Connection | undefined;

  constructor(io: CliIo, path: string) {
    this.#io = io;
    this.#path = path;
  }

  readonly find = async (signal: AbortSignal): Promise<Result<KubeClient | undefined, string>> => {
    if (this.#connection === undefined && !existsSync(this.#path)) return ok(undefined);
    const connected = await this.#connect();
    if (!connected.ok) return connected;
    const { client, config } = connected.value;
    if (!isMarkedDeleted(this.#io, config)) return ok(client);
    const answer = await client.raw("/version", { signal, timeoutMs: ANSWER_WITHIN_MS });
    return ok(answer.ok ? client : undefined);
  };

  /** An earlier run has deleted its machines, and nothing answers. */
  async isGone(signal: AbortSignal): Promise<boolean> {
    const found = existsSync(this.#path) ? await this.find(signal) : undefined;
    return found?.ok === true && found.value === undefined;
  }

  readonly kubeconfig = (): Promise<Result<string, string>> => Promise.resolve(readRegularText(this.#path, { bytes: MAX_SMALL_FILE }));

  readonly markDeleted = async (): Promise<Result<void, string>> => {
    if (this.#connection === undefined && !existsSync(this.#path)) return ok(undefined);
    const connected = await this.#connect();
    if (!connected.ok) return connected;
    const marked = markClusterDeleted(this.#io, connected.value.config);
    return marked.ok ? marked : err(`that the cluster is deleted cannot be written: ${marked.error}`);
  };

  async #connect(): Promise<Result<Connection, string>> {
    if (this.#connection !== undefined) return ok(this.#connection);
    const connected = await connect(this.#io, { kubeconfig: this.#path }, { logger: silentLogger });
    if (connected.ok) this.#connection = connected.value;
    return connected;
  }

  async close(): Promise<void> {
    await this.#connection?.client.close();
  }
}
