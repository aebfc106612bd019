/** All errors of a service in one message: field, problem, fix. Limited to a length that a terminal can show; the omitted ones are counted. */
import { absentObject, describeServiceError, placeOfError, type ServiceError } from "#compile";
import { REQUEUE, stalled, waiting, type ReconcileOutcome } from "#controller-runtime";

/** How many absent objects are listed; the errors after them name the rest. */
const MAX_NAMED = 3;

/** The absent objects, if every error is about one; undefined: the service has an error of its own. */
export function waitingText(errors: readonly ServiceError[]): string | undefined {
  const absent = errors.map(absentObject);
  const names = [...new Set(absent.flatMap((name) => name ?? []))];
  if (names.length === 0 || absent.includes(undefined)) return undefined;
  const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [];
  return `waiting for ${[...names.slice(0, MAX_NAMED), ...more].join(" and ")}: ${listErrors(errors)}`;
}

/** A watch reports when a missing object is created; any other error needs a user. */
export function notCompiledOutcome(errors: readonly ServiceError[], reason = "CompileError"): ReconcileOutcome {
  const message = waitingText(errors);
  if (message !== undefined) return waiting("DependencyNotFound", REQUEUE.compileErrorMs, message);
  return stalled(reason, listErrors(errors), REQUEUE.compileErrorMs);
}

/** A condition's message is cut at 1,024 bytes; room is left for the count of those that did not fit. */
const MAX_CHARACTERS = 960;

export function listErrors(errors: readonly ServiceError[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const error of errors) {
    const text = textOf(error);
    length += text.length + 2;
    if (shown.length > 0 && length > MAX_CHARACTERS) break;
    shown.push(text.slice(0, MAX_CHARACTERS));
  }
  const more = errors.length - shown.length;
  return `${shown.join("\n")}${more === 0 ? "" : `\nand ${more} more`}`;
}

function textOf(error: ServiceError): string {
  const [first = "", ...fix] = describeServiceError(error).split("\n");
  return [`${first} (at ${placeOfError(error)})`, ...fix].join("; ");
}
