/**
 * The commands that an agent has received, by id, with their results: a command that arrives twice is carried out once and acknowledged twice.
 *
 * Bounded: the oldest finished command is forgotten first. Running ones are kept: a cell has a limit of its own for them.
 */
import type { CommandAckMessage } from "./agent-messages.ts";
import { LINK_LIMITS } from "./link-limits.ts";

export type OrderOutcome = Pick<CommandAckMessage, "success" | "error" | "effects">;

/** What to do with a command that has arrived. */
export type CommandArrival =
  | { readonly kind: "run" }
  | { readonly kind: "wait" }
  | { readonly kind: "answer"; readonly ack: CommandAckMessage };

export class CommandMemory {
  /** A number: how often a running command arrived. */
  readonly #commands = new Map<string, CommandAckMessage | number>();
  readonly #most: number;

  constructor(most: number = LINK_LIMITS.rememberedCommands) {
    this.#most = most;
  }

  get size(): number {
    return this.#commands.size;
  }

  arrived(id: string): CommandArrival {
    const known = this.#commands.get(id);
    if (typeof known === "object") return { kind: "answer", ack: known };
    this.#commands.set(id, (known ?? 0) + 1);
    return known === undefined ? { kind: "run" } : { kind: "wait" };
  }

  /** The acknowledgement, once for each time that the command arrived. */
  finished(id: string, outcome: OrderOutcome): readonly CommandAckMessage[] {
    const ack: CommandAckMessage = { kind: "command-ack", id, ...outcome };
    const times = this.#commands.get(id);
    this.#commands.delete(id); // a finished command is as new as its result
    this.#commands.set(id, ack);
    this.#forget();
    return Array.from({ length: typeof times === "number" ? times : 1 }, () => ack);
  }

  #forget(): void {
    for (const [id, known] of this.#commands) {
      if (this.#commands.size <= this.#most) return;
      if (typeof known === "object") this.#commands.delete(id);
    }
  }
}
