/**
 * The watch caches of a real server, for custom resources with a conversion webhook: each served version converts every change once, also
 * when it has no watches. Lists and watches then read the converted object from the cache.
 *
 * A failed conversion is not cached: the next list or watch calls the webhook again.
 */
import { apiVersionOf } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import type { Store, StoreEvent } from "../store/index.ts";

export class VersionCaches {
  readonly #store: Store;
  /** By collection. */
  readonly #ends = new Map<string, () => void>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** `types`: all served versions of the collection, or none. */
  follow(collection: string, types: readonly ResourceType[]): void {
    this.#ends.get(collection)?.();
    this.#ends.delete(collection);
    const converted = types.filter(({ conversion }) => conversion !== undefined);
    if (converted.length === 0) return;
    const onEvent = (event: StoreEvent) => {
      for (const type of converted) convert(type, event);
    };
    const watching = this.#store.watch({ collection, from: this.#store.revision, onEvent });
    if (watching.ok) this.#ends.set(collection, watching.value.end);
  }

  close(): void {
    for (const end of this.#ends.values()) end();
    this.#ends.clear();
  }
}

/** The last state of a deleted object is converted once more, because a real server decodes it from the event. */
function convert({ conversion, resource }: ResourceType, { type, object }: StoreEvent): void {
  if (conversion === undefined) return;
  const apiVersion = apiVersionOf(resource);
  if (type === "DELETED") void conversion.ask([object], apiVersion, { storage: true });
  else void conversion.into([object], apiVersion, { storage: true });
}
