import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { expectOk } from "#base";
import type { CronJob } from "#kube";
import { parseSchedule } from "./cron-schedule.ts";
import { dueRun, untilNext } from "./missed-schedules.ts";
import { offsetMs, parseZone, zonedText } from "./time-zone.ts";

const zone = (name: string) => expectOk(parseZone(name));
const next = (schedule: string, after: string, zoneName = "UTC") => {
  const at = expectOk(parseSchedule(schedule, zone(zoneName))).next(Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString().replace(".000Z", "Z");
};

describe("the next time", () => {
  it.each([
    { name: "every minute", given: ["* * * * *", "2026-01-01T00:00:00Z"], want: "2026-01-01T00:01:00Z" },
    { name: "strictly after", given: ["0 0 * * *", "2026-01-01T00:00:00Z"], want: "2026-01-02T00:00:00Z" },
    { name: "steps", given: ["*/15 * * * *", "2026-01-01T00:16:00Z"], want: "2026-01-01T00:30:00Z" },
    { name: "a step from a start", given: ["5/20 * * * *", "2026-01-01T00:06:00Z"], want: "2026-01-01T00:25:00Z" },
    { name: "ranges with steps and lists", given: ["10-20/5,50 3 * * *", "2026-01-01T03:16:00Z"], want: "2026-01-01T03:20:00Z" },
    { name: "months by name, over the year", given: ["0 0 1 JAN *", "2026-01-01T00:00:00Z"], want: "2027-01-01T00:00:00Z" },
    { name: "weekdays by name", given: ["0 9 * * MON-FRI", "2026-01-03T10:00:00Z"], want: "2026-01-05T09:00:00Z" },
    { name: "day or weekday, when both are given", given: ["0 0 13 * 5", "2026-01-01T00:00:00Z"], want: "2026-01-02T00:00:00Z" },
    { name: "the 31st", given: ["0 0 31 * *", "2026-01-31T00:00:00Z"], want: "2026-03-31T00:00:00Z" },
    { name: "leap days", given: ["0 0 29 2 *", "2026-01-01T00:00:00Z"], want: "2028-02-29T00:00:00Z" },
    { name: "never, in any of these months", given: ["0 0 31 2,4,6 *", "2026-01-01T00:00:00Z"], want: undefined },
    {
      name: "on a weekday, though the month is too short for the day",
      given: ["0 0 31 2 1", "2026-01-01T00:00:00Z"],
      want: "2026-02-02T00:00:00Z",
    },
    { name: "never", given: ["0 0 31 2 *", "2026-01-01T00:00:00Z"], want: undefined },
    { name: "? is *", given: ["0 0 ? * ?", "2026-01-01T00:00:00Z"], want: "2026-01-02T00:00:00Z" },
    { name: "@hourly", given: ["@hourly", "2026-01-01T00:10:00Z"], want: "2026-01-01T01:00:00Z" },
    { name: "@weekly is Sunday", given: ["@weekly", "2026-01-01T00:10:00Z"], want: "2026-01-04T00:00:00Z" },
    { name: "@every", given: ["@every 90s", "2026-01-01T00:00:10Z"], want: "2026-01-01T00:01:40Z" },
    { name: "in a zone", given: ["0 9 * * *", "2026-07-01T00:00:00Z", "Europe/Berlin"], want: "2026-07-01T07:00:00Z" },
    {
      name: "an hour that summer time skips has no run that day",
      given: ["30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin"],
      want: "2026-03-30T00:30:00Z",
    },
    {
      name: "an hour that comes twice has both",
      given: ["30 2 * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"],
      want: "2026-10-25T01:30:00Z",
    },
    { name: "a zone that skips midnight", given: ["0 1 * * *", "2026-04-23T12:00:00Z", "Africa/Cairo"], want: "2026-04-23T22:00:00Z" },
  ])("$name", ({ given: [schedule = "", after = "", zoneName], want }) => expect(next(schedule, after, zoneName)).toBe(want));

  it("is after the given time, on a minute, and matches its fields", () => {
    fc.assert(
      fc.property(fc.nat(59), fc.nat(23), fc.integer({ min: 0, max: 4_000_000_000_000 }), (minute, hour, after) => {
        const at = expectOk(parseSchedule(`${minute} ${hour} * * *`, zone("UTC"))).next(after) ?? 0;
        const date = new Date(at);
        expect([at > after, at - after <= 86_400_000, date.getUTCMinutes(), date.getUTCHours(), at % 60_000]).toEqual([
          true,
          true,
          minute,
          hour,
          0,
        ]);
      }),
    );
  });
});

describe("an invalid schedule", () => {
  it.each([
    { given: "* * * *", want: "expected exactly 5 fields, found 4: [* * * *]" },
    { given: "60 * * * *", want: "end of range (60) above maximum (59): 60" },
    { given: "* * 0 * *", want: "beginning of range (0) below minimum (1): 0" },
    { given: "5-1 * * * *", want: "beginning of range (5) beyond end of range (1): 5-1" },
    { given: "*/0 * * * *", want: "step of range should be a positive number: */0" },
    { given: "1/2/3 * * * *", want: "too many slashes: 1/2/3" },
    { given: "1-2-3 * * * *", want: "too many hyphens: 1-2-3" },
    { given: "x * * * *", want: 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax' },
    { given: "@sometimes", want: "unrecognized descriptor: @sometimes" },
    { given: "@every x", want: expect.stringContaining("failed to parse duration @every x") as string },
  ])("$given is rejected with the reason", ({ given, want }) =>
    expect(parseSchedule(given, zone("UTC"))).toEqual({ ok: false, error: want }),
  );
});

test("zones have names, offsets and texts", () => {
  expect(parseZone("Mars/Olympus")).toEqual({ ok: false, error: "unknown time zone Mars/Olympus" });
  const at = Date.parse("2026-07-01T12:00:00Z");
  expect([
    offsetMs(zone("Asia/Kolkata"), at),
    zonedText(zone("UTC"), at),
    zonedText(zone("Asia/Kolkata"), at),
    zonedText(zone("America/New_York"), at),
  ]).toEqual([19_800_000, "2026-07-01T12:00:00Z", "2026-07-01T17:30:00+05:30", "2026-07-01T08:00:00-04:00"]);
});

describe("runs that are due", () => {
  const schedule = expectOk(parseSchedule("*/10 * * * *", zone("UTC")));
  const cronJob = (more: object = {}, status?: object): CronJob => ({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick", creationTimestamp: "2026-01-01T00:01:00Z" },
    spec: { schedule: "", jobTemplate: { spec: { template: { spec: { containers: [] } } } }, ...more },
    ...(status === undefined ? {} : { status }),
  });
  const at = (text: string) => Date.parse(`2026-01-01T${text}Z`);
  it.each([
    { name: "none yet", given: cronJob(), now: "00:09:59", want: undefined },
    { name: "the first", given: cronJob(), now: "00:10:00", want: "00:10:00" },
    { name: "the latest of several", given: cronJob(), now: "00:35:00", want: "00:30:00" },
    { name: "after the last run", given: cronJob({}, { lastScheduleTime: "2026-01-01T00:30:00Z" }), now: "00:39:00", want: undefined },
    { name: "not one that is too late", given: cronJob({ startingDeadlineSeconds: 60 }), now: "00:35:00", want: undefined },
  ])("$name", ({ given, now, want }) => expect(dueRun(given, schedule, at(now))?.at).toBe(want === undefined ? undefined : at(want)));
  it("reports too many missed runs, without iterating over all of them", () => {
    const late = Date.parse("2036-01-01T00:05:00Z");
    expect(dueRun(cronJob(), schedule, late)).toEqual({ at: Date.parse("2036-01-01T00:00:00Z"), tooManyMissed: true });
  });
  it("are found in a few steps, even if the schedule paused for a month and then ran every minute for two", () => {
    const parsed = expectOk(parseSchedule("* * * 1-11 *", zone("UTC")));
    let steps = 0;
    const counted = { next: (after: number) => ((steps += 1), parsed.next(after)) };
    const missed = cronJob({}, { lastScheduleTime: "2026-11-30T23:58:00Z" });
    const due = dueRun(missed, counted, Date.parse("2027-03-15T12:00:30Z"));
    expect(due).toEqual({ at: Date.parse("2027-03-15T12:00:00Z"), tooManyMissed: false });
    expect(steps).toBeLessThan(200);
  });
  it("are scheduled shortly after the minute", () => {
    expect(untilNext(cronJob(), schedule, at("00:09:00"))).toBe(60_100);
    expect(untilNext(cronJob(), schedule, at("00:35:00"))).toBe(300_100);
    expect(untilNext(cronJob(), { next: () => undefined }, at("00:35:00"))).toBeUndefined();
  });
});
