/**
 * Times as Go reads and writes them: RFC 3339 in, UTC out, whole seconds for Time and microseconds for MicroTime.
 *
 * Written without Date: this folder knows no clock, and Date takes texts that Go refuses.
 */
import { err, ok, type Result } from "#base";

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;
const DAY = 86_400;

export type GoTime = { /** Since 1970. */ readonly seconds: number; readonly micros: number };

function parseGoTime(text: string): GoTime | undefined {
  const parts = TIME.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59) return undefined;
  const zone = parts[8] ?? "Z";
  const offset = zone === "Z" ? 0 : (zone.startsWith("-") ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4))) * 60;
  const seconds = dayNumber(year, month, day) * DAY + hour * 3_600 + minute * 60 + second - offset;
  return { seconds, micros: Number((parts[7] ?? "").slice(1).padEnd(6, "0").slice(0, 6)) };
}

/** Milliseconds since 1970; undefined for what is no time. */
export function parseMilliseconds(text: unknown): number | undefined {
  const time = typeof text === "string" ? parseGoTime(text) : undefined;
  return time === undefined ? undefined : time.seconds * 1_000;
}

/** As the server writes it, on a day that every month has. */
const AS_WRITTEN = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z$/;

/** A MicroTime must have its six digits. */
export function normaliseTime(text: string, micro: boolean): Result<string, string> {
  const parts = AS_WRITTEN.exec(text);
  if (parts !== null && (parts[1] !== undefined) === micro) return ok(text);
  const time = parseGoTime(text);
  if (time === undefined || (micro && !/[.,]\d{6}(Z|[+-])/.test(text))) return err(parseError(text, micro));
  const days = Math.floor(time.seconds / DAY);
  const rest = time.seconds - days * DAY;
  const clock = [rest / 3_600, (rest % 3_600) / 60, rest % 60].map(two).join(":");
  return ok(`${dateOf(days)}T${clock}${micro ? `.${String(time.micros).padStart(6, "0")}` : ""}Z`);
}

/** Go names the part of the layout where it stopped; the beginning is where nearly all wrong times stop. */
function parseError(text: string, micro: boolean): string {
  const layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  const parts = [
    /^\d{4}/,
    /^-/,
    /^\d\d/,
    /^-/,
    /^\d\d/,
    /^T/,
    /^\d\d/,
    /^:/,
    /^\d\d/,
    /^:/,
    /^\d\d/,
    ...(micro ? [/^[.,]\d{6}/] : [/^([.,]\d+)?/]),
    /^(Z|[+-]\d\d:\d\d)/,
  ];
  const names = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", ".000000", "Z07:00"];
  let rest = text;
  for (const [index, part] of parts.entries()) {
    const match = part.exec(rest);
    if (match === null)
      return `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${names[index]}"`;
    rest = rest.slice(match[0].length);
  }
  if (rest !== "") return `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`;
  return `parsing time ${JSON.stringify(text)}: ${outOfRange(text)} out of range`;
}

function outOfRange(text: string): string {
  const [, month = 0, day = 0, hour = 0, minute = 0] = text.split(/[-T:]/).map((part) => Number.parseInt(part, 10));
  if (month < 1 || month > 12) return "month";
  if (hour > 23) return "hour";
  if (minute > 59) return "minute";
  return day < 1 || day > daysIn(Number(text.slice(0, 4)), month) ? "day" : "second";
}

function daysIn(year: number, month: number): number {
  return month === 12 ? 31 : dayNumber(year, month + 1, 1) - dayNumber(year, month, 1);
}

/** The Gregorian calendar counted from March, so that the leap day is a year's last. */
function dayNumber(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return 365 * shifted + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400) + dayOfYear - 719_468;
}

function dateOf(days: number): string {
  let year = 1970 + Math.floor(days / 365.2425);
  while (dayNumber(year + 1, 1, 1) <= days) year++;
  while (dayNumber(year, 1, 1) > days) year--;
  let month = 12;
  while (dayNumber(year, month, 1) > days) month--;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(days - dayNumber(year, month, 1) + 1)}`;
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}
