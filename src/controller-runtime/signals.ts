/**
 * Joins signals into one. Not `AbortSignal.any`: the joined signals often live as long as the process, and `release` removes the
 * listeners from them.
 */
export type LinkedSignal = {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  readonly release: () => void;
};

export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const sources = signals.filter((signal) => signal !== undefined);
  for (const source of sources) {
    if (source.aborted) abort();
    else source.addEventListener("abort", abort, { once: true });
  }
  const release = () => {
    for (const source of sources) source.removeEventListener("abort", abort);
  };
  return { signal: controller.signal, abort, release };
}

/** Resolves when the signal has fired. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
