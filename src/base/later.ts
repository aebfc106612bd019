/**
 * A value that is mostly there already, and sometimes comes later.
 *
 * Awaiting what is there costs a turn of the event loop, and lets others in between reading and writing. `whenThere` goes on at once when it can.
 */
import type { Result } from "./result.ts";

export type Later<T> = T | Promise<T>;

export function whenThere<T, U>(value: Later<T>, go: (value: T) => Later<U>): Later<U> {
  return value instanceof Promise ? value.then(async (there) => go(there)) : go(value);
}

/** The same for a value that may also have failed: a failure goes on as it is. */
export function whenOk<T, U, E>(value: Later<Result<T, E>>, go: (value: T) => Later<Result<U, E>>): Later<Result<U, E>> {
  return whenThere(value, (result): Later<Result<U, E>> => (result.ok ? go(result.value) : result));
}
