/**
 * Labels the Pod of the leader, so that a Service can select it. Only the own Pod is written, therefore the label is also removed without the lease:
 * a process that has lost it must not stay selected.
 *
 * A removal that fails is repeated until it succeeds or the process leads again. A container that was killed leaves its label behind; the next one
 * in the Pod removes it when it starts.
 */
import { backoffDelay, err, ok, sleep, type BackoffPolicy, type Clock, type Logger, type Result } from "#base";
import { bindLeaderService, type LeaderService, type RunningLeaderService } from "#controller-runtime";
import { pods } from "#kube";
import type { ClientResult, KubeWriter } from "#kube-client";
import type { OperatorPart } from "./parts.ts";

const LEADER_LABEL = "lattice.dev/leader";
/** Shorter than a service may take to end. */
const PATCH_MS = 3_000;
const RETRY: BackoffPolicy = { initialMs: 500, maxMs: 30_000, factor: 2 };

export type LeaderLabelOptions = {
  readonly pod: { readonly namespace: string; readonly name: string };
  /** Not fenced. */
  readonly client: KubeWriter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
};

/** Also the declaration for RBAC. */
export const leaderLabelService: LeaderService<{ readonly label: LeaderLabel }> = {
  name: "leader-label",
  homePermissions: [{ resource: pods, verbs: ["patch"] }],
  start: ({ label, client }) => label.put(client),
};

export function leaderLabelPart(options: LeaderLabelOptions): OperatorPart {
  const label = new LeaderLabel(options);
  const cleanUp = {
    name: "leader-label",
    start: () => {
      void label.startRemoval();
      return Promise.resolve(ok({ close: () => label.endRemoval() }));
    },
  };
  return { name: "leader-label", everyReplica: [cleanUp], services: [bindLeaderService(leaderLabelService, { label })] };
}

type Removal = { readonly stop: AbortController; readonly ended: Promise<void> };

class LeaderLabel {
  readonly #options: LeaderLabelOptions;
  #removal: Removal | undefined;

  constructor(options: LeaderLabelOptions) {
    this.#options = options;
  }

  /** Uses the fenced client: a process that does not lead must not set it. */
  async put(client: KubeWriter): Promise<Result<RunningLeaderService, string>> {
    await this.endRemoval(); // one that is under way must not arrive after this
    const answer = await this.#patch(client, "true");
    if (!answer.ok) return err(`Pod ${this.#options.pod.name} could not be labelled as leader: ${answer.error.message}`);
    let end: (result: Result<void, string>) => void = () => {};
    const ended = new Promise<Result<void, string>>((resolve) => (end = resolve));
    const close = async () => {
      await this.startRemoval();
      end(ok(undefined));
    };
    return ok({ ended, close });
  }

  /** Resolves after the first attempt; later ones go on without the caller. */
  async startRemoval(): Promise<void> {
    const stop = new AbortController();
    const first = this.#tryRemoval();
    this.#removal = { stop, ended: this.#repeat(first, stop.signal) };
    await first;
  }

  async endRemoval(): Promise<void> {
    this.#removal?.stop.abort();
    await this.#removal?.ended;
  }

  async #repeat(first: Promise<string | undefined>, signal: AbortSignal): Promise<void> {
    const { clock, random, logger, pod } = this.#options;
    let logged: string | undefined;
    let problem = await first;
    for (let failures = 1; problem !== undefined && !signal.aborted; failures += 1) {
      if (problem !== logged) logger.warn("the label of the leader could not be removed from this Pod", { pod: pod.name, error: problem });
      logged = problem;
      if (await sleep(clock, backoffDelay(RETRY, failures, random), signal)) problem = await this.#tryRemoval();
    }
  }

  /** The problem, if there is one. A Pod that does not exist has no label. */
  async #tryRemoval(): Promise<string | undefined> {
    const answer = await this.#patch(this.#options.client, null);
    return answer.ok || answer.error.kind === "not-found" ? undefined : answer.error.message;
  }

  #patch(client: KubeWriter, value: "true" | null): ClientResult<unknown> {
    const patch = { metadata: { labels: { [LEADER_LABEL]: value } } };
    return client.patch(pods, this.#options.pod, { type: "merge", patch }, { timeoutMs: PATCH_MS });
  }
}
