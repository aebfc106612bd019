import { expect, it } from "vitest";
import { parseDurationFlag } from "./duration-flag.ts";

const flag = { name: "--every", least: { text: "1s", why: "it is work" }, most: { text: "1h", why: "it is needed" } };

it.each([
  { text: undefined, want: { ok: true, value: undefined } },
  { text: "1s", want: { ok: true, value: 1_000 } },
  { text: "1h", want: { ok: true, value: 3_600_000 } },
  { text: "1m30s", want: { ok: true, value: 90_000 } },
  { text: "999ms", want: { ok: false, error: "--every: 999ms is too short, at least 1s: it is work" } },
  { text: "0", want: { ok: false, error: "--every: 0 is too short, at least 1s: it is work" } },
  { text: "61m", want: { ok: false, error: "--every: 61m is too long, at most 1h: it is needed" } },
  { text: `${"9".repeat(60)}h`, want: { ok: false, error: `--every: ${"9".repeat(60)}h is too long, at most 1h: it is needed` } },
  { text: "5", want: { ok: false, error: '--every: "5" is not a duration; write it as "30s", "5m" or "1h30m"' } },
  { text: "-5s", want: { ok: false, error: '--every: "-5s" is not a duration; write it as "30s", "5m" or "1h30m"' } },
  { text: "", want: { ok: false, error: '--every: "" is not a duration; write it as "30s", "5m" or "1h30m"' } },
])("a duration flag of $text", ({ text, want }) => {
  expect(parseDurationFlag(flag, text)).toEqual(want);
});
