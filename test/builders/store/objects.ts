/** Small objects for tests of the store, and short functions that write them. */
import { expectOk } from "#base";
import { fieldAt, parseKey, type KubeObject } from "#kube";
import type { Store, Stored } from "#kube-server";

export const MAPS = "/configmaps";

export function configMap(key: string, value: string, resourceVersion?: number): KubeObject {
  const { namespace, name } = parseKey(key);
  const version = resourceVersion === undefined ? {} : { resourceVersion: String(resourceVersion) };
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), labels: { value }, ...version };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value } } as KubeObject;
}

/** Creates or replaces. */
export function put(store: Store, key: string, value: string, collection = MAPS): Stored {
  const expected = store.get(collection, key)?.revision;
  const stored = expectOk(store.write({ collection, key, expected, object: (revision) => configMap(key, value, revision) }));
  if (stored === undefined) throw new Error(`nothing was written for ${key}`);
  return stored;
}

export function remove(store: Store, key: string, collection = MAPS): void {
  expectOk(store.write({ collection, key, expected: store.get(collection, key)?.revision, object: undefined }));
}

export function valueOf(object: KubeObject): string {
  return textAt(object, "value");
}

/** "key=value@revision", sorted: two stores hold the same when this is the same. */
export function contentOf(store: Store): readonly string[] {
  return store
    .collections()
    .flatMap((collection) =>
      expectOk(store.list(collection)).items.map(({ key, object, revision }) => `${collection} ${key}=${valueOf(object)}@${revision}`),
    );
}

export function textAt(object: KubeObject, name: string): string {
  const text = fieldAt(object, "data", name);
  return typeof text === "string" ? text : "";
}
