/** Carries out the commands of a cell, each id once, and acknowledges them on the connection that is current when they finish. */
import { describeThrown, err, fromPromise, ok } from "#base";
import type { AgentPayload, CommandAckMessage } from "../protocol/agent-messages.ts";
import type { CellOrder } from "../protocol/cell-messages.ts";
import { CommandMemory, type OrderOutcome } from "../protocol/command-memory.ts";
import type { OrderResult, PivotOrder } from "./agent-types.ts";

export type OrderActions = {
  bootstrap(manifests: Uint8Array): Promise<OrderResult>;
  reconcile(): Promise<OrderResult>;
  pivot(pivot: PivotOrder): Promise<OrderResult>;
  /** Sends a heartbeat and the health. */
  status(): Promise<OrderResult>;
  write(payload: AgentPayload): void;
};

export class OrderRunner {
  readonly #actions: OrderActions;
  readonly #memory = new CommandMemory();

  constructor(actions: OrderActions) {
    this.#actions = actions;
  }

  async run(id: string, order: CellOrder): Promise<void> {
    const arrival = this.#memory.arrived(id);
    if (arrival.kind === "wait") return;
    if (arrival.kind === "answer") return this.#acknowledge(order, arrival.ack);
    const done = await fromPromise(this.#perform(order), describeThrown);
    const result = done.ok ? done.value : done;
    const outcome: OrderOutcome = result.ok
      ? { success: true, error: "", effects: result.value }
      : { success: false, error: result.error, effects: [] };
    for (const ack of this.#memory.finished(id, outcome)) this.#acknowledge(order, ack);
  }

  #acknowledge(order: CellOrder, ack: CommandAckMessage): void {
    if (order.kind === "bootstrap" && ack.success) this.#actions.write({ kind: "bootstrap-complete" });
    this.#actions.write(ack);
  }

  #perform(order: CellOrder): Promise<OrderResult> {
    switch (order.kind) {
      case "bootstrap":
        // empty when there is nothing to install
        return order.manifests.byteLength === 0 ? Promise.resolve(ok([])) : this.#actions.bootstrap(order.manifests);
      case "reconcile":
        return this.#actions.reconcile();
      case "status":
        return this.#actions.status();
      case "pivot":
        // objects come through the tunnel; a cell that sends them here is older or newer than this agent
        return order.resources.byteLength > 0
          ? Promise.resolve(err("objects inside of the command are not imported; they are written through the tunnel"))
          : this.#actions.pivot({ cluster: order.cluster, namespace: order.namespace });
    }
  }
}
