/**
 * A value that is mostly there already, and sometimes comes later.
 *
 * Awaiting what is there costs a turn of the event loop, and lets others in between reading and writing. `whenThere` goes on at once when it can.
 */
export type Later<T> = T | Promise<T>;

export function whenThere<T, U>(value: Later<T>, next: (value: T) => Later<U>): Later<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
