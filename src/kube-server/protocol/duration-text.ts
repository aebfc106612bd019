/** Ages in tables, as kubectl shows them. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** At most two units; longer durations have coarser ones. */
export function durationText(ms: number): string {
  const seconds = Math.trunc(ms / 1_000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return units(seconds, [MINUTE, "m"], [1, "s"]);
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return units(seconds, [HOUR, "h"], [MINUTE, "m"]);
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return units(seconds, [DAY, "d"], [HOUR, "h"]);
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return units(seconds, [YEAR, "y"], [DAY, "d"]);
  return `${Math.floor(seconds / YEAR)}y`;
}

type Unit = readonly [size: number, letter: string];

function units(seconds: number, [large, first]: Unit, [small, second]: Unit): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${first}${rest === 0 ? "" : `${rest}${second}`}`;
}
