/** Controller references, and an index by them. */
import { memoizeByObject } from "#base";
import type { Informer } from "#controller-runtime";
import { apiVersionOf, type KubeObject, type OwnerReference, type Resource } from "#kube";

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return owner.metadata.uid !== undefined && controllerOf(object)?.uid === owner.metadata.uid;
}

export function controllerReference(owner: KubeObject, resource: Resource): OwnerReference {
  const { name, uid = "" } = owner.metadata;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

const BY_CONTROLLER = "workloads/by-controller";
const addIndex = memoizeByObject((informer: Pick<Informer<KubeObject>, "addIndex">) => {
  informer.addIndex(BY_CONTROLLER, (object) => [indexKey(object.metadata.namespace, controllerOf(object)?.uid)]);
  return true;
});

/** Once per informer, however many controllers share it. */
export function indexByController<T extends KubeObject>(informer: Informer<T>): Informer<T> {
  addIndex(informer);
  return informer;
}

/** The objects that the owner controls, and those without a controller, because it might adopt them. */
export function ownedOrOrphaned<T extends KubeObject>(informer: Informer<T>, owner: KubeObject): readonly T[] {
  const { namespace } = owner.metadata;
  return [...ownedBy(informer, owner), ...informer.byIndex(BY_CONTROLLER, indexKey(namespace, undefined))];
}

export function ownedBy<T extends KubeObject>(informer: Informer<T>, owner: KubeObject): readonly T[] {
  return informer.byIndex(BY_CONTROLLER, indexKey(owner.metadata.namespace, owner.metadata.uid ?? ""));
}

function indexKey(namespace: string | undefined, uid: string | undefined): string {
  return `${namespace ?? ""}/${uid ?? "orphan"}`;
}

/** The owner of a reference, if it is (still) that object. */
export function resolveController<T extends KubeObject>(informer: Informer<T>, resource: Resource<T>, object: KubeObject): T | undefined {
  const reference = controllerOf(object);
  if (reference === undefined || reference.kind !== resource.kind || reference.apiVersion !== apiVersionOf(resource)) return undefined;
  const owner = informer.get({ namespace: object.metadata.namespace, name: reference.name });
  return owner?.metadata.uid === reference.uid ? owner : undefined;
}
