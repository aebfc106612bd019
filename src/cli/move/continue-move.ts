/**
 * A move whose lease could not be renewed in time, because this machine or the API server was too slow, continues as the same command run again would:
 * under another identity, when the lease has run out. Until then requests that were sent may still be executed.
 */
import type { Result } from "#base";
import type { MoveFailure } from "#pivot";
import type { CommandIo } from "../io.ts";
import type { ShownProgress } from "./progress.ts";

const MOST_RUNS = 5;

export async function continueMove<T>(
  io: CommandIo,
  progress: ShownProgress,
  run: (identity: string) => Promise<Result<T, MoveFailure>>,
): Promise<Result<T, MoveFailure>> {
  for (let runs = 1; ; runs += 1) {
    const ended = await run(`${io.hostname}-${Math.floor(io.random() * 2 ** 32).toString(16)}`);
    if (ended.ok || runs === MOST_RUNS || io.signal.aborted) return ended;
    // a renewal of the run before may be executed late, as if its process were another one that is still at work
    const isOwn = ended.error.isLeaseLost === true || (ended.error.kind === "held" && runs > 1);
    if (!isOwn) return ended;
    progress.note("the lease could not be renewed in time; continuing when it has run out");
  }
}
