/** Times of managedFields entries, in whole seconds: entries are sorted by them, and other clients may write offsets and fractions. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|([+-])(\d\d):(\d\d))$/i;
const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const DAY = 86_400;

/** Seconds since 1970; `undefined` if the text is not a time. */
export function parseSeconds(text: string): number | undefined {
  const parts = TIME.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined;
  const offset = (parts[7] === "-" ? -1 : 1) * (Number(parts[8] ?? 0) * 60 + Number(parts[9] ?? 0)) * 60;
  return daysSince1970(year, month, day) * DAY + hour * 3_600 + minute * 60 + second - offset;
}

export function isCanonicalTime(text: string): boolean {
  return CANONICAL.test(text);
}

/** As Kubernetes writes times: UTC, no fractions. */
export function canonicalTime(text: string): string | undefined {
  const seconds = parseSeconds(text);
  if (seconds === undefined || CANONICAL.test(text)) return seconds === undefined ? undefined : text;
  const days = Math.floor(seconds / DAY);
  const rest = seconds - days * DAY;
  return `${dateOf(days)}T${two(rest / 3_600)}:${two((rest % 3_600) / 60)}:${two(rest % 60)}Z`;
}

/** The Gregorian calendar counted from March, so that the leap day is a year's last. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return 365 * shifted + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400) + dayOfYear - 719_468;
}

function dateOf(days: number): string {
  let year = 1970 + Math.floor(days / 365.2425);
  while (daysSince1970(year + 1, 1, 1) <= days) year++;
  while (daysSince1970(year, 1, 1) > days) year--;
  let month = 12;
  while (daysSince1970(year, month, 1) > days) month--;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(days - daysSince1970(year, month, 1) + 1)}`;
}

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}
