/**
 * When a process of the fleet is started, restarted and ended: a state machine without timers and processes.
 *
 * A process that ends is started again at once, then after 1, 2, 4 and 8 seconds, never later; a run of 30 seconds resets the delay. A start
 * that fails counts as a run that ended at once.
 */

/** Times in milliseconds: `at` since the epoch, `monotonic` for durations. */
export type RunTime = { readonly at: number; readonly monotonic: number };

export type EndedRun = { readonly exitCode: number; readonly startedAt: number; readonly finishedAt: number };

export type ProcessRun = {
  /** idle: not started yet. waiting: until its next start. ended: stopped on request. */
  readonly phase: "idle" | "running" | "waiting" | "stopping" | "ended";
  /** Runs in a row that ended early; they decide the delay. */
  readonly failures: number;
  /** How often it was started again. */
  readonly restarts: number;
  /** Of the current run, or of the last one. */
  readonly started?: RunTime | undefined;
  readonly delayMs?: number | undefined;
  readonly last?: EndedRun | undefined;
};

export type RunEvent =
  | { readonly kind: "start"; readonly time: RunTime }
  | { readonly kind: "exited"; readonly exitCode: number; readonly time: RunTime }
  /** The delay before the next start has passed. */
  | { readonly kind: "due"; readonly time: RunTime }
  | { readonly kind: "stop"; readonly graceMs: number; readonly time: RunTime }
  | { readonly kind: "grace-over" };

export type RunAction =
  | { readonly kind: "spawn" }
  /** Sends "due" after `ms`; replaces the timer before it. */
  | { readonly kind: "wait"; readonly ms: number }
  /** Sends "grace-over" after `ms`; replaces the timer before it. */
  | { readonly kind: "grace"; readonly ms: number }
  | { readonly kind: "cancel" }
  | { readonly kind: "signal"; readonly signal: "SIGTERM" | "SIGKILL" };

export type RunStep = { readonly run: ProcessRun; readonly actions: readonly RunAction[] };

const STABLE_AFTER_MS = 30_000;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 8_000;

export const NOT_STARTED: ProcessRun = { phase: "idle", failures: 0, restarts: 0 };

/** `restarts`: of a process that ran before under another supervisor. */
export function newRun(restarts: number): ProcessRun {
  return { ...NOT_STARTED, restarts };
}

export function stepRun(run: ProcessRun, event: RunEvent): RunStep {
  switch (event.kind) {
    case "start":
      if (run.phase !== "idle" && run.phase !== "ended") return unchanged(run);
      return { run: { ...run, phase: "running", failures: 0, started: event.time, delayMs: undefined }, actions: [{ kind: "spawn" }] };
    case "due":
      if (run.phase !== "waiting") return unchanged(run);
      return {
        run: { ...run, phase: "running", restarts: run.restarts + 1, started: event.time, delayMs: undefined },
        actions: [{ kind: "spawn" }],
      };
    case "exited":
      return onExit(run, event.exitCode, event.time);
    case "stop":
      return onStop(run, event.graceMs);
    case "grace-over":
      return { run, actions: run.phase === "stopping" ? [{ kind: "signal", signal: "SIGKILL" }] : [] };
  }
}

function unchanged(run: ProcessRun): RunStep {
  return { run, actions: [] };
}

function onExit(run: ProcessRun, exitCode: number, time: RunTime): RunStep {
  if (run.phase !== "running" && run.phase !== "stopping") return unchanged(run);
  const { at: startedAt, monotonic } = run.started ?? time;
  const last = { exitCode, startedAt, finishedAt: time.at };
  if (run.phase === "stopping") return { run: { ...run, phase: "ended", last }, actions: [{ kind: "cancel" }] };
  const failures = time.monotonic - monotonic >= STABLE_AFTER_MS ? 0 : run.failures;
  const delayMs = restartDelay(failures);
  return { run: { ...run, phase: "waiting", failures: failures + 1, delayMs, last }, actions: [{ kind: "wait", ms: delayMs }] };
}

/** `failures`: runs before this one that ended early. */
function restartDelay(failures: number): number {
  return failures === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 10), MAX_DELAY_MS);
}

function onStop(run: ProcessRun, graceMs: number): RunStep {
  switch (run.phase) {
    case "ended":
      return unchanged(run);
    case "idle":
    case "waiting":
      return { run: { ...run, phase: "ended", delayMs: undefined }, actions: [{ kind: "cancel" }] };
    case "stopping": // a second stop can only shorten the grace period
      return { run, actions: graceMs > 0 ? [] : [{ kind: "cancel" }, { kind: "signal", signal: "SIGKILL" }] };
    case "running":
      return {
        run: { ...run, phase: "stopping" },
        actions:
          graceMs > 0
            ? [
                { kind: "signal", signal: "SIGTERM" },
                { kind: "grace", ms: graceMs },
              ]
            : [{ kind: "signal", signal: "SIGKILL" }],
      };
  }
}
