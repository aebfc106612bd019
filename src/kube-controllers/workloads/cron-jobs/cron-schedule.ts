/**
 * Cron schedules as Kubernetes parses them (five fields, names, steps, `@daily`, `@every 1h`), and their next time.
 *
 * Hours and minutes are computed in UTC and days in the calendar of the zone: an hour that summer time skips has no run, one that occurs
 * twice has two.
 */
import { err, ok, parseDuration, type Result } from "#base";
import { localTime, startOfDay, type LocalTime, type Zone } from "./time-zone.ts";

export type CronSchedule = { readonly next: (after: number) => number | undefined };

type Field = { readonly values: ReadonlySet<number>; readonly star: boolean };
type Bounds = { readonly min: number; readonly max: number; readonly names?: readonly string[] };

const MINUTE: Bounds = { min: 0, max: 59 };
const HOUR: Bounds = { min: 0, max: 23 };
const DAY: Bounds = { min: 1, max: 31 };
const MONTH: Bounds = { min: 1, max: 12, names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] };
const WEEKDAY: Bounds = { min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };
const ORDER = [MINUTE, HOUR, DAY, MONTH, WEEKDAY] as const;

const DESCRIPTORS = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

export function parseSchedule(text: string, zone: Zone): Result<CronSchedule, string> {
  const every = /^@every (.+)$/.exec(text)?.[1];
  if (every !== undefined) return parseEvery(text, every);
  const expanded = text.startsWith("@") ? DESCRIPTORS.get(text) : text;
  if (expanded === undefined) return err(`unrecognized descriptor: ${text}`);
  const parts = expanded.split(/\s+/).filter((part) => part !== "");
  if (parts.length !== 5) return err(`expected exactly 5 fields, found ${parts.length}: [${parts.join(" ")}]`);
  const fields: Field[] = [];
  for (const [index, bounds] of ORDER.entries()) {
    const field = parseField(parts[index] ?? "", bounds);
    if (!field.ok) return field;
    fields.push(field.value);
  }
  return ok({ next: (after) => nextTime(fields, zone, after) });
}

/** Whole seconds, at least one. */
function parseEvery(text: string, every: string): Result<CronSchedule, string> {
  const parsed = parseDuration(every);
  if (!parsed.ok) return err(`failed to parse duration ${text}: ${parsed.error}`);
  const step = Math.max(1, Math.floor(parsed.value / 1_000)) * 1_000;
  return ok({ next: (after) => Math.floor(after / 1_000) * 1_000 + step });
}

function parseField(text: string, bounds: Bounds): Result<Field, string> {
  const values = new Set<number>();
  let star = false;
  for (const part of text.split(",").filter((one) => one !== "")) {
    const range = parseRange(part, bounds);
    if (!range.ok) return range;
    for (const value of range.value.values) values.add(value);
    star ||= range.value.star;
  }
  return ok({ values, star });
}

function parseRange(text: string, bounds: Bounds): Result<Field, string> {
  const [range = "", stepText, ...moreSteps] = text.split("/");
  const [low = "", high, ...moreRanges] = range.split("-");
  if (moreSteps.length > 0) return err(`too many slashes: ${text}`);
  const isAll = low === "*" || low === "?";
  if (!isAll && moreRanges.length > 0) return err(`too many hyphens: ${text}`);
  const start = isAll ? ok(bounds.min) : parseNumber(low, bounds);
  const end = isAll ? ok(bounds.max) : high === undefined ? start : parseNumber(high, bounds);
  const step = stepText === undefined ? ok(1) : parseNumber(stepText, { min: 0, max: 0 });
  if (!start.ok || !end.ok || !step.ok) return [start, end, step].find((one) => !one.ok) as Result<never, string>;
  const last = stepText !== undefined && high === undefined ? bounds.max : end.value;
  if (start.value < bounds.min) return err(`beginning of range (${start.value}) below minimum (${bounds.min}): ${text}`);
  if (last > bounds.max) return err(`end of range (${last}) above maximum (${bounds.max}): ${text}`);
  if (start.value > last) return err(`beginning of range (${start.value}) beyond end of range (${last}): ${text}`);
  if (step.value === 0) return err(`step of range should be a positive number: ${text}`);
  const count = Math.floor((last - start.value) / step.value) + 1;
  return ok({
    values: new Set(Array.from({ length: count }, (_, index) => start.value + index * step.value)),
    star: isAll && step.value === 1,
  });
}

function parseNumber(text: string, { names = [] }: Bounds): Result<number, string> {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return ok(named + (names.length === 12 ? 1 : 0));
  return /^[0-9]{1,4}$/.test(text)
    ? ok(Number(text))
    : err(`failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const YEARS = 5;

const LONGEST_MONTHS: readonly number[] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** "31st of February": known from the fields. A search through five years of days would take a tenth of a second. */
function neverComes(day: Field, month: Field, weekday: Field): boolean {
  if (!weekday.star) return false;
  const longest = Math.max(...[...month.values].map((number) => LONGEST_MONTHS[number - 1] ?? 0));
  return Math.min(...day.values) > longest;
}

/** Undefined when there is none within five years. */
function nextTime(fields: readonly Field[], zone: Zone, after: number): number | undefined {
  const [minute, hour, day, month, weekday] = fields as [Field, Field, Field, Field, Field];
  if (neverComes(day, month, weekday)) return undefined;
  const dayMatches = (at: LocalTime) => {
    const [byDay, byWeekday] = [day.values.has(at.day), weekday.values.has(at.weekday)];
    return day.star || weekday.star ? byDay && byWeekday : byDay || byWeekday;
  };
  let at = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  const lastYear = localTime(zone, at).year + YEARS;
  for (let local = localTime(zone, at); local.year <= lastYear; local = localTime(zone, at)) {
    if (!month.values.has(local.month)) at = startOfDay(zone, local.month === 12 ? local.year + 1 : local.year, (local.month % 12) + 1, 1);
    else if (!dayMatches(local)) at = startOfDay(zone, local.year, local.month, local.day + 1);
    else if (!hour.values.has(local.hour)) at += HOUR_MS - local.minute * MINUTE_MS;
    else if (!minute.values.has(local.minute)) at += MINUTE_MS;
    else return at;
  }
  return undefined;
}
