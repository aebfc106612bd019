/** All errors of a service in one message: place, what is wrong, what would fix it. Cut where a terminal would drown, and then it says so. */
import { describeServiceError, placeOfError, type ServiceError } from "#compile";

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
