/** Creates missing Pods and deletes surplus ones, at most 500 at a time. */
import { ok, type Result } from "#base";
import type { Informer } from "#controller-runtime";
import { keyOf, keyText, matches, type Pod } from "#kube";
import type { KubeError } from "#kube-client";
import { inDeletionOrder } from "../pods/deletion-order.ts";
import type { Expectations } from "../pods/expectations.ts";
import { isNamespaceEnding, type PodControl } from "../pods/pod-control.ts";
import { controllerOf, ownedBy } from "../pods/owners.ts";
import { slowStart } from "../pods/slow-start.ts";
import { replicasOf, type ReplicaKind, type Replicated } from "./replica-kind.ts";

const BURST = 500;

export type Manager<T extends Replicated> = {
  readonly kind: ReplicaKind<T>;
  readonly owners: Informer<T>;
  readonly pods: Informer<Pod>;
  readonly control: PodControl;
  readonly expectations: Expectations;
  readonly now: () => number;
};

export async function manageReplicas<T extends Replicated>(
  manager: Manager<T>,
  object: T,
  active: readonly Pod[],
): Promise<Result<void, KubeError>> {
  const difference = active.length - replicasOf(object);
  if (difference < 0) return createPods(manager, object, Math.min(-difference, BURST));
  if (difference > 0) return deletePods(manager, object, choosePodsToDelete(manager, object, active).slice(0, Math.min(difference, BURST)));
  return ok(undefined);
}

async function createPods<T extends Replicated>(
  { kind, control, expectations }: Manager<T>,
  object: T,
  count: number,
): Promise<Result<void, KubeError>> {
  const owner = keyText(keyOf(object));
  const template = kind.templateOf(object);
  expectations.expectCreations(owner, count);
  const { missing, error } = await slowStart(count, async () => {
    const created = await control.create({ object, resource: kind.resource }, template);
    if (created.ok || !isNamespaceEnding(created.error)) return created;
    expectations.created(owner);
    return ok(undefined);
  });
  if (missing > 0) expectations.created(owner, missing);
  return error === undefined ? ok(undefined) : { ok: false, error };
}

async function deletePods<T extends Replicated>(
  { kind, control, expectations }: Manager<T>,
  object: T,
  pods: readonly Pod[],
): Promise<Result<void, KubeError>> {
  const owner = keyText(keyOf(object));
  expectations.expectDeletions(
    owner,
    pods.map((pod) => keyText(keyOf(pod))),
  );
  const answers = await Promise.all(
    pods.map(async (pod) => {
      const removed = await control.remove({ object, resource: kind.resource }, pod.metadata.name);
      if (!removed.ok) expectations.deleted(owner, keyText(keyOf(pod)));
      return removed;
    }),
  );
  return answers.find((answer) => !answer.ok && answer.error.kind !== "not-found") ?? ok(undefined);
}

function choosePodsToDelete<T extends Replicated>(manager: Manager<T>, object: T, active: readonly Pod[]): readonly Pod[] {
  return inDeletionOrder(active, relatedPods(manager, object), manager.now());
}

/** The Pods of all sets with the same owner: during a rollout, old and new Pods of a node count together. */
function relatedPods<T extends Replicated>({ kind, owners, pods }: Manager<T>, object: T): readonly Pod[] {
  const reference = controllerOf(object);
  if (reference === undefined) return [];
  const { namespace } = object.metadata;
  const siblings = owners.list(namespace).filter((other) => controllerOf(other)?.uid === reference.uid);
  return siblings.flatMap((sibling) => {
    const selector = kind.selectorOf(sibling);
    return ownedBy(pods, sibling).filter((pod) => matches(selector, pod.metadata.labels));
  });
}
