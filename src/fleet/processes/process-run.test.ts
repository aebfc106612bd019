import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newRun, NOT_STARTED, stepRun, type ProcessRun, type RunAction, type RunEvent } from "./process-run.ts";

const time = (monotonic: number) => ({ at: 1_000_000 + monotonic, monotonic });

/** Starts the process, lets it end after each of the uptimes, and returns the delays before its restarts. */
function delaysAfter(uptimes: readonly number[]): readonly number[] {
  const delays: number[] = [];
  let now = 0;
  let { run } = stepRun(NOT_STARTED, { kind: "start", time: time(now) });
  for (const uptime of uptimes) {
    now += uptime;
    const ended = stepRun(run, { kind: "exited", exitCode: 1, time: time(now) });
    const wait = ended.actions.find(({ kind }) => kind === "wait");
    delays.push(wait?.kind === "wait" ? wait.ms : Number.NaN);
    now += ended.run.delayMs ?? 0;
    run = stepRun(ended.run, { kind: "due", time: time(now) }).run;
  }
  return delays;
}

describe("restarts of a process", () => {
  it.each([
    {
      name: "at once, then after 1, 2, 4, 8 s, never later",
      uptimes: [5, 5, 5, 5, 5, 5, 5],
      want: [0, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000],
    },
    { name: "a run of 30 s resets the delay", uptimes: [5, 5, 5, 30_000, 5], want: [0, 1_000, 2_000, 0, 1_000] },
    { name: "a run of almost 30 s does not", uptimes: [5, 29_999], want: [0, 1_000] },
  ])("$name", ({ uptimes, want }) => {
    expect(delaysAfter(uptimes)).toEqual(want);
  });

  it("are counted on top of those before", () => {
    const started = stepRun(newRun(4), { kind: "start", time: time(0) }).run;
    const ended = stepRun(started, { kind: "exited", exitCode: 137, time: time(7) }).run;
    expect(ended).toMatchObject({ phase: "waiting", restarts: 4, last: { exitCode: 137, startedAt: 1_000_000, finishedAt: 1_000_007 } });
    expect(stepRun(ended, { kind: "due", time: time(8) }).run).toMatchObject({ phase: "running", restarts: 5 });
  });
});

describe("stopping a process", () => {
  const running = stepRun(NOT_STARTED, { kind: "start", time: time(0) }).run;
  const stop = (run: ProcessRun, graceMs: number) => stepRun(run, { kind: "stop", graceMs, time: time(1) });

  it("sends SIGTERM, and SIGKILL after the grace period", () => {
    const stopping = stop(running, 500);
    expect(stopping.actions).toEqual([
      { kind: "signal", signal: "SIGTERM" },
      { kind: "grace", ms: 500 },
    ]);
    expect(stepRun(stopping.run, { kind: "grace-over" }).actions).toEqual([{ kind: "signal", signal: "SIGKILL" }]);
    expect(stepRun(stopping.run, { kind: "exited", exitCode: 0, time: time(2) })).toMatchObject({
      run: { phase: "ended", last: { exitCode: 0 } },
      actions: [{ kind: "cancel" }],
    });
  });

  it("without a grace period sends SIGKILL at once, also while it is stopping", () => {
    expect(stop(running, 0).actions).toEqual([{ kind: "signal", signal: "SIGKILL" }]);
    expect(stop(stop(running, 500).run, 0).actions).toContainEqual({ kind: "signal", signal: "SIGKILL" });
    expect(stop(stop(running, 500).run, 400).actions).toEqual([]);
  });

  it("ends one that waits for its restart, which can be started again", () => {
    const waiting = stepRun(running, { kind: "exited", exitCode: 1, time: time(1) }).run;
    const ended = stop(waiting, 500);
    expect(ended).toMatchObject({ run: { phase: "ended" }, actions: [{ kind: "cancel" }] });
    expect(stepRun(ended.run, { kind: "due", time: time(2) }).actions).toEqual([]);
    expect(stepRun(ended.run, { kind: "start", time: time(3) })).toMatchObject({
      run: { phase: "running", failures: 0 },
      actions: [{ kind: "spawn" }],
    });
  });
});

describe("any sequence of events", () => {
  const event = fc.oneof(
    fc.constantFrom<RunEvent["kind"]>("start", "due", "grace-over").map((kind) => ({ kind, time: time(0) }) as RunEvent),
    fc.nat(255).map((exitCode): RunEvent => ({ kind: "exited", exitCode, time: time(0) })),
    fc.constantFrom(0, 500).map((graceMs): RunEvent => ({ kind: "stop", graceMs, time: time(0) })),
  );

  it("starts a process only when none runs, and signals only one that runs", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let run = NOT_STARTED;
        let alive = false;
        for (const next of events) {
          if (next.kind === "exited" && !alive) continue;
          if (next.kind === "exited") alive = false;
          const step = stepRun(run, next);
          for (const action of step.actions) alive = apply(action, alive);
          run = step.run;
          expect(alive).toBe(run.phase === "running" || run.phase === "stopping");
        }
      }),
    );
  });
});

function apply(action: RunAction, alive: boolean): boolean {
  if (action.kind === "spawn") expect(alive).toBe(false);
  if (action.kind === "signal") expect(alive).toBe(true);
  if (action.kind === "wait") expect(action.ms).toBeLessThanOrEqual(8_000);
  return action.kind === "spawn" ? true : alive;
}
