/** An open watch: its events one by one, as lines of JSON. */
import { expect } from "vitest";
import { expectOk } from "#base";
import { fieldAt, parseJson, type Json } from "#kube";
import type { Streamed } from "./exchange.ts";

export type WatchedEvent = { readonly type: string; readonly object: Json };

export class Watch {
  readonly status: number;
  readonly #stream: Streamed;
  readonly #lines: AsyncGenerator<string, void>;

  constructor(stream: Streamed) {
    this.status = stream.status;
    this.#stream = stream;
    this.#lines = linesOf(stream.chunks);
  }

  /** The next event; undefined when the server has ended the watch. */
  async next(): Promise<WatchedEvent | undefined> {
    const line = await this.#lines.next();
    return line.done === true ? undefined : (expectOk(parseJson(line.value)) as WatchedEvent);
  }

  /** Checks that these are the next events: `["ADDED a", "MODIFIED a"]`. Bookmarks are skipped. */
  async shows(...events: readonly string[]): Promise<readonly WatchedEvent[]> {
    const seen: WatchedEvent[] = [];
    while (seen.length < events.length) {
      const event = await this.next();
      if (event === undefined) break;
      if (event.type !== "BOOKMARK") seen.push(event);
    }
    expect(seen.map(titleOf)).toEqual(events);
    return seen;
  }

  /** All events until the server ends the watch. */
  async rest(): Promise<readonly WatchedEvent[]> {
    const seen: WatchedEvent[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) seen.push(event);
    return seen;
  }

  end(): void {
    this.#stream.end();
  }
}

export function titleOf({ type, object }: WatchedEvent): string {
  const subject = fieldAt(object, "metadata", "name") ?? fieldAt(object, "code");
  return subject === undefined ? type : `${type} ${typeof subject === "string" ? subject : JSON.stringify(subject)}`;
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
