/** The storage plugins: finalizers that keep claims and volumes while they are in use, the default class, and the growth of claims. */
import { ok } from "#base";
import { fieldAt, parseQuantity, type KubeObject } from "#kube";
import { finalizersOf, withMetadata } from "../../protocol/object-meta.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin } from "../../protocol/admission-port.ts";
import { withSpec, written } from "./change.ts";

const FINALIZERS: ReadonlyMap<string, string> = new Map([
  ["/persistentvolumes", "kubernetes.io/pv-protection"],
  ["/persistentvolumeclaims", "kubernetes.io/pvc-protection"],
  ["storage.k8s.io/volumeattributesclasses", "kubernetes.io/vac-protection"],
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

/** A claim can grow only when it is bound, and only if its class allows it. */
export function claimResize({ store }: AdmissionContext): AdmissionPlugin {
  return {
    name: "PersistentVolumeClaimResize",
    validate: (attributes) => {
      const { type, old } = attributes;
      const object = written(attributes);
      if (object === undefined || old === undefined || type.collection !== "/persistentvolumeclaims") return ok(undefined);
      if (sizeOf(object) <= sizeOf(old)) return ok(undefined);
      if (fieldAt(old, "status", "phase") !== "Bound") return forbid(attributes, "Only bound persistent volume claims can be expanded");
      const [name, before] = [object, old].map((claim) => fieldAt(claim, "spec", "storageClassName")) as [unknown, unknown];
      const known =
        typeof name === "string" && name !== "" && name === before ? store.get("storage.k8s.io/storageclasses", name) : undefined;
      return fieldAt(known?.object, "allowVolumeExpansion") === true ? ok(undefined) : forbid(attributes, NOT_RESIZABLE);
    },
  };
}

const NOT_RESIZABLE = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

function sizeOf(claim: KubeObject): bigint {
  const size = fieldAt(claim, "spec", "resources", "requests", "storage");
  const parsed = typeof size === "string" ? parseQuantity(size) : undefined;
  return parsed?.ok === true ? parsed.value : 0n;
}

const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";

/** The newest of the classes that are marked as default. */
function defaultClass({ store }: AdmissionContext): string | undefined {
  const listed = store.list("storage.k8s.io/storageclasses");
  const marked = listed.ok ? listed.value.items.filter(({ object }) => object.metadata.annotations?.[IS_DEFAULT] === "true") : [];
  const newest = marked.toSorted((a, b) =>
    (a.object.metadata.creationTimestamp ?? "") < (b.object.metadata.creationTimestamp ?? "") ? 1 : -1,
  )[0];
  return newest?.object.metadata.name;
}
