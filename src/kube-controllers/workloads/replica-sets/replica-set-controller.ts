/**
 * ReplicaSets and ReplicationControllers: creates and deletes Pods up to `spec.replicas`, and counts them in the status.
 *
 * A pass whose own writes are not in the cache yet creates and deletes nothing, but it still writes the status.
 */
import { timestamp } from "#base";
import { keyText, parseKey, pods as podResource, type Pod } from "#kube";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { again, done, failed, passOf, type Pass } from "../../work.ts";
import { claim } from "../pods/claim.ts";
import { Expectations } from "../pods/expectations.ts";
import { childHandler } from "../pods/follow-children.ts";
import { indexByController, isControlledBy, ownedOrOrphaned } from "../pods/owners.ts";
import { podControl } from "../pods/pod-control.ts";
import { podLimitOf } from "../pods/pod-limit.ts";
import { isPodActive, isPodTerminating, nextAvailability } from "../pods/pod-state.ts";
import { updateStatus } from "../pods/status-update.ts";
import { manageReplicas, type Manager } from "./manage-replicas.ts";
import { replicaSetKind, replicationControllerKind, type ReplicaKind, type Replicated } from "./replica-kind.ts";
import { replicaStatus } from "./replica-status.ts";

export const replicaSetController = replicaController(replicaSetKind);
export const replicationControllerController = replicaController(replicationControllerKind);

function replicaController<T extends Replicated>(kind: ReplicaKind<T>): KubeController {
  return {
    name: kind.controller,
    reportsAs: kind.reportsAs,
    start(context) {
      const { informers, clock } = context;
      const manager: Manager<T> = {
        kind,
        owners: informers.of(kind.resource),
        pods: indexByController(informers.of(podResource)),
        control: podControl({ ...context, limit: podLimitOf(context) }),
        expectations: new Expectations(clock),
        now: () => clock.now(),
      };
      const queue = context.work({ name: kind.controller, pass: (key) => pass(context, manager, key) });
      const { owners, expectations } = manager;
      informers.subscribe(kind.resource, ({ key, before, after }) => {
        if (before !== undefined && after?.metadata.uid !== before.metadata.uid) expectations.forget(keyText(key));
        queue.add(keyText(key));
      });
      const follow = {
        owners,
        ownerResource: kind.resource,
        selectorOf: kind.selectorOf,
        enqueue: (key: string) => queue.add(key),
        expectations,
      };
      informers.subscribe(podResource, childHandler<T, Pod>(follow));
    },
  };
}

async function pass<T extends Replicated>(context: KubeControllerContext, manager: Manager<T>, key: string): Promise<Pass> {
  const { client, clock } = context;
  const { kind, expectations } = manager;
  const object = manager.owners.get(parseKey(key));
  if (object === undefined) {
    expectations.forget(key);
    return done;
  }
  const mayManage = expectations.satisfied(key) && object.metadata.deletionTimestamp === undefined;
  const pods = ownedOrOrphaned(manager.pods, object);
  const selector = kind.selectorOf(object);
  const claimant = { client, owner: object, ownerResource: kind.resource, resource: podResource, selector };
  const active = await claim(claimant, pods.filter(isPodActive));
  if (!active.ok) return passOf(active);
  const managed = mayManage ? await manageReplicas(manager, object, active.value) : undefined;
  const terminating = kind.countsTerminating ? pods.filter((pod) => isPodTerminating(pod) && isControlledBy(pod, object)) : undefined;
  const failure = managed === undefined || managed.ok ? undefined : managed.error.message;
  const observed = { active: active.value, terminating, failure, now: clock.now(), nowText: timestamp(clock) };
  const status = replicaStatus(object, kind.templateOf(object), observed);
  const written = await updateStatus(client, kind.resource, object, status);
  if (!written.ok) return passOf(written);
  if (failure !== undefined) return failed(failure);
  const wait = nextAvailability(active.value, object.spec.minReadySeconds ?? 0, clock.now());
  return wait === undefined ? done : again(wait);
}
