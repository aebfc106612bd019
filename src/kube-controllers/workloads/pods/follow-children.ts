/**
 * From a change of a child (a Pod, a ReplicaSet, a Job) to the owners that must be reconciled: its controller before and after, and, for an
 * orphan, every owner whose selector matches it.
 */
import type { CacheChange, Informer } from "#controller-runtime";
import { keyOf, keyText, jsonEqual, matches, type KubeObject, type Requirement, type Resource } from "#kube";
import type { Expectations } from "./expectations.ts";
import { controllerOf, resolveController } from "./owners.ts";

export type Following<O extends KubeObject> = {
  readonly owners: Informer<O>;
  readonly ownerResource: Resource<O>;
  /** Absent: orphans are ignored. */
  readonly selectorOf?: (owner: O) => readonly Requirement[];
  readonly enqueue: (ownerKey: string) => void;
  readonly expectations?: Expectations;
};

export function childHandler<O extends KubeObject, C extends KubeObject>(following: Following<O>): (change: CacheChange<C>) => void {
  const { owners, ownerResource, enqueue } = following;
  const ownerKeyOf = (child: C | undefined) => {
    const owner = child === undefined ? undefined : resolveController(owners, ownerResource, child);
    return owner === undefined ? undefined : keyText(keyOf(owner));
  };
  return (change) => {
    const { before, after } = change;
    const [was, is] = [ownerKeyOf(before), ownerKeyOf(after)];
    if (following.expectations !== undefined) observe(following.expectations, change, is ?? was);
    if (was !== undefined) enqueue(was);
    if (is !== undefined && is !== was) enqueue(is);
    if (after !== undefined && controllerOf(after) === undefined && mayBeAdopted(before, after)) enqueueAdopters(following, after);
  };
}

function observe<C extends KubeObject>(
  expectations: Expectations,
  { key, before, after }: CacheChange<C>,
  owner: string | undefined,
): void {
  if (owner === undefined) return;
  const goes = after === undefined || after.metadata.deletionTimestamp !== undefined;
  if (goes) expectations.deleted(owner, keyText(key));
  else if (before === undefined || before.metadata.uid !== after.metadata.uid) expectations.created(owner);
}

/** Whether an orphan may now be adopted: it is new, it was released, or its labels changed. */
function mayBeAdopted(before: KubeObject | undefined, after: KubeObject): boolean {
  if (after.metadata.deletionTimestamp !== undefined) return false;
  return before === undefined || controllerOf(before) !== undefined || !jsonEqual(before.metadata.labels, after.metadata.labels);
}

function enqueueAdopters<O extends KubeObject>({ owners, selectorOf, enqueue }: Following<O>, child: KubeObject): void {
  if (selectorOf === undefined) return;
  for (const owner of owners.list(child.metadata.namespace)) {
    const selector = selectorOf(owner);
    if (selector.length > 0 && matches(selector, child.metadata.labels)) enqueue(keyText(keyOf(owner)));
  }
}
