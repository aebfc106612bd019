/** The newest report of the cluster. Reports are read one at a time; a slow or failing one never delays a heartbeat. */
import { describeThrown, fromPromise, sleep, type Clock, type Logger } from "#base";
import { LINK_TIMES } from "../protocol/link-limits.ts";
import type { AgentReport } from "./agent-types.ts";

const NO_REPORT: AgentReport = {
  state: "Unknown",
  health: { readyNodes: 0, totalNodes: 0, conditions: [], kubernetesVersion: "", pools: new Map() },
};

export class ReportSource {
  readonly #read: () => Promise<AgentReport>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #latest = NO_REPORT;
  #reading: Promise<AgentReport> | undefined;

  constructor({ read, clock, logger }: { readonly read: () => Promise<AgentReport>; readonly clock: Clock; readonly logger: Logger }) {
    this.#read = read;
    this.#clock = clock;
    this.#logger = logger;
  }

  get latest(): AgentReport {
    return this.#latest;
  }

  refresh(): Promise<AgentReport> {
    this.#reading ??= this.#readOnce();
    return this.#reading;
  }

  /** A new report, or the latest one if that takes too long. */
  async soon(): Promise<AgentReport> {
    const abandoned = new AbortController();
    await Promise.race([this.refresh(), sleep(this.#clock, LINK_TIMES.reportMs, abandoned.signal)]);
    abandoned.abort();
    return this.#latest;
  }

  async #readOnce(): Promise<AgentReport> {
    const read = await fromPromise(this.#read(), describeThrown);
    if (read.ok) this.#latest = read.value;
    else this.#logger.warn("the report of this cluster failed", { error: read.error });
    this.#reading = undefined;
    return this.#latest;
  }
}

/** One text for equal reports. */
export function reportText({ health }: AgentReport): string {
  const { readyNodes, totalNodes, conditions, kubernetesVersion, pools, specDigest, ownershipEpoch, parentAddresses } = health;
  return JSON.stringify([readyNodes, totalNodes, conditions, kubernetesVersion, [...pools], specDigest, ownershipEpoch, parentAddresses]);
}
