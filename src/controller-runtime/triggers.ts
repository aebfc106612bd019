/**
 * From a change to the keys that must be reconciled. A key names an object and never a reason: the pass checks
 * everything.
 */
import { jsonEqual, keyOf, type KubeObject, type ObjectKey, type Resource } from "#kube";
import { groupOf, ownerKeyOf } from "./identity.ts";
import type { InformerSet } from "./cache.ts";
import type { BoundController } from "./pass.ts";

/** Calls `enqueue` for existing objects and for every change from now on; the returned function unsubscribes. */
export function subscribeTriggers(controller: BoundController, informers: InformerSet, enqueue: (key: ObjectKey) => void): () => void {
  const { name, reconciles, selects = () => true, owns = [], watches, triggers } = controller;
  const isSelected = (object: KubeObject | undefined) => object !== undefined && selects(object);
  const both = (before: KubeObject | undefined, after: KubeObject | undefined, keysOf: (object: KubeObject) => readonly ObjectKey[]) => {
    // before and after: a change of owner affects the old owner as well
    for (const object of [before, after]) if (object !== undefined) keysOf(object).forEach(enqueue);
  };
  const unsubscribe = [
    informers.subscribe(reconciles, ({ key, before, after }) => {
      if ((isSelected(before) || isSelected(after)) && triggersPass(before, after)) enqueue(key);
    }),
    ...owns.map((resource) =>
      informers.subscribe(resource, ({ before, after }) => both(before, after, (object) => ownersOf(object, reconciles, name))),
    ),
    ...watches.map((watch) =>
      informers.subscribe(watch.resource, ({ before, after }) => {
        if (watch.ignoresStatus !== true || triggersPass(before, after))
          both(before, after, (object) => watch.mapTo(object, { cache: informers }));
      }),
    ),
  ];
  if (triggers !== undefined) unsubscribe.push(triggers(enqueue));
  for (const object of informers.list(reconciles).filter(selects)) enqueue(keyOf(object));
  return () => unsubscribe.forEach((end) => end());
}

/** By owner reference, or by our own annotation where no reference could be set. */
function ownersOf(object: KubeObject, owner: Resource, controller: string): readonly ObjectKey[] {
  const namespace = owner.namespaced ? object.metadata.namespace : undefined;
  const references = (object.metadata.ownerReferences ?? [])
    .filter((reference) => reference.kind === owner.kind && groupOf(reference.apiVersion) === owner.group)
    .map((reference) => ({ namespace, name: reference.name }));
  const marked = ownerKeyOf(object, controller);
  return marked === undefined ? references : [...references, marked];
}

/** Our own status writes are watch events too; a pass for each would never end. */
function triggersPass(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return !jsonEqual(withoutStatus(before), withoutStatus(after));
}

function withoutStatus(object: KubeObject & { readonly status?: unknown }): unknown {
  const { status: _status, metadata, ...rest } = object;
  const { resourceVersion: _version, managedFields: _managed, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
