/**
 * The operator of a bootstrap cluster, in the process of the command: it needs no image in the bootstrap cluster, and ends with the command. It is that cluster's cell, so
 * the machines of the management cluster reach it at an address of this machine.
 */
import { createLogger, MetricsRegistry, noTracing, ok, PROGRAM_VERSION, sha256Hex, type Result } from "#base";
import type { Bundle } from "#bundle";
import { leaseTimesFor } from "#controller-runtime";
import { OPERATOR_NAMESPACE, operatorDeployment, startOperator } from "#operator";
import type { Connection } from "../cluster.ts";
import type { CliIo } from "../io.ts";
import { tunnelTarget } from "../tunnel-target.ts";

/** The operator of the management cluster. */
export type ManagementOperator = {
  readonly image?: string | undefined;
  /** A folder of the image. */
  readonly bundle?: string | undefined;
};

export type OwnOperatorOptions = { readonly bundle: Bundle | undefined; readonly management: ManagementOperator };

/** Another process may act this long after a crash. */
const LEASE_MS = 5_000;

export class OwnOperator {
  readonly #io: CliIo;
  readonly #options: OwnOperatorOptions;
  #running: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;

  constructor(io: CliIo, options: OwnOperatorOptions) {
    this.#io = io;
    this.#options = options;
  }

  /** Runs afterwards, until `close`. The kinds of Lattice must be served. */
  async start({ client, config }: Connection): Promise<Result<void, string>> {
    if (this.#running !== undefined) return ok(undefined);
    const { clock, random, hostname, signal } = this.#io;
    const { bundle, management } = this.#options;
    const logger = createLogger((level, message, fields) => {
      if (level === "error") this.#io.stderr(`${level}: ${message} ${JSON.stringify(fields)}\n`);
    });
    const stop = new AbortController();
    const args = management.bundle === undefined ? [] : ["--bundle", management.bundle];
    const started = await startOperator(
      {
        namespace: OPERATOR_NAMESPACE,
        identity: `lattice-install-${hostname}-${sha256Hex(`${clock.now()} ${random()}`).slice(0, 8)}`,
        leaderElection: true,
        leaseTimes: leaseTimesFor(LEASE_MS),
        health: { host: "127.0.0.1", port: 0 },
        bundle,
        childDeployment: operatorDeployment({ version: PROGRAM_VERSION, image: management.image, args }),
      },
      {
        client,
        clock,
        random,
        logger,
        metrics: new MetricsRegistry(),
        tracer: noTracing,
        apiServer: await tunnelTarget(config, signal),
      },
      stop.signal,
    );
    if (!started.ok) return started;
    this.#running = { stop, ended: started.value.run(stop.signal) };
    return ok(undefined);
  }

  async close(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.ended;
    this.#running = undefined;
  }
}
