/** Lists that are read page by page. An API server keeps a list for some minutes only; one that has expired begins again. */
import { ok } from "#base";
import type { KubeObject } from "#kube";
import { failedAt, type Moved } from "./failure.ts";

export type ObjectPage = {
  readonly items: readonly KubeObject[];
  /** Where the next page begins; absent: there is none. */
  readonly next?: string;
  /** The list cannot be continued. */
  readonly expired?: true;
};

/** How often a list begins again. */
export const MOST_RESTARTS = 5;

export function expiredTooOften(): ReturnType<typeof failedAt> {
  return failedAt("a list has expired again and again before its end: the API server is too slow; run the command again");
}

/** What `take` returns of each object, if it returns something; nothing else is held. */
export async function collectPages<T>(
  read: (from: string | undefined) => Moved<ObjectPage>,
  take: (object: KubeObject) => T | undefined,
): Moved<readonly T[]> {
  let [taken, from, restarts]: [T[], string | undefined, number] = [[], undefined, 0];
  for (;;) {
    const page = await read(from);
    if (!page.ok) return page;
    for (const item of page.value.items) {
      const part = take(item);
      if (part !== undefined) taken.push(part);
    }
    from = page.value.next;
    if (page.value.expired) {
      taken = [];
      restarts += 1;
      if (restarts > MOST_RESTARTS) return expiredTooOften();
    } else if (from === undefined) return ok(taken);
  }
}
