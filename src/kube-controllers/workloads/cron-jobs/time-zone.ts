/** Time zones by their IANA names, from the data that Node brings. */
import { fromThrowing, type Result } from "#base";

export type Zone = { readonly name: string; readonly format: Intl.DateTimeFormat };

export type LocalTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

export function parseZone(name: string): Result<Zone, string> {
  return fromThrowing(
    () => {
      const format = new Intl.DateTimeFormat("en-US", {
        timeZone: name,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
      return { name, format };
    },
    () => `unknown time zone ${name}`,
  );
}

export function localTime({ format }: Zone, at: number): LocalTime {
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const read = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const [year, month, day] = [read("year"), read("month"), read("day")];
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return { year, month, day, weekday, hour: read("hour"), minute: read("minute"), second: read("second") };
}

/** How far the zone is ahead of UTC at this time. */
export function offsetMs(zone: Zone, at: number): number {
  const { year, month, day, hour, minute, second } = localTime(zone, at);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/** The time at which a day begins there. Where summer time skips midnight, the first time after it. `day` may be one too many: it carries over. */
export function startOfDay(zone: Zone, year: number, month: number, day: number): number {
  const wall = Date.UTC(year, month - 1, day);
  const guess = wall - offsetMs(zone, wall);
  const at = wall - offsetMs(zone, guess);
  const { hour } = localTime(zone, at);
  // a zone that changes its clock at midnight: 23 o'clock of the day before
  return hour > 12 ? at + (24 - hour) * 3_600_000 : at;
}

/** "2026-03-01T02:00:00+01:00", as RFC 3339 in Go. */
export function zonedText(zone: Zone, at: number): string {
  const offset = offsetMs(zone, at);
  const wall = new Date(at + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${wall}Z`;
  const minutes = Math.abs(offset) / 60_000;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${wall}${offset < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}
