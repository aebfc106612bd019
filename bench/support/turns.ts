/**
 * Latencies of equal requests to several servers, measured in turns: each request is sent to all of them, one after the other, in an order that
 * changes at random. So every server gets the same requests, and what else the machine does affects all of them alike.
 */
import { performance } from "node:perf_hooks";

export type Latencies<Side extends string> = Readonly<Record<Side, readonly number[]>>;

/** In microseconds, one for each request. */
export async function takeTurns<Side extends string>(
  sides: readonly Side[],
  requests: number,
  { send, random }: { readonly send: (side: Side, request: number) => Promise<unknown>; readonly random: () => number },
): Promise<Latencies<Side>> {
  const times = new Map<Side, number[]>(sides.map((side) => [side, []]));
  for (let request = 0; request < requests; request += 1) {
    for (const side of shuffled(sides, random)) {
      times.get(side)?.push(await latencyOf(() => send(side, request)));
    }
  }
  return Object.fromEntries(times) as Record<Side, number[]>;
}

/** In microseconds. */
export async function latencyOf(send: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await send();
  return (performance.now() - start) * 1_000;
}

/** The element by nearest rank: of 100 values, the 99th is p99. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

export function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
