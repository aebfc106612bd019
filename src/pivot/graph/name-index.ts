/** Discovered objects by kind, namespace and name. */
import type { MoveKind } from "./move-kind.ts";
import type { ObjectOutline } from "./outline.ts";

export type DiscoveredObject<T extends ObjectOutline = ObjectOutline> = { readonly kind: MoveKind; readonly object: T };

type Place = { readonly group: string; readonly kind: string; readonly namespace: string | undefined; readonly name: string };

export class NameIndex<T extends DiscoveredObject> {
  readonly #byPlace = new Map<string, T>();
  readonly #secrets = new Map<string, T>();

  constructor(objects: Iterable<T>) {
    for (const one of objects) {
      const { group, kind, namespaced } = one.kind.resource;
      const { name, namespace } = one.object.metadata;
      this.#byPlace.set(textOf({ group, kind, name, namespace: namespaced ? namespace : undefined }), one);
      if (group === "" && kind === "Secret") this.#secrets.set(name, one);
    }
  }

  find(place: Place): T | undefined {
    return this.#byPlace.get(textOf(place));
  }

  /** In any of the discovered namespaces. */
  anySecret(name: string): T | undefined {
    return this.#secrets.get(name);
  }
}

const textOf = ({ group, kind, namespace = "", name }: Place) => `${group}/${kind}/${namespace}/${name}`;
