/**
 * The requests to the cluster, in order, with their results. Printed, it shows what happened in a test that failed.
 *
 * Requests of the cluster's own controllers are left out: a test checks its operator. Only the newest are kept, to bound the memory of a
 * cluster that runs for days.
 */
import { groupResourceOf, keyText } from "#kube";
import type { Action } from "./action.ts";
import { actionMatches, type ActionMatch } from "./matching.ts";

/**
 * An action and its result.
 *
 * @example cluster.actions.filter({ verb: "update" }).map(({ code }) => code) // [409, 200]
 */
export type LoggedAction = Action & {
  /** Counts from 1 since the start of the cluster. */
  readonly number: number;
  /** HTTP status; undefined while there is no response, or when the connection broke. */
  readonly code: number | undefined;
  /** "Conflict", "NotFound", … of a failed request; "network" for a broken connection. */
  readonly reason: string | undefined;
};

export type Outcome = { readonly code: number | undefined; readonly reason: string | undefined };

const KEPT = 10_000;

/**
 * The requests that a cluster has received.
 *
 * @example
 * expect(cluster.actions.filter({ verb: "delete" }), cluster.actions.toString()).toHaveLength(0);
 */
export class ActionLog implements Iterable<LoggedAction> {
  readonly #kept: number;
  #actions: LoggedAction[] = [];
  #count = 0;

  constructor(kept = KEPT) {
    this.#kept = kept;
  }

  get length(): number {
    return this.#actions.length;
  }

  [Symbol.iterator](): Iterator<LoggedAction> {
    return this.#actions.values();
  }

  /** Oldest first. */
  filter(match: ActionMatch): readonly LoggedAction[] {
    return this.#actions.filter((action) => actionMatches(match, action));
  }

  /** Writes, including failed ones: everything but get, list, watch and dry runs. */
  writes(): readonly LoggedAction[] {
    return this.#actions.filter(({ verb, dryRun }) => !READS.has(verb) && !dryRun);
  }

  clear(): void {
    this.#actions = [];
  }

  /** One line per action, for the message of a failed assertion. */
  toString(): string {
    return this.#actions.length === 0 ? "no requests" : this.#actions.map(describeAction).join("\n");
  }

  /** Records a request; call the returned function with its result. */
  note(action: Action): (outcome: Outcome) => void {
    this.#count += 1;
    const number = this.#count;
    let outcome: Outcome = { code: undefined, reason: undefined };
    const own = { number: { value: number, enumerable: true }, code: { get: () => outcome.code }, reason: { get: () => outcome.reason } };
    // getters of the action stay getters: a body is decoded on first access
    const entry = Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(action), ...own }) as LoggedAction;
    this.#actions.push(entry);
    if (this.#actions.length > this.#kept * 2) this.#actions = this.#actions.slice(-this.#kept);
    return (end) => {
      outcome = end;
    };
  }
}

const READS: ReadonlySet<Action["verb"]> = new Set(["get", "list", "watch", "request"]);

/**
 * One line for one action: `3. update deployments.apps shop/web as admin -> 409 Conflict`.
 *
 * @example describeAction(cluster.actions.writes()[0]) // "1. create configmaps default/a as admin -> 201"
 */
export function describeAction(action: LoggedAction): string {
  const { number, verb, user, code, reason } = action;
  const details = [
    action.patchType === undefined || verb === "apply" ? "" : `(${action.patchType})`,
    action.labelSelector === undefined ? "" : `labels ${action.labelSelector}`,
    action.fieldSelector === undefined ? "" : `fields ${action.fieldSelector}`,
    action.fieldManager === undefined ? "" : `by ${action.fieldManager}`,
    action.dryRun ? "dry run" : "",
    `as ${user.name}`,
  ].filter((part) => part !== "");
  const end = [code === undefined && reason === undefined ? "no response yet" : String(code ?? ""), reason ?? ""].filter(
    (part) => part !== "",
  );
  return `${number}. ${verb} ${subjectOf(action)} ${details.join(" ")} -> ${end.join(" ")}`;
}

function subjectOf({ verb, method, path, resource, subresource, namespace, name }: Action): string {
  if (verb === "request" || resource === undefined) return `${method} ${path}`;
  const below = subresource === undefined ? "" : `/${subresource}`;
  const place = name === undefined ? (namespace === undefined ? "" : ` in ${namespace}`) : ` ${keyText({ namespace, name })}`;
  return `${groupResourceOf(resource)}${below}${place}`;
}
