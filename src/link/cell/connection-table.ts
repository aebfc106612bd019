/**
 * The connections of agents, by address and port of the client: that is what a gRPC call has of its connection.
 *
 * A connection that opens no stream in time is closed, and so is one whose agent was refused, after a short time to read the reason.
 */
import { err, mapErr, type Clock, type Result } from "#base";
import type { MessageStream, StreamClose } from "../protocol/message-stream.ts";
import type { LinkIdentity } from "./cell-types.ts";
import { eachInTurns } from "./event-loop-turns.ts";
import { peerKey, type AgentConnection } from "./tls-listener.ts";

type TableOptions = { readonly clock: Clock; readonly firstCallMs: number; readonly graceMs: number };
/** In each turn of the event loop. The end of an HTTP/2 session takes about half a millisecond, and a cell may have thousands. */
const CLOSING_MS = 10;

type Entry = AgentConnection & { cancel: () => void; isEnding: boolean };

export class ConnectionTable {
  readonly #options: TableOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: TableOptions) {
    this.#options = options;
  }

  add(connection: AgentConnection): void {
    const { clock, firstCallMs } = this.#options;
    const { socket } = connection;
    const key = peerKey(socket);
    const entry: Entry = { ...connection, cancel: clock.after(firstCallMs, () => socket.destroy()), isEnding: false };
    this.#entries.set(key, entry);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      entry.cancel();
      this.#entries.delete(key);
    });
  }

  /** The owner of the connection that a call came from. */
  identityOf(peer: string, limit: number): Result<LinkIdentity, StreamClose> {
    const entry = this.#entries.get(peer);
    if (entry === undefined || entry.isEnding) return err({ kind: "gone", reason: "the connection is closed" });
    entry.cancel();
    if (entry.isAboveLimit) return err({ kind: "busy", reason: `the cell has ${limit} connections, its limit; try again later` });
    return mapErr(entry.identity, (reason) => ({ kind: "refused", reason: `the certificate is not an agent's: ${reason}` }));
  }

  /** The stream, whose end by this side also ends the connection; not when a newer stream replaces it: its tunnels may still be in use. */
  guarded<In, Out>(stream: MessageStream<In, Out>, peer: string): MessageStream<In, Out> {
    return {
      ...stream,
      close: (close) => {
        stream.close(close);
        if (close.kind !== "stale") this.destroyLater(peer);
      },
    };
  }

  destroyLater(peer: string): void {
    const entry = this.#entries.get(peer);
    if (entry === undefined || entry.isEnding) return;
    entry.isEnding = true;
    entry.cancel();
    entry.cancel = this.#options.clock.after(this.#options.graceMs, () => entry.socket.destroy());
  }

  destroyOf(cluster: string): void {
    for (const [peer, { identity }] of this.#entries) {
      if (identity.ok && identity.value.cluster === cluster) this.destroyLater(peer);
    }
  }

  async close(): Promise<void> {
    const { clock } = this.#options;
    await eachInTurns(this.#entries.values(), { clock, ms: CLOSING_MS }, ({ cancel, socket }) => {
      cancel();
      socket.destroy();
    });
  }
}
