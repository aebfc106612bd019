/**
 * StatefulSets: Pods with names, each with its own claims.
 *
 * A pass whose predecessor's writes are not in the cache yet waits for them: every step of an ordered set depends on the one before.
 */
import type { Informer } from "#controller-runtime";
import {
  controllerRevisions,
  keyText,
  matches,
  parseKey,
  persistentVolumeClaims,
  pods as podResource,
  requirementsOf,
  statefulSets,
  type ControllerRevision,
  type Pod,
  type StatefulSet,
  type StatefulSetStatus,
} from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, passOf, type Pass } from "../../work.ts";
import { claim } from "../pods/claim.ts";
import { Expectations } from "../pods/expectations.ts";
import { childHandler } from "../pods/follow-children.ts";
import { indexByController, ownedOrOrphaned } from "../pods/owners.ts";
import { podLimitOf } from "../pods/pod-limit.ts";
import { nextAvailability } from "../pods/pod-state.ts";
import { updateStatus } from "../pods/status-update.ts";
import { isMember } from "./identity.ts";
import { PodKeeper } from "./pod-keeper.ts";
import { syncRevisions, truncateHistory } from "./set-revisions.ts";
import { updateSet } from "./set-update.ts";

type Caches = {
  readonly sets: Informer<StatefulSet>;
  readonly pods: Informer<Pod>;
  readonly revisions: Informer<ControllerRevision>;
  readonly keeper: PodKeeper;
  readonly expectations: Expectations;
};

export const statefulSetController: KubeController = {
  name: "statefulset-controller",
  start(context) {
    const { informers, client, record, clock } = context;
    const expectations = new Expectations(clock);
    const caches: Caches = {
      sets: informers.of(statefulSets),
      pods: indexByController(informers.of(podResource)),
      revisions: indexByController(informers.of(controllerRevisions)),
      keeper: new PodKeeper({ client, claims: informers.of(persistentVolumeClaims), record, expectations, limit: podLimitOf(context) }),
      expectations,
    };
    const queue = context.work({ name: "statefulset", pass: (key) => pass(context, caches, key) });
    const enqueue = (key: string) => queue.add(key);
    informers.subscribe(statefulSets, ({ key, before, after }) => {
      if (before !== undefined && after?.metadata.uid !== before.metadata.uid) expectations.forget(keyText(key));
      enqueue(keyText(key));
    });
    const selectorOf = ({ spec }: StatefulSet) => requirementsOf(spec.selector);
    informers.subscribe(
      podResource,
      childHandler<StatefulSet, Pod>({ owners: caches.sets, ownerResource: statefulSets, selectorOf, enqueue, expectations }),
    );
  },
};

async function pass(context: KubeControllerContext, caches: Caches, key: string): Promise<Pass> {
  const { client, clock } = context;
  const set = caches.sets.get(parseKey(key));
  if (set === undefined || !caches.expectations.satisfied(key)) return done;
  const selector = requirementsOf(set.spec.selector);
  const claimant = { client, owner: set, ownerResource: statefulSets, selector };
  const candidates = ownedOrOrphaned(caches.revisions, set).filter(({ metadata }) => matches(selector, metadata.labels));
  const known = await claim({ ...claimant, resource: controllerRevisions }, candidates);
  if (!known.ok) return passOf(known);
  const accepts = (pod: Pod) => isMember(set, pod);
  const pods = await claim({ ...claimant, resource: podResource, accepts }, ownedOrOrphaned(caches.pods, set));
  if (!pods.ok) return passOf(pods);
  const revisions = await syncRevisions(client, set, known.value);
  if (!revisions.ok) return passOf(revisions);
  const { keeper } = caches;
  const updated = await updateSet({ keeper, set, revisions: revisions.value, pods: pods.value, now: clock.now() });
  const written = await updateStatus(client, statefulSets, set, updated.status);
  if (!updated.result.ok) return passOf(updated.result);
  if (!written.ok) return passOf(written);
  const truncated = await truncateHistory(client, set, { known: known.value, revisions: revisions.value, pods: pods.value });
  return truncated.ok ? nextCheck(context, set, pods.value, updated.status) : passOf(truncated);
}

function nextCheck({ clock }: KubeControllerContext, set: StatefulSet, pods: readonly Pod[], status: StatefulSetStatus): Pass {
  const { minReadySeconds = 0 } = set.spec;
  if (minReadySeconds === 0 || (status.readyReplicas ?? 0) === (status.availableReplicas ?? 0)) return done;
  return again(nextAvailability(pods, minReadySeconds, clock.now()) ?? minReadySeconds * 1_000);
}
