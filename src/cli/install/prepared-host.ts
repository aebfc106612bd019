/** A bootstrap cluster that the command prepares: it gets Cluster API and Lattice's kinds, and its operator runs in this process. */
import { err, ok, type Clock, type Result } from "#base";
import type { ClusterBundle } from "#bundle";
import {
  cleanBootstrap,
  planBootstrap,
  prepareBootstrap,
  readBootstrapRecord,
  type BootstrapEnd,
  type BootstrapHost,
  type CellEndpoints,
  type FindCluster,
} from "#install";
import type { Connection } from "../cluster.ts";
import type { BootstrapSource } from "./bootstrap-source.ts";
import { BOOTSTRAP } from "./fleet-host.ts";
import { discardText } from "./person-commands.ts";
import type { OwnOperator } from "./own-operator.ts";

export type PreparedHostOptions = {
  readonly source: BootstrapSource;
  /** The name of the management cluster. */
  readonly cluster: string;
  readonly bundle: () => Promise<Result<ClusterBundle, string>>;
  /** Absent: only providers are needed, since nothing is made there. */
  readonly operator?: OwnOperator | undefined;
  readonly endpoints: () => Promise<Result<CellEndpoints, string>>;
  readonly clock: Clock;
};

export class PreparedHost implements BootstrapHost {
  readonly name = BOOTSTRAP;
  readonly atEnd: BootstrapEnd;
  readonly endpoints: BootstrapHost["endpoints"];
  readonly discard: string;
  readonly #options: PreparedHostOptions;

  constructor(options: PreparedHostOptions) {
    this.#options = options;
    this.atEnd = options.source.remove === undefined ? "cleaned" : "removed";
    this.endpoints = options.endpoints;
    this.discard = discardText(options.source.kubeconfig, options.cluster);
  }

  /** Undefined also for a cluster that is not prepared yet. */
  readonly find: FindCluster = async (signal) => {
    const { source, cluster, operator } = this.#options;
    const found = await source.find(signal);
    if (!found.ok || found.value === undefined) return found.ok ? ok(undefined) : found;
    const { client } = found.value;
    const record = await readBootstrapRecord(client, { signal });
    if (!record.ok) return record;
    if (record.value === undefined || record.value.state === "preparing") return ok(undefined);
    if (record.value.cluster !== cluster) return err(`it is used for management cluster ${record.value.cluster}`);
    const started = record.value.state === "prepared" ? await operator?.start(found.value) : undefined;
    return started?.ok === false ? started : ok(client);
  };

  readonly create = async (signal: AbortSignal): Promise<Result<void, string>> => {
    const { source, cluster, bundle, clock } = this.#options;
    const created = await source.create(signal);
    if (!created.ok) return created;
    const connection = await this.#connection(signal);
    if (!connection.ok) return connection;
    const prepared = { client: connection.value.client, cluster, bundle, clock, signal };
    const plan = await planBootstrap(prepared);
    if (!plan.ok) return plan;
    if (plan.value.kind === "ready")
      return err("the bootstrap cluster has got Lattice from elsewhere meanwhile; run the same command again");
    return prepareBootstrap(prepared, plan.value.objects);
  };

  readonly remove = async (signal: AbortSignal): Promise<Result<void, string>> => {
    const { source, operator, clock } = this.#options;
    await operator?.close();
    if (source.remove !== undefined) return source.remove(signal);
    const connection = await this.#connection(signal);
    return connection.ok ? cleanBootstrap({ client: connection.value.client, cell: this.name, clock, signal }) : connection;
  };

  async #connection(signal: AbortSignal): Promise<Result<Connection, string>> {
    const found = await this.#options.source.find(signal);
    if (!found.ok) return found;
    return found.value === undefined ? err("the bootstrap cluster does not exist") : ok(found.value);
  }

  async close(): Promise<void> {
    await this.#options.operator?.close();
  }
}
