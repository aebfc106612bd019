/**
 * A value that is usually available synchronously, and sometimes a promise.
 *
 * Awaiting an available value costs a microtask, and lets other code run between a read and a write. `whenThere` calls `go` synchronously if it can.
 */
import type { Result } from "./result.ts";

export type Later<T> = T | Promise<T>;

export function whenThere<T, U>(value: Later<T>, go: (value: T) => Later<U>): Later<U> {
  return value instanceof Promise ? value.then(async (resolved) => go(resolved)) : go(value);
}

/** The same for a Result: an error is returned unchanged. */
export function whenOk<T, U, E>(value: Later<Result<T, E>>, go: (value: T) => Later<Result<U, E>>): Later<Result<U, E>> {
  return whenThere(value, (result): Later<Result<U, E>> => (result.ok ? go(result.value) : result));
}
