/**
 * Result: the return type of a function that can fail, so that errors are part of its type.
 *
 * `throw` means a bug in Lattice. Foreign code that throws is called through `fromThrowing` and `fromPromise`.
 */
export type Ok<T> = { readonly ok: true; readonly value: T };
/** A failure. */
export type Err<E> = { readonly ok: false; readonly error: E };
/** A value or an error. */
export type Result<T, E> = Ok<T> | Err<E>;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function err<E>(error: E): Err<E> {
  return { ok: false, error };
}

export function map<T, U, E>(result: Result<T, E>, change: (value: T) => U): Result<U, E> {
  return result.ok ? ok(change(result.value)) : result;
}

export function mapErr<T, E, F>(result: Result<T, E>, change: (error: E) => F): Result<T, F> {
  return result.ok ? result : err(change(result.error));
}

export function andThen<T, U, E, F>(result: Result<T, E>, next: (value: T) => Result<U, F>): Result<U, E | F> {
  return result.ok ? next(result.value) : result;
}

/** All values, or all errors, so that a user sees every mistake at once. */
export function collect<T, E>(results: readonly Result<T, E>[]): Result<T[], E[]> {
  const errors = results.flatMap((result) => (result.ok ? [] : [result.error]));
  if (errors.length > 0) return err(errors);
  return ok(results.flatMap((result) => (result.ok ? [result.value] : [])));
}

export function fromThrowing<T, E>(run: () => T, onThrow: (thrown: unknown) => E): Result<T, E> {
  try {
    return ok(run());
  } catch (thrown) {
    return err(onThrow(thrown));
  }
}

export async function fromPromise<T, E>(promise: Promise<T>, onThrow: (thrown: unknown) => E): Promise<Result<T, E>> {
  try {
    return ok(await promise);
  } catch (thrown) {
    return err(onThrow(thrown));
  }
}

/**
 * The value; throws when there is none. For tests and for places where an error would be a bug in Lattice itself.
 *
 * @example const pod = expectOk(await client.get(pods, { namespace: "default", name: "a" }));
 */
export function expectOk<T, E>(result: Result<T, E>): T {
  if (result.ok) return result.value;
  throw new Error(`expected a value, got ${describeThrown(result.error)}`);
}

/** One line of text for any thrown value; never a stack trace. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === "string" ? thrown : JSON.stringify(thrown);
}
