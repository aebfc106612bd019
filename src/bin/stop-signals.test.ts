import { describe, expect, test } from "vitest";
import { StopSignals, type StopSignalName } from "./stop-signals.ts";

type Step = readonly [atMs: number, signal: StopSignalName];

/** When the program stops and exits, for signals at given times. */
function run(steps: readonly Step[], handles?: (signal: StopSignalName) => "exit" | "wait") {
  let at = 0;
  const events: string[] = [];
  const signals = new StopSignals({ monotonic: () => at, exit: (code) => void events.push(`exit ${code} at ${at}`) });
  signals.signal.addEventListener("abort", () => events.push(`stop ${signals.signal.reason} at ${at}`));
  if (handles !== undefined) signals.handle(handles);
  for (const [ms, signal] of steps) {
    at = ms;
    signals.receive(signal);
  }
  return events;
}

describe("signals to stop", () => {
  test.each<{ name: string; given: readonly Step[]; want: readonly string[] }>([
    { name: "the first one stops the program", given: [[5, "SIGTERM"]], want: ["stop SIGTERM at 5"] },
    {
      name: "a terminal, npm and a launcher that send the same Ctrl-C count once",
      given: [
        [5, "SIGINT"],
        [5, "SIGINT"],
        [40, "SIGINT"],
        [1_004, "SIGINT"],
      ],
      want: ["stop SIGINT at 5"],
    },
    {
      name: "a second Ctrl-C a second later exits at once",
      given: [
        [5, "SIGINT"],
        [1_005, "SIGINT"],
      ],
      want: ["stop SIGINT at 5", "exit 130 at 1005"],
    },
    {
      name: "a key that is held down exits after a second",
      given: Array.from({ length: 30 }, (_, index): Step => [index * 50, "SIGINT"]),
      want: ["stop SIGINT at 0", "exit 130 at 1000"],
    },
    {
      name: "SIGTERM and SIGHUP together, as systemd sends them, count once",
      given: [
        [5, "SIGTERM"],
        [6, "SIGHUP"],
        [7, "SIGTERM"],
      ],
      want: ["stop SIGTERM at 5"],
    },
    {
      name: "a terminal that is closed while the program stops does not end it early",
      given: [
        [5, "SIGINT"],
        [3_000, "SIGHUP"],
      ],
      want: ["stop SIGINT at 5"],
    },
    {
      name: "another signal a second later exits at once",
      given: [
        [5, "SIGHUP"],
        [2_000, "SIGTERM"],
      ],
      want: ["stop SIGHUP at 5", "exit 130 at 2000"],
    },
  ])("$name", ({ given, want }) => {
    expect(run(given)).toEqual(want);
  });

  test("a command that handles repeated signals decides whether they exit", () => {
    const seen: StopSignalName[] = [];
    const steps: readonly Step[] = [
      [0, "SIGINT"],
      [2_000, "SIGTERM"],
      [4_000, "SIGINT"],
    ];
    const handle = (signal: StopSignalName) => {
      seen.push(signal);
      return signal === "SIGTERM" ? "wait" : "exit";
    };
    expect(run(steps, handle)).toEqual(["stop SIGINT at 0", "exit 130 at 4000"]);
    expect(seen).toEqual(["SIGTERM", "SIGINT"]);
  });
});

describe("output that cannot be written any more", () => {
  function lost(prepare: (signals: StopSignals) => void) {
    const codes: number[] = [];
    const signals = new StopSignals({ monotonic: () => 0, exit: (code) => void codes.push(code) });
    prepare(signals);
    signals.outputLost();
    return { codes, stopping: signals.signal.aborted };
  }

  test("ends a command that only writes, with exit code 0", () => {
    expect(lost(() => {})).toEqual({ codes: [0], stopping: false });
  });

  test("stops a command that ends in order", () => {
    expect(lost((signals) => signals.handle(() => "exit"))).toEqual({ codes: [], stopping: true });
  });

  test("does not interrupt a command that is stopping", () => {
    expect(lost((signals) => signals.receive("SIGHUP"))).toEqual({ codes: [], stopping: true });
  });

  test("ends a command whose orderly part is over", () => {
    expect(lost((signals) => signals.handle(() => "exit")())).toEqual({ codes: [0], stopping: false });
  });
});
