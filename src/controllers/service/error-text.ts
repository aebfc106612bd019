/** All errors of a service in one message: place, what is wrong, what would fix it. Cut where a terminal would drown, and then it says so. */
import { absentObject, describeServiceError, placeOfError, type ServiceError } from "#compile";
import { REQUEUE, stalled, waiting, type ReconcileOutcome } from "#controller-runtime";

/** Absent objects that are named; the errors behind name the rest. */
const MOST_NAMED = 3;

/** What the service waits for, if every error is about an object that does not exist; undefined: the service has a mistake. */
export function waitingText(errors: readonly ServiceError[]): string | undefined {
  const absent = errors.map(absentObject);
  const names = [...new Set(absent.flatMap((name) => name ?? []))];
  if (names.length === 0 || absent.includes(undefined)) return undefined;
  const more = names.length > MOST_NAMED ? [`${names.length - MOST_NAMED} more`] : [];
  return `waiting for ${[...names.slice(0, MOST_NAMED), ...more].join(" and ")}: ${listErrors(errors)}`;
}

/** The world tells when what is missing comes; a mistake needs a person. */
export function notCompiledOutcome(errors: readonly ServiceError[]): ReconcileOutcome {
  const message = waitingText(errors);
  if (message !== undefined) return waiting("DependencyNotFound", REQUEUE.compileErrorMs, message);
  return stalled("CompileError", listErrors(errors), REQUEUE.compileErrorMs);
}

/** A condition's message is cut at 1,024 bytes; room is left for the count of those that did not fit. */
const MOST_CHARACTERS = 960;

export function listErrors(errors: readonly ServiceError[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const error of errors) {
    const text = textOf(error);
    length += text.length + 2;
    if (shown.length > 0 && length > MOST_CHARACTERS) break;
    shown.push(text.slice(0, MOST_CHARACTERS));
  }
  const more = errors.length - shown.length;
  return `${shown.join("\n")}${more === 0 ? "" : `\nand ${more} more`}`;
}

function textOf(error: ServiceError): string {
  const [first = "", ...fix] = describeServiceError(error).split("\n");
  return [`${first} (at ${placeOfError(error)})`, ...fix].join("; ");
}
