/** Waits for work with a time limit. True when it ended in time; false when the time ran out or `early` fired first. */
import type { Clock } from "#base";

export function within(clock: Clock, ms: number, work: Promise<unknown>, early?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (inTime: boolean) => {
      cancel();
      early?.removeEventListener("abort", giveUp);
      resolve(inTime);
    };
    const giveUp = () => finish(false);
    const cancel = clock.after(ms, giveUp);
    void work.finally(() => finish(true));
    if (early?.aborted === true) giveUp();
    else early?.addEventListener("abort", giveUp, { once: true });
  });
}
