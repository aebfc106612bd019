/**
 * The simplest model of the store: a list of all its states. Property tests compare the real store with it.
 */
import { err, ok, type Result } from "#base";
import { fieldAt, type KubeObject } from "#kube";
import type { Listed, ListRequest, RevisionError, Stored, StoreEvent } from "#kube-server";

type State = ReadonlyMap<string, Stored>;
/** Memory is not part of the model. */
export type ModelEvent = Omit<StoreEvent, "replacedBytes">;

export class ModelStore {
  readonly #states: State[] = [new Map(), new Map()]; // by revision; 0 is never used
  readonly #events: ModelEvent[] = [];
  oldest = 1;

  get revision(): number {
    return this.#states.length - 1;
  }

  get(collection: string, key: string): Stored | undefined {
    return this.#states.at(-1)?.get(`${collection} ${key}`);
  }

  write(collection: string, key: string, object: ((revision: number) => KubeObject) | undefined): void {
    const before = this.get(collection, key);
    if (object === undefined && before === undefined) return;
    const revision = this.revision + 1;
    const state = new Map(this.#states.at(-1));
    const now = object?.(revision);
    if (now === undefined) state.delete(`${collection} ${key}`);
    else state.set(`${collection} ${key}`, { key, object: now, revision });
    this.#states.push(state);
    const type = now === undefined ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED";
    const last = now ?? before?.object;
    if (last !== undefined) this.#events.push({ type, collection, key, revision, object: last, previous: before?.object });
  }

  list(collection: string, { namespace, revision = this.revision, after, limit, where }: ListRequest): Result<Listed, RevisionError> {
    const reachable = this.#reachable(revision);
    if (!reachable.ok) return reachable;
    const all = [...(this.#states[revision] ?? [])]
      .filter(([place]) => place.startsWith(`${collection} `))
      .map(([, stored]) => stored)
      .filter(({ key }) => namespace === undefined || key.startsWith(`${namespace}/`))
      .filter(({ key }) => after === undefined || key > after)
      .filter(({ object }) => where === undefined || fieldAt(object, ...where.path) === where.value)
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const items = all.slice(0, limit === undefined || limit === 0 ? all.length : limit);
    return ok({ revision, items, remaining: all.length - items.length });
  }

  eventsAfter(collection: string, from: number): Result<readonly ModelEvent[], RevisionError> {
    const reachable = this.#reachable(from);
    if (!reachable.ok) return reachable;
    return ok(this.#events.filter((event) => event.collection === collection && event.revision > from));
  }

  compact(revision: number): void {
    this.oldest = Math.max(this.oldest, Math.min(revision, this.revision));
  }

  #reachable(revision: number): Result<void, RevisionError> {
    if (revision > this.revision) return err({ kind: "future", current: this.revision });
    return revision < this.oldest ? err({ kind: "compacted", oldest: this.oldest }) : ok(undefined);
  }
}
