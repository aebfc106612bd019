/**
 * Reads whole objects in the order of the batches, page by page, so that of each list at most one page is held, however many objects it has.
 *
 * API servers list in the order of names. One that does not is asked for each object by its name.
 */
import { ok } from "#base";
import { groupResourceOf, type KubeObject, type Resource } from "#kube";
import type { MoveNode } from "../graph/object-graph.ts";
import type { ApiSide } from "./api-side.ts";
import { PARALLEL } from "./context.ts";
import type { Moved } from "./failure.ts";
import { inParallel } from "./in-parallel.ts";
import { expiredTooOften, MOST_RESTARTS } from "./pages.ts";

type Place = Pick<MoveNode, "object" | "kind">;

/** One list, and how far it is read. */
type ListPosition = {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  held: readonly KubeObject[];
  next: string | undefined;
  hasBegun: boolean;
  isOrdered: boolean;
  /** The last name of the pages that were read. */
  lastListed: string;
  /** The last name that was asked for: what comes before it is not held any more. */
  passed: string;
};

/** `names`: in the order of the list. */
type Wanted = { readonly resource: Resource; readonly namespace: string | undefined; readonly names: readonly string[] };
type Found = ReadonlyMap<string, KubeObject>;

export class ObjectReader {
  readonly #side: ApiSide;
  readonly #positions = new Map<string, ListPosition>();

  constructor(side: ApiSide) {
    this.#side = side;
  }

  /** In the order of `places`. Undefined: the API server has no object of this name. */
  async read(places: readonly Place[]): Moved<readonly (KubeObject | undefined)[]> {
    const found = await inParallel([...wantedLists(places)], PARALLEL, async ([key, list]) => {
      const objects = await this.#readList(key, list);
      return objects.ok ? ok([key, objects.value] as const) : objects;
    });
    if (!found.ok) return found;
    const lists = new Map(found.value);
    return ok(places.map((place) => lists.get(listKey(place))?.get(place.object.metadata.name)));
  }

  async #readList(key: string, wanted: Wanted): Moved<Found> {
    const { resource, namespace, names } = wanted;
    const [first = "", last = first] = [names[0], names.at(-1)];
    if (names.length === 1) return this.#readByName(wanted);
    const known = this.#positions.get(key);
    const position = known === undefined || first <= known.passed ? beginning(resource, namespace) : known;
    this.#positions.set(key, position);
    const found = await this.#readUpTo(position, new Set(names), last);
    position.passed = last;
    if (position.isOrdered) return found;
    this.#positions.delete(key);
    return this.#readByName(wanted);
  }

  async #readByName({ resource, namespace, names }: Wanted): Moved<Found> {
    const found = new Map<string, KubeObject>();
    const read = await inParallel(names, PARALLEL, async (name) => {
      const object = await this.#side.get(resource, { namespace, name });
      if (object.ok && object.value !== undefined) found.set(name, object.value);
      return object;
    });
    return read.ok ? ok(found) : read;
  }

  async #readUpTo(position: ListPosition, names: ReadonlySet<string>, last: string): Moved<Found> {
    const found = new Map<string, KubeObject>();
    for (let restarts = 0; restarts <= MOST_RESTARTS;) {
      const after = position.held.findIndex(({ metadata }) => metadata.name > last);
      const passed = after < 0 ? position.held : position.held.slice(0, after);
      for (const object of passed) if (names.has(object.metadata.name)) found.set(object.metadata.name, object);
      position.held = after < 0 ? [] : position.held.slice(after);
      const isAtEnd = position.hasBegun && position.next === undefined;
      if (after >= 0 || isAtEnd || !position.isOrdered) return ok(found);
      const page = await this.#side.page(position.resource, { namespace: position.namespace }, position.next);
      if (!page.ok) return page;
      if (page.value.expired) {
        restarts += 1;
        found.clear();
        Object.assign(position, beginning(position.resource, position.namespace));
      } else hold(position, page.value.items, page.value.next);
    }
    return expiredTooOften();
  }
}

const beginning = (resource: Resource, namespace: string | undefined): ListPosition => ({
  resource,
  namespace,
  held: [],
  next: undefined,
  hasBegun: false,
  isOrdered: true,
  lastListed: "",
  passed: "",
});

function hold(position: ListPosition, items: readonly KubeObject[], next: string | undefined): void {
  for (const { metadata } of items) {
    if (metadata.name < position.lastListed) position.isOrdered = false;
    position.lastListed = metadata.name;
  }
  position.held = items;
  position.next = next;
  position.hasBegun = true;
}

function wantedLists(places: readonly Place[]): ReadonlyMap<string, Wanted> {
  const lists = new Map<string, Wanted & { readonly names: string[] }>();
  for (const place of places) {
    const { resource } = place.kind;
    const { namespace, name } = place.object.metadata;
    const key = listKey(place);
    const list = lists.get(key) ?? { resource, namespace: resource.namespaced ? namespace : undefined, names: [] };
    list.names.push(name);
    lists.set(key, list);
  }
  for (const { names } of lists.values()) names.sort(byCodeUnit);
  return lists;
}

const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function listKey({ kind: { resource }, object }: Place): string {
  return `${groupResourceOf(resource)}/${resource.version}/${resource.namespaced ? (object.metadata.namespace ?? "") : ""}`;
}
