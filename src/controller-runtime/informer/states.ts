/**
 * The informer as a state machine without time, network or cache: `next(state, input)` returns the next state.
 * informer.ts performs it.
 *
 * A successful list alone does not count as progress. Otherwise a server whose watches all fail with 410 would be listed
 * in a loop without a pause, and lists are the most expensive requests.
 */
import { backoffDelay, type BackoffPolicy } from "#base";
import type { KubeError, KubeErrorKind } from "#kube-client";
import { laterOf } from "./versions.ts";

/** Why an informer restarted its watch. `ended` is no failure: servers end every watch after a while. */
export type TransitionCause = KubeErrorKind | "ended" | "silent" | "bug";

export type Listing = {
  readonly phase: "listing";
  /** False after a continue token had expired: a list without pages cannot be interrupted by compaction. */
  readonly paged: boolean;
  readonly failures: number;
};
export type Watching = {
  readonly phase: "watching";
  readonly resourceVersion: string;
  readonly openedAt: number;
  /** Whether this watch has proved that it works. */
  readonly heard: boolean;
  readonly failures: number;
};
export type BackingOff = {
  readonly phase: "backing-off";
  readonly until: number;
  readonly cause: TransitionCause;
  readonly failures: number;
  readonly resume: Listing | Watching;
};
export type InformerState = Listing | Watching | BackingOff | { readonly phase: "stopped" };

export type InformerInput =
  | { readonly kind: "listed"; readonly resourceVersion: string }
  /** An event or a bookmark: the watch has reached this version. */
  | { readonly kind: "progress"; readonly resourceVersion: string }
  /** The server ended the watch regularly. */
  | { readonly kind: "ended" }
  /** The watch exceeded its own time limit: the connection is dead. */
  | { readonly kind: "silent" }
  | { readonly kind: "failed"; readonly error: KubeError }
  /** Our own code threw: the cache may be incomplete, so a list is needed. */
  | { readonly kind: "bug" }
  | { readonly kind: "waited" }
  /** The definition of the kind changed: it may be served now, or not any more. */
  | { readonly kind: "recheck" }
  | { readonly kind: "stop" };

/** Monotonic time and randomness of a transition; passed in, so that `next` is a function. */
export type StateInputs = { readonly now: number; readonly random: () => number };

const INFORMER_BACKOFF: BackoffPolicy = { initialMs: 500, maxMs: 30_000, factor: 2 };

/** After so many failed watches in a row the kind is listed again: the resourceVersion itself may be wrong. */
export const LIST_AFTER_FAILURES = 5;

/** A watch that ends sooner, and without events, was rejected rather than ended. */
const SHORT_WATCH_MS = 1_000;

export const START: Listing = { phase: "listing", paged: true, failures: 0 };

export function next(state: InformerState, input: InformerInput, inputs: StateInputs): InformerState {
  if (input.kind === "stop" || state.phase === "stopped") return { phase: "stopped" };
  // without the failures of before: a kind whose definition was just accepted is served within milliseconds
  if (input.kind === "recheck") return START;
  if (state.phase === "backing-off") return input.kind === "waited" ? resumed(state.resume, inputs) : state;
  switch (input.kind) {
    case "listed":
      return opened({ resourceVersion: input.resourceVersion, failures: state.failures }, inputs);
    case "progress":
      return state.phase === "watching" ? advanced(state, input.resourceVersion, inputs) : state;
    case "ended":
      return state.phase === "watching" ? reopened(state, inputs) : state;
    case "silent":
      return backOff(state, { cause: "silent", inputs });
    case "bug":
      return backOff({ ...fresh(state), failures: state.failures }, { cause: "bug", inputs });
    case "failed":
      return failed(state, input.error, inputs);
    case "waited":
      return state;
  }
}

function opened({ resourceVersion, failures }: Pick<Watching, "resourceVersion" | "failures">, inputs: StateInputs): Watching {
  return { phase: "watching", resourceVersion, openedAt: inputs.now, heard: false, failures };
}

/** A new version is progress, and so is any event on a watch that lasts. A server that repeats events and ends the watch is not working. */
function advanced(state: Watching, seen: string, inputs: StateInputs): Watching {
  const resourceVersion = laterOf(state.resourceVersion, seen);
  const works = resourceVersion !== state.resourceVersion || inputs.now - state.openedAt >= SHORT_WATCH_MS;
  return works ? { ...state, resourceVersion, heard: true, failures: 0 } : state;
}

function reopened(state: Watching, inputs: StateInputs): InformerState {
  const refused = !state.heard && inputs.now - state.openedAt < SHORT_WATCH_MS;
  return refused ? backOff(state, { cause: "ended", inputs }) : opened({ ...state, failures: 0 }, inputs);
}

function failed(state: Listing | Watching, error: KubeError, inputs: StateInputs): InformerState {
  if (error.kind !== "gone") {
    // a watch of a kind that is not served any more: only a list can tell
    return backOff(error.kind === "not-found" ? fresh(state) : state, { cause: error.kind, inputs, atLeastMs: error.retryAfterMs });
  }
  const listing: Listing = { phase: "listing", paged: state.phase === "watching", failures: state.failures + 1 };
  // the first 410 is normal (a compaction); repeated ones need a back-off
  return state.failures === 0 ? listing : backOff({ ...listing, failures: state.failures }, { cause: "gone", inputs });
}

function backOff(
  state: Listing | Watching,
  why: { cause: TransitionCause; inputs: StateInputs; atLeastMs?: number | undefined },
): BackingOff {
  const failures = state.failures + 1;
  const delay = Math.max(backoffDelay(INFORMER_BACKOFF, failures, why.inputs.random), why.atLeastMs ?? 0);
  const resume = failures % LIST_AFTER_FAILURES === 0 ? fresh(state) : state;
  return { phase: "backing-off", until: why.inputs.now + delay, cause: why.cause, failures, resume: { ...resume, failures } };
}

function fresh(state: Listing | Watching): Listing {
  return state.phase === "listing" ? state : { phase: "listing", paged: true, failures: state.failures };
}

function resumed(state: Listing | Watching, inputs: StateInputs): Listing | Watching {
  return state.phase === "watching" ? opened(state, inputs) : state;
}
