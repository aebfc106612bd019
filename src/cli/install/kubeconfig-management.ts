/** The management cluster, by the file of its kubeconfig, which may be written while an installation runs. */
import { existsSync } from "node:fs";
import { err, mapErr, ok, silentLogger, type Result } from "#base";
import type { ManagementAccess } from "#install";
import type { KubeClient } from "#kube-client";
import { connect, type Connection } from "../cluster.ts";
import type { CliIo } from "../io.ts";
import { MAX_SMALL_FILE, readRegularText } from "../regular-file.ts";
import { shortPath } from "../short-path.ts";
import { editCommand } from "./person-commands.ts";
import { isMarkedDeleted, markClusterDeleted } from "./deleted-clusters.ts";

const ANSWER_WITHIN_MS = 5_000;
/** Answers from 500 on may be those of a load balancer whose cluster is gone. */
const FROM_SERVER = 500;

export type KubeconfigManagementOptions = {
  readonly path: string;
  /** The name of the management cluster. */
  readonly cluster: string;
  /** The file may be written while the command runs: until then, there is no cluster. */
  readonly mayComeLater: boolean;
};

export class KubeconfigManagement implements ManagementAccess {
  readonly #io: CliIo;
  readonly #options: KubeconfigManagementOptions;
  /** By the text of the file that it was made from. */
  #current: { readonly text: string | undefined; readonly connection: Connection } | undefined;
  /** Of earlier texts: a step may still use one. */
  readonly #replaced: Connection[] = [];

  constructor(io: CliIo, options: KubeconfigManagementOptions) {
    this.#io = io;
    this.#options = options;
  }

  get ifGone(): string | undefined {
    const { path, mayComeLater } = this.#options;
    return mayComeLater ? `stop, remove ${shortPath(this.#io.cwd, path)} and run the same command again` : undefined;
  }

  get edit(): string {
    const { path, cluster } = this.#options;
    return editCommand(shortPath(this.#io.cwd, path), cluster);
  }

  /** The file can be used, or may come later. */
  async check(): Promise<Result<void, string>> {
    if (this.#isAwaited()) return ok(undefined);
    const connected = await this.#connect();
    return connected.ok ? ok(undefined) : err(`--management-kubeconfig: ${connected.error}`);
  }

  readonly find = async (signal: AbortSignal): Promise<Result<KubeClient | undefined, string>> => {
    if (this.#isAwaited()) return ok(undefined);
    const connected = await this.#connect();
    if (!connected.ok) return connected;
    const { client, config } = connected.value;
    return ok(!isMarkedDeleted(this.#io, config) || (await isAlive(client, signal)) ? client : undefined);
  };

  /** An earlier run has deleted its machines, and nothing answers. */
  async isGone(signal: AbortSignal): Promise<boolean> {
    const found = this.#isAwaited() ? undefined : await this.find(signal);
    return found?.ok === true && found.value === undefined;
  }

  readonly kubeconfig = (): Promise<Result<string, string>> =>
    Promise.resolve(readRegularText(this.#options.path, { bytes: MAX_SMALL_FILE }));

  readonly markDeleted = async (): Promise<Result<void, string>> => {
    if (this.#isAwaited()) return ok(undefined);
    const connected = await this.#connect();
    if (!connected.ok) return connected;
    const { client, config } = connected.value;
    const { cluster, path } = this.#options;
    if (await isAlive(client, this.#io.signal))
      return err(
        `the machines of ${cluster} are deleted, and ${config.server} still answers; if it is another cluster, give the kubeconfig of ${cluster} in place of ${shortPath(this.#io.cwd, path)}`,
      );
    const marked = markClusterDeleted(this.#io, config);
    return marked.ok ? marked : err(`that the cluster is deleted cannot be written: ${marked.error}`);
  };

  #isAwaited(): boolean {
    return this.#options.mayComeLater && this.#current === undefined && !existsSync(this.#options.path);
  }

  /** Again when the file has changed: a person may correct it while the command waits. */
  async #connect(): Promise<Result<Connection, string>> {
    const { path, cluster } = this.#options;
    const shown = shortPath(this.#io.cwd, path);
    const known = this.#current;
    // before the connection reads it: a change in between is seen the next time
    const read = readRegularText(path, { bytes: MAX_SMALL_FILE });
    const text = read.ok ? read.value : undefined;
    // also when it is removed, and for a pipe, which can be read once
    if (known !== undefined && (text === undefined || text === known.text)) return ok(known.connection);
    if (!existsSync(path)) return err(`${shown} does not exist; give the file with the kubeconfig of ${cluster}`);
    const connected = await connect(this.#io, { kubeconfig: path }, { logger: silentLogger });
    if (!connected.ok) return mapErr(connected, (message) => `${shown}: ${message}`);
    if (known !== undefined) this.#replaced.push(known.connection);
    this.#current = { text, connection: connected.value };
    return connected;
  }

  async close(): Promise<void> {
    const current = this.#current === undefined ? [] : [this.#current.connection];
    await Promise.all([...this.#replaced, ...current].map(({ client }) => client.close()));
  }
}

/** A server that refuses the request is there, too. */
async function isAlive(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const answer = await client.raw("/version", { signal, timeoutMs: ANSWER_WITHIN_MS });
  return answer.ok || signal.aborted || (answer.error.code !== undefined && answer.error.code < FROM_SERVER);
}
