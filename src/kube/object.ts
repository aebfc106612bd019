/** The fields that every Kubernetes object has. Kinds extend the type; generic code uses it directly. */
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
};

/** The metadata of a Kubernetes object. */
export type ObjectMeta = {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly managedFields?: readonly unknown[];
};

/** The fields of every Kubernetes object. */
export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/** One page of objects, as of its resourceVersion. */
export type KubeList<T extends KubeObject = KubeObject> = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly T[];
};

/** A name and, for namespaced kinds, a namespace: the item type of work queues. */
export type ObjectKey = { readonly namespace?: string | undefined; readonly name: string };

/** What names an object. */
export type NamedObject = { readonly kind: string; readonly metadata: Pick<ObjectMeta, "name" | "namespace"> };

export function keyOf(object: Pick<NamedObject, "metadata">): ObjectKey {
  return { namespace: object.metadata.namespace, name: object.metadata.name };
}

/** "namespace/name" or "name": names cannot contain a slash, so the text is unambiguous. */
export function keyText(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
}

export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash < 0 ? { name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** "Kind namespace/name", for messages. */
export function describeObject(object: NamedObject): string {
  return `${object.kind} ${keyText(keyOf(object))}`;
}

export function isBeingDeleted(object: { readonly metadata: Pick<ObjectMeta, "deletionTimestamp"> }): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}
