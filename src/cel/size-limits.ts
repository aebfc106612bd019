/** Limits for the sizes of values that an expression makes. Objects of requests are smaller: a request has at most 3 MiB. */
import { CelFailure } from "./values.ts";

const MAX_ITEMS = 1_000_000;
const MAX_TEXT = 4 * 1_024 * 1_024;

const TOO_MANY_ITEMS = new CelFailure(`operation cancelled: a list may have at most ${MAX_ITEMS} items`, true);
const TOO_LONG_TEXT = new CelFailure(`operation cancelled: a string may have at most ${MAX_TEXT} characters`, true);
const TOO_MANY_BYTES = new CelFailure(`operation cancelled: a value of type bytes may have at most ${MAX_TEXT} bytes`, true);

export function tooManyItems(count: number): CelFailure | undefined {
  return count > MAX_ITEMS ? TOO_MANY_ITEMS : undefined;
}

export function tooLongText(length: number): CelFailure | undefined {
  return length > MAX_TEXT ? TOO_LONG_TEXT : undefined;
}

export function tooManyBytes(length: number): CelFailure | undefined {
  return length > MAX_TEXT ? TOO_MANY_BYTES : undefined;
}
