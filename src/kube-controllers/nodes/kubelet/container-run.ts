/**
 * The states of one container, as a state machine on a clock. Pure: `advance` moves it to `now` and returns when to check again.
 *
 * Stages begin when they were due, not when a pass ran: a late pass has the same result as one in time.
 */
import type { Behaviour } from "../faults/behaviour.ts";
import type { Speeds } from "../options.ts";

export type Stage = "blocked" | "creating" | "pull-failed" | "pull-backoff" | "running" | "restarting" | "backing-off" | "over";

export type Ended = { readonly code: number; readonly startedAt: number; readonly finishedAt: number; readonly reason: string };

export type ContainerRun = {
  readonly stage: Stage;
  /** When the stage began, in milliseconds since 1970. */
  readonly since: number;
  readonly restarts: number;
  /** Consecutive exits without a long run between them: they determine the back-off. */
  readonly crashes: number;
  readonly failedPulls: number;
  readonly ended?: Ended;
  readonly previous?: Ended;
};

/** Transitions that are recorded as events. */
export type Happening = {
  readonly what: "pulled" | "started" | "pull-failed" | "pull-backoff" | "backed-off" | "killed";
  readonly detail?: string;
};

export type Advance = { readonly run: ContainerRun; readonly wakeAt: number | undefined; readonly happened: readonly Happening[] };

export type Rules = {
  /** Behaviour of the current run: after a restart the container may behave differently. */
  readonly behaviour: (restarts: number) => Behaviour;
  readonly restarts: (code: number) => boolean;
  readonly speeds: Speeds;
};

/** A container that ran as long as this has its back-off reset. */
const LONG_RUN_MS = 600_000;

export const BLOCKED: ContainerRun = { stage: "blocked", since: 0, restarts: 0, crashes: 0, failedPulls: 0 };

export function unblock(run: ContainerRun, at: number): ContainerRun {
  return run.stage === "blocked" ? { ...run, stage: "creating", since: at } : run;
}

export function advance(run: ContainerRun, rules: Rules, now: number): Advance {
  const happened: Happening[] = [];
  let current = run;
  for (;;) {
    const next = nextStage(current, rules);
    if (next === undefined || next.at > now) return { run: current, wakeAt: next?.at, happened };
    happened.push(...next.happened);
    current = next.run;
  }
}

type Next = { readonly at: number; readonly run: ContainerRun; readonly happened: readonly Happening[] };

function nextStage(run: ContainerRun, rules: Rules): Next | undefined {
  const { speeds } = rules;
  const behaviour = rules.behaviour(run.restarts);
  switch (run.stage) {
    case "blocked":
    case "over":
      return undefined;
    case "creating":
      return created(run, behaviour);
    case "pull-failed":
      return {
        at: run.since + Math.max(1, speeds.startMs),
        run: at(run, "pull-backoff", run.since + Math.max(1, speeds.startMs)),
        happened: [{ what: "pull-backoff" }],
      };
    case "pull-backoff": {
      const due = run.since + backoffMs(run.failedPulls, speeds);
      return { at: due, run: at(run, "creating", due), happened: [] };
    }
    case "running":
      return exited(run, behaviour, rules);
    case "restarting":
      return startAgain(run, run.since + speeds.startMs);
    case "backing-off":
      return startAgain(run, run.since + backoffMs(run.crashes - 1, speeds));
  }
}

function created(run: ContainerRun, { pullError, startMs }: Behaviour): Next {
  const due = run.since + startMs;
  if (pullError === undefined) return { at: due, run: at(run, "running", due), happened: [{ what: "pulled" }, { what: "started" }] };
  const failed = { ...at(run, "pull-failed", due), failedPulls: run.failedPulls + 1 };
  return { at: due, run: failed, happened: [{ what: "pull-failed", detail: pullError }] };
}

function exited(run: ContainerRun, { exit }: Behaviour, rules: Rules): Next | undefined {
  if (exit === undefined) return undefined;
  const due = run.since + exit.afterMs;
  const ended = endOf(run, exit.code, due);
  const killed: readonly Happening[] = exit.because === undefined ? [] : [{ what: "killed", detail: exit.because }];
  if (!rules.restarts(exit.code)) return { at: due, run: { ...ended, stage: "over" }, happened: killed };
  const crashes = due - run.since >= LONG_RUN_MS ? 1 : run.crashes + 1;
  // the first restart is immediate; only repeated exits back off
  const stage = crashes === 1 ? "restarting" : "backing-off";
  const happened = stage === "backing-off" ? [...killed, { what: "backed-off" } as const] : killed;
  return { at: due, run: { ...ended, stage, crashes }, happened };
}

function startAgain(run: ContainerRun, due: number): Next {
  const next = { ...at(run, "running", due), restarts: run.restarts + 1 };
  return { at: due, run: next, happened: [{ what: "pulled" }, { what: "started" }] };
}

/** Stops the container: its Pod is deleted, or does not need it any more. */
export function stop(run: ContainerRun, code: number, when: number): ContainerRun {
  if (run.stage === "over") return run;
  if (run.stage === "running") return { ...endOf(run, code, when), stage: "over" };
  if (run.ended !== undefined) return { ...at(run, "over", when), ended: run.ended };
  return { ...at(run, "over", when), ended: { code: 137, startedAt: 0, finishedAt: 0, reason: "ContainerStatusUnknown" } };
}

function endOf(run: ContainerRun, code: number, when: number): ContainerRun {
  const ended = { code, startedAt: run.since, finishedAt: when, reason: code === 0 ? "Completed" : "Error" };
  return { ...run, since: when, ended, ...(run.ended === undefined ? {} : { previous: run.ended }) };
}

function at(run: ContainerRun, stage: Stage, since: number): ContainerRun {
  return { ...run, stage, since };
}

export function backoffMs(times: number, { restartBackoff }: Speeds): number {
  return Math.min(restartBackoff.initialMs * 2 ** Math.min(Math.max(times, 1) - 1, 30), restartBackoff.maxMs);
}
