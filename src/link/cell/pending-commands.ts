/** The commands to one agent that are not acknowledged yet. They outlive a stream: after a reconnect they are sent again with the same ids. */
import { err, ok, type Clock, type Result } from "#base";
import type { CommandAckMessage } from "../protocol/agent-messages.ts";
import type { CellOrder, CellPayload } from "../protocol/cell-messages.ts";
import { LINK_LIMITS, LINK_TIMES } from "../protocol/link-limits.ts";
import type { CommandResult, LinkError } from "./cell-types.ts";

type Settled = Result<CommandResult, LinkError>;
type Pending = { readonly payload: CellPayload; readonly settle: (settled: Settled) => void };

export class PendingCommands {
  readonly #clock: Clock;
  readonly #pending = new Map<string, Pending>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFull(): boolean {
    return this.#pending.size >= LINK_LIMITS.pendingCommands;
  }

  /** To be sent now, and again after each reconnect. */
  payloads(): readonly CellPayload[] {
    return [...this.#pending.values()].map(({ payload }) => payload);
  }

  add(id: string, order: CellOrder, signal: AbortSignal): Promise<Settled> {
    return new Promise((resolve) => {
      const settle = (settled: Settled) => {
        this.#pending.delete(id);
        cancel();
        signal.removeEventListener("abort", aborted);
        resolve(settled);
      };
      const aborted = () => settle(err({ kind: "aborted", message: "the command was aborted" }));
      const seconds = LINK_TIMES.commandMs / 1_000;
      const late = { kind: "timeout", message: `the agent did not acknowledge the command within ${seconds} seconds` } as const;
      const cancel = this.#clock.after(LINK_TIMES.commandMs, () => settle(err(late)));
      signal.addEventListener("abort", aborted, { once: true });
      this.#pending.set(id, { payload: { kind: "order", id, order }, settle });
    });
  }

  /** An acknowledgement without a command is ignored: it may be the second one. */
  acknowledged({ id, success, error, effects }: CommandAckMessage): void {
    const failed = { kind: "failed", message: error === "" ? "the agent reports no reason" : error } as const;
    this.#pending.get(id)?.settle(success ? ok({ effects }) : err(failed));
  }

  close(message: string): void {
    for (const { settle } of this.#pending.values()) settle(err({ kind: "not-connected", message }));
  }
}
