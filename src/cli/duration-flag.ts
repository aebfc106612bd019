/** Flags whose value is a duration ("5s", "10m"), with limits. */
import { err, ok, parseDuration, type Duration, type Result } from "#base";

export type DurationFlag = {
  readonly name: string;
  readonly least: { readonly text: string; readonly why: string };
  readonly most: { readonly text: string; readonly why: string };
};

/** Undefined: the flag was not given. */
export function parseDurationFlag(flag: DurationFlag, text: string | undefined): Result<Duration | undefined, string> {
  if (text === undefined) return ok(undefined);
  const [value, least, most] = [parseDuration(text), parseDuration(flag.least.text), parseDuration(flag.most.text)];
  if (!value.ok) return err(`${flag.name}: ${value.error}`);
  if (least.ok && value.value < least.value)
    return err(`${flag.name}: ${text} is too short, at least ${flag.least.text}: ${flag.least.why}`);
  if (most.ok && value.value > most.value) return err(`${flag.name}: ${text} is too long, at most ${flag.most.text}: ${flag.most.why}`);
  return ok(value.value);
}
