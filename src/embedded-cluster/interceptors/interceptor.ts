/**
 * Interceptors: functions between a client and the cluster that may respond themselves, change requests or responses, or wait.
 *
 * The newest is called first, as with client-go's PrependReactor: a test can override its setup. `next` calls the older ones and finally
 * the cluster.
 */
import type { Clock } from "#base";
import type { Json } from "#kube";
import type { Action, ActionMatch } from "../actions/index.ts";
import { actionMatches } from "../actions/index.ts";
import type { ActionAnswer } from "./answer.ts";

/**
 * Continues with the action, optionally with another body.
 *
 * @example (action, next) => next({ body: { ...action.body, spec: {} } })
 */
export type Next = (change?: { readonly body?: Json }) => Promise<ActionAnswer>;

/**
 * Further arguments of an interceptor: the cluster's clock, and the signal that the caller aborts.
 *
 * @example (action, next, { clock }) => (clock.now() > deadline ? failWith("timeout")(action, next) : next())
 */
export type InterceptorContext = { readonly clock: Clock; readonly signal: AbortSignal };

/**
 * A function between a client and the cluster.
 *
 * @example const refuse: Interceptor = (action, next) => (action.name === "web" ? { kind: "broken" } : next());
 */
export type Interceptor = (action: Action, next: Next, context: InterceptorContext) => ActionAnswer | Promise<ActionAnswer>;

/**
 * Which actions an interceptor gets, and how many.
 *
 * @example { verb: "update", resource: "deployments", times: 2 }
 */
export type InterceptMatch = ActionMatch & {
  /** The number of actions that it gets. Absent: all. */
  readonly times?: number;
};

/**
 * An active interceptor. `using` removes it at the end of the block.
 *
 * @example using broken = cluster.intercept({ verb: "list" }, failWith("unavailable"));
 */
export type Interception = Disposable & {
  /** How many actions it has got. */
  readonly calls: number;
  remove(): void;
};

type Entry = { readonly match: InterceptMatch; readonly interceptor: Interceptor; calls: number };

export class Interceptors {
  #entries: readonly Entry[] = [];

  get none(): boolean {
    return this.#entries.length === 0;
  }

  add(match: InterceptMatch, interceptor: Interceptor): Interception {
    const entry: Entry = { match, interceptor, calls: 0 };
    this.#entries = [entry, ...this.#entries];
    const remove = () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
    return {
      get calls() {
        return entry.calls;
      },
      remove,
      [Symbol.dispose]: remove,
    };
  }

  clear(): void {
    this.#entries = [];
  }

  /**
   * The interceptors of this action, newest first. Actions of the cluster's own controllers are intercepted only by those that name their
   * user.
   */
  take(action: Action, own: boolean): readonly Interceptor[] {
    const chosen = this.#entries.filter(
      ({ match, calls }) =>
        calls < (match.times ?? Number.POSITIVE_INFINITY) && (!own || match.user !== undefined) && actionMatches(match, action),
    );
    for (const entry of chosen) entry.calls += 1;
    return chosen.map(({ interceptor }) => interceptor);
  }
}

type Chain = {
  readonly action: Action;
  readonly context: InterceptorContext;
  readonly finally: (change: { readonly body?: Json } | undefined) => Promise<ActionAnswer>;
};

export async function runChain(interceptors: readonly Interceptor[], chain: Chain): Promise<ActionAnswer> {
  const [first, ...rest] = interceptors;
  if (first === undefined) return chain.finally(undefined);
  const next: Next = (change) => runChain(rest, changed(chain, change));
  return first(chain.action, next, chain.context);
}

/** Later interceptors see the changed body. */
function changed(chain: Chain, change: { readonly body?: Json } | undefined): Chain {
  if (change?.body === undefined) return chain;
  const { body } = change;
  const action = Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(chain.action), body: { value: body, enumerable: true } },
  );
  return { ...chain, action: action as Action, finally: (later) => chain.finally(later ?? { body }) };
}
