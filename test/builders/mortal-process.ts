/** A process that dies at one of its writes to API servers. */
import { err } from "#base";
import type { ClientResult, KubeClient } from "#kube-client";

/** "before": the write is not sent; "after": it is executed, and its answer is lost. */
export type Kill = { readonly write: number; readonly when: "before" | "after" };

/** The writes of one process: it dies at one of them, and no later request is sent. */
export class MortalProcess {
  writes = 0;
  dead = false;
  readonly #kill: Kill | undefined;
  readonly #afterWrite: (write: number) => "answered" | "lost";

  /** `afterWrite`: called with the number of a write that was executed; "lost": the process lives, and does not get the answer. */
  constructor(kill: Kill | undefined, afterWrite: (write: number) => "answered" | "lost" = () => "answered") {
    this.#kill = kill;
    this.#afterWrite = afterWrite;
  }

  /** Counts a write: "lost": it is executed, and the process dies. */
  countWrite(): "sent" | "lost" | "dead" {
    if (this.dead) return "dead";
    this.writes += 1;
    if (this.writes !== this.#kill?.write) return "sent";
    this.dead = true;
    return this.#kill.when === "after" ? "lost" : "dead";
  }

  client(client: KubeClient): KubeClient {
    const dead = () => Promise.resolve(err({ kind: "cancelled" as const, message: "killed" }));
    const read = <T>(send: () => ClientResult<T>): ClientResult<T> => (this.dead ? dead() : send());
    const write = async <T>(send: () => ClientResult<T>): ClientResult<T> => {
      const counted = this.countWrite();
      if (counted === "dead") return dead();
      const number = this.writes;
      const answer = await send();
      if (counted === "lost") return dead();
      return this.#afterWrite(number) === "answered" ? answer : err({ kind: "network" as const, message: "the connection broke" });
    };
    return {
      ...client,
      get: (...call) => read(() => client.get(...call)),
      list: (...call) => read(() => client.list(...call)),
      raw: (...call) => read(() => client.raw(...call)),
      create: (...call) => write(() => client.create(...call)),
      update: (...call) => write(() => client.update(...call)),
      apply: (...call) => write(() => client.apply(...call)),
      patch: (...call) => write(() => client.patch(...call)),
      delete: (...call) => write(() => client.delete(...call)),
    };
  }
}
