/** Cron schedules: five fields or a descriptor, as robfig/cron reads them, with its error messages. */

type Bounds = { readonly min: number; readonly max: number; readonly names: readonly string[] };

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Minute, hour, day of month, month, day of week. Names count from the bound's minimum. */
const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);
const EVERY = "@every ";
const DURATION = /^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$/;

/** What is wrong with a schedule; undefined when it can be read. */
export function cronProblem(schedule: string): string | undefined {
  const text = schedule.replace(/^(CRON_)?TZ=\S+\s+/, "").trim();
  if (text.startsWith("@")) return descriptorProblem(text);
  const fields = text.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== FIELDS.length) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  for (const [index, field] of fields.entries()) {
    const problem = fieldProblem(field, FIELDS[index] ?? { min: 0, max: 0, names: [] });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined;
  if (!text.startsWith(EVERY)) return `unrecognized descriptor: ${text}`;
  const duration = text.slice(EVERY.length);
  if (DURATION.test(duration)) return undefined;
  const unit = /^[0-9.]+([^0-9.]+)/.exec(duration)?.[1];
  const why = unit === undefined ? "invalid duration" : `unknown unit ${JSON.stringify(unit)} in duration`;
  return `failed to parse duration ${text}: time: ${why} ${JSON.stringify(duration)}`;
}

function fieldProblem(field: string, bounds: Bounds): string | undefined {
  for (const part of field.split(",")) {
    const problem = rangeProblem(part, bounds);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function rangeProblem(text: string, { min, max, names }: Bounds): string | undefined {
  const [range = "", step, ...more] = text.split("/");
  if (more.length > 0) return `too many slashes: ${text}`;
  const [low = "", high, ...rest] = range.split("-");
  if (rest.length > 0) return `too many hyphens: ${text}`;
  const anything = low === "*" || low === "?";
  const start = anything ? min : valueOf(low, { min, names });
  if (typeof start === "string") return start;
  const end = anything ? max : high === undefined ? (step === undefined ? start : max) : valueOf(high, { min, names });
  if (typeof end === "string") return end;
  const every = step === undefined ? 1 : valueOf(step, { min, names: [] });
  if (typeof every === "string") return every;
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${text}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${text}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`;
  return every === 0 ? `step of range should be a positive number: ${text}` : undefined;
}

/** The number, or what is wrong with it. */
function valueOf(text: string, { min, names }: Pick<Bounds, "min" | "names">): number | string {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + min;
  if (/^-?[0-9]+$/.test(text)) return text.startsWith("-") ? `negative number (${Number(text)}) not allowed: ${text}` : Number(text);
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}
