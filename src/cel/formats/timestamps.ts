/**
 * Points in time as RFC 3339 text, parsed and formatted without `Date`: exact to the nanosecond, and for years outside of Date's range.
 *
 * Errors have the texts of Go's `time.Parse`, because the API server returns them.
 */
export type Instant = {
  /** Since 1970-01-01T00:00:00Z. */
  readonly seconds: bigint;
  /** 0 to 999,999,999. */
  readonly nanos: number;
  /** The offset of its zone in seconds; it is formatted in the same zone. */
  readonly offset: number;
};

export type CivilTime = {
  readonly year: number;
  /** 1 to 12. */ readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanos: number;
};

type Parsed = { readonly value: Instant; readonly error?: undefined } | { readonly value?: undefined; readonly error: string };

const DAY = 86_400n;
const RFC3339 = "2006-01-02T15:04:05Z07:00";
const RFC3339_DATE = "2006-01-02";
const LOCAL_TIME = "2006-01-02T15:04:05";

/** The day of the month is checked at the end; other numbers are checked as they are parsed. */
type Unit = { readonly name: string; readonly least: number; readonly most: number };
type Part = { readonly layout: string; readonly pattern: RegExp; readonly unit?: Unit };
const DATE_PARTS: readonly Part[] = [
  { layout: "2006", pattern: /^\d{4}/ },
  { layout: "-", pattern: /^-/ },
  { layout: "01", pattern: /^\d{2}/, unit: { name: "month", least: 1, most: 12 } },
  { layout: "-", pattern: /^-/ },
  { layout: "02", pattern: /^\d{2}/ },
];
const TIME_PARTS: readonly Part[] = [
  { layout: "T", pattern: /^T/ },
  { layout: "15", pattern: /^\d{2}/, unit: { name: "hour", least: 0, most: 23 } },
  { layout: ":", pattern: /^:/ },
  { layout: "04", pattern: /^\d{2}/, unit: { name: "minute", least: 0, most: 59 } },
  { layout: ":", pattern: /^:/ },
  { layout: "05", pattern: /^\d{2}(?:[.,]\d+)?/, unit: { name: "second", least: 0, most: 59 } },
  { layout: "Z07:00", pattern: /^(?:Z|[+-]\d{2}:\d{2})/ },
];

export function parseTimestamp(text: string): Parsed {
  return parseWith(text, RFC3339, [...DATE_PARTS, ...TIME_PARTS]);
}

/** Without a zone, which is then UTC. */
export function parseLocalTime(text: string): Parsed {
  return parseWith(text, LOCAL_TIME, [...DATE_PARTS, ...TIME_PARTS.slice(0, -1)]);
}

/** "2006-01-02", at midnight UTC. */
export function parseDate(text: string): Parsed {
  return parseWith(text, RFC3339_DATE, DATE_PARTS);
}

function parseWith(text: string, layout: string, parts: readonly Part[]): Parsed {
  const found: string[] = [];
  let rest = text;
  for (const part of parts) {
    const match = part.pattern.exec(rest)?.[0];
    if (match === undefined)
      return { error: `parsing time ${quote(text)} as ${quote(layout)}: cannot parse ${quote(rest)} as ${quote(part.layout)}` };
    if (isOutOfRange(part, match)) return { error: `parsing time ${quote(text)}: ${part.unit?.name} out of range` };
    found.push(match);
    rest = rest.slice(match.length);
  }
  if (rest !== "") return { error: `parsing time ${quote(text)}: extra text: ${quote(rest)}` };
  return instantOf(text, found);
}

const UTF8 = new TextEncoder();

/** Go's package time has its own quoting: every byte beyond ASCII is a number. */
function quote(text: string): string {
  const parts = Array.from(text, (character) => {
    if (character === '"' || character === "\\") return `\\${character}`;
    if (character >= " " && character < "\u0080") return character;
    return Array.from(UTF8.encode(character), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  });
  return `"${parts.join("")}"`;
}

function instantOf(text: string, found: readonly string[]): Parsed {
  const [year = "", , month = "", , day = "", , hour = "0", , minute = "0", , secondText = "0", zone = "Z"] = found;
  const [second = "0", fraction = ""] = secondText.split(/[.,]/);
  const civil: CivilTime = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    nanos: Number(fraction.slice(0, 9).padEnd(9, "0")),
  };
  if (civil.day < 1 || civil.day > daysIn(civil.year, civil.month)) return { error: `parsing time ${quote(text)}: day out of range` };
  const offset = zone === "Z" ? 0 : offsetSeconds(zone);
  return { value: { seconds: secondsOf(civil) - BigInt(offset), nanos: civil.nanos, offset } };
}

function isOutOfRange({ unit }: Part, match: string): boolean {
  const number = Number(match.slice(0, 2));
  return unit !== undefined && (number < unit.least || number > unit.most);
}

/** "+02:00" in seconds. */
export function offsetSeconds(zone: string): number {
  const size = Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60;
  return zone.startsWith("-") ? -size : size;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

function secondsOf(civil: Omit<CivilTime, "nanos">): bigint {
  return BigInt(daysOf(civil.year, civil.month, civil.day)) * DAY + BigInt(civil.hour * 3600 + civil.minute * 60 + civil.second);
}

/** Days since 1970-01-01 of a date in the proleptic Gregorian calendar. */
export function daysOf(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year; // the year begins in March, so that the leap day is its last day
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

export function civilOf(instant: Instant, offset = 0): CivilTime {
  const seconds = instant.seconds + BigInt(offset);
  const days = Number(seconds >= 0n ? seconds / DAY : -((-seconds + DAY - 1n) / DAY));
  const inDay = Number(seconds - BigInt(days) * DAY);
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
    hour: Math.floor(inDay / 3600),
    minute: Math.floor(inDay / 60) % 60,
    second: inDay % 60,
    nanos: instant.nanos,
  };
}

/** RFC 3339 in its own zone, with as many fractional digits of the second as needed. */
export function formatInstant(instant: Instant): string {
  const at = civilOf(instant, instant.offset);
  const two = (value: number): string => String(value).padStart(2, "0");
  const fraction = at.nanos === 0 ? "" : `.${String(at.nanos).padStart(9, "0").replace(/0+$/, "")}`;
  const minutes = Math.abs(instant.offset) / 60;
  const zone =
    instant.offset === 0 ? "Z" : `${instant.offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(Math.floor(minutes % 60))}`;
  return `${String(at.year).padStart(4, "0")}-${two(at.month)}-${two(at.day)}T${two(at.hour)}:${two(at.minute)}:${two(at.second)}${fraction}${zone}`;
}
