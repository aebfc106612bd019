import { expect, test } from "vitest";
import { failed, handlingOf, REQUEUE, settled, stalled, waiting, worstOf, type ReconcileOutcome } from "./outcome.ts";

type Row = {
  readonly name: string;
  readonly given: ReconcileOutcome;
  readonly want: {
    readonly requeue: unknown;
    readonly ready: readonly string[] | undefined;
    readonly event: readonly string[] | undefined;
    readonly level: string;
    readonly result: string;
  };
};

const rows: readonly Row[] = [
  {
    name: "settled is requeued after a minute, with jitter",
    given: settled,
    want: {
      requeue: { kind: "spread", ms: 60_000 },
      ready: ["True", "Settled"],
      event: ["Normal", "Settled", "changed"],
      level: "debug",
      result: "settled",
    },
  },
  {
    name: "waiting is requeued after its own time",
    given: waiting("MachinesStarting", 7_000, "2 of 3 machines run"),
    want: {
      requeue: { kind: "after", ms: 7_000 },
      ready: ["False", "MachinesStarting"],
      event: ["Normal", "MachinesStarting", "changed"],
      level: "info",
      result: "waiting",
    },
  },
  {
    name: "stalled waits for a user, and is retried after five minutes",
    given: stalled("InvalidSpec", "replicas must be odd"),
    want: {
      requeue: { kind: "after", ms: 300_000 },
      ready: ["False", "InvalidSpec"],
      event: ["Warning", "InvalidSpec", "changed"],
      level: "warn",
      result: "stalled",
    },
  },
  {
    name: "a failure backs off, and Ready becomes Unknown",
    given: failed({ kind: "unavailable", message: "no API server" }),
    want: {
      requeue: { kind: "backoff", atLeastMs: 0 },
      ready: ["Unknown", "ReconcileFailed"],
      event: ["Warning", "ReconcileFailed", "always"],
      level: "warn",
      result: "failed",
    },
  },
  {
    name: "the server's retry-after is respected",
    given: failed({ kind: "too-many-requests", message: "slow down", retryAfterMs: 9_000 }),
    want: {
      requeue: { kind: "backoff", atLeastMs: 9_000 },
      ready: ["Unknown", "ReconcileFailed"],
      event: ["Warning", "ReconcileFailed", "always"],
      level: "warn",
      result: "failed",
    },
  },
  {
    name: "a conflict is not reported",
    given: failed({ kind: "conflict", message: "modified" }),
    want: { requeue: { kind: "backoff", atLeastMs: 0 }, ready: undefined, event: undefined, level: "info", result: "failed" },
  },
  {
    name: "a shutdown is not a failure",
    given: failed({ kind: "cancelled", message: "shutdown" }),
    want: { requeue: { kind: "backoff", atLeastMs: 0 }, ready: undefined, event: undefined, level: "debug", result: "cancelled" },
  },
  {
    name: "a failed clean-up has a reason of its own",
    given: failed({ kind: "teardown", message: "cloud says no" }),
    want: {
      requeue: { kind: "backoff", atLeastMs: 0 },
      ready: ["Unknown", "TeardownFailed"],
      event: ["Warning", "TeardownFailed", "always"],
      level: "warn",
      result: "failed",
    },
  },
  {
    name: "an exception is logged as an error",
    given: failed({ kind: "internal", message: "a bug" }),
    want: {
      requeue: { kind: "backoff", atLeastMs: 0 },
      ready: ["Unknown", "InternalError"],
      event: ["Warning", "InternalError", "always"],
      level: "error",
      result: "bug",
    },
  },
];

test.each(rows)("$name", ({ given, want }) => {
  const { requeue, ready, event, level, result } = handlingOf(given);
  expect({
    requeue,
    ready: ready && [ready.status, ready.reason],
    event: event && [event.type, event.reason, event.when],
    level,
    result,
  }).toEqual(want);
});

test("the laptop fleet reconciles settled objects every ten minutes", () => {
  expect(handlingOf(settled, REQUEUE.settledInFleetMs).requeue).toEqual({ kind: "spread", ms: 600_000 });
});

test("the worst outcome decides, and among waits the shortest", () => {
  const cause = failed({ kind: "apply", message: "" });
  expect(worstOf([])).toEqual(settled);
  expect(worstOf([waiting("A", 5), settled, waiting("B", 3), waiting("C", 4)])).toMatchObject({ reason: "B" });
  expect(worstOf([waiting("A", 5), stalled("S"), waiting("B", 3)])).toMatchObject({ kind: "stalled" });
  expect(worstOf([cause, stalled("S")])).toBe(cause);
});
