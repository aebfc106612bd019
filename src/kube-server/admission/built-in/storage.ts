/** What the storage plugins put into claims and volumes: finalizers, since somebody may still use them when they are deleted, and a class. */
import { ok } from "#base";
import { fieldAt } from "#kube";
import { finalizersOf, withMetadata } from "../../rest/object-meta.ts";
import type { AdmissionContext, AdmissionPlugin } from "../port.ts";
import { withSpec, written } from "./change.ts";

const FINALIZERS: ReadonlyMap<string, string> = new Map([
  ["/persistentvolumes", "kubernetes.io/pv-protection"],
  ["/persistentvolumeclaims", "kubernetes.io/pvc-protection"],
]);

export const storageProtection: AdmissionPlugin = {
  name: "StorageObjectInUseProtection",
  mutate: (attributes) => {
    const finalizer = FINALIZERS.get(attributes.type.collection);
    const object = written(attributes);
    if (finalizer === undefined || object === undefined || attributes.operation !== "CREATE") return ok(attributes.object);
    const finalizers = finalizersOf(object);
    return ok(finalizers.includes(finalizer) ? object : withMetadata(object, { finalizers: [...finalizers, finalizer] }));
  },
};

export function defaultStorageClass(context: AdmissionContext): AdmissionPlugin {
  return {
    name: "DefaultStorageClass",
    mutate: (attributes) => {
      const object = written(attributes);
      if (object === undefined || attributes.operation !== "CREATE" || attributes.type.collection !== "/persistentvolumeclaims")
        return ok(attributes.object);
      if (fieldAt(object, "spec", "storageClassName") !== undefined) return ok(object);
      const name = defaultClass(context);
      return ok(name === undefined ? object : withSpec(object, { storageClassName: name }));
    },
  };
}

const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";

/** The newest of those that say they are it. */
function defaultClass({ store }: AdmissionContext): string | undefined {
  const listed = store.list("storage.k8s.io/storageclasses");
  const marked = listed.ok ? listed.value.items.filter(({ object }) => object.metadata.annotations?.[IS_DEFAULT] === "true") : [];
  const newest = marked.toSorted((a, b) =>
    (a.object.metadata.creationTimestamp ?? "") < (b.object.metadata.creationTimestamp ?? "") ? 1 : -1,
  )[0];
  return newest?.object.metadata.name;
}
