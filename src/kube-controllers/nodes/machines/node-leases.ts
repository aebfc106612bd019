/** The Leases of the simulated nodes: a kubelet renews the one of its Node, which owns it. */
import { ok, type Result } from "#base";
import { leases, type OwnerReference } from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeControllerContext } from "../../context.ts";
import type { Machine } from "./machine.ts";

export const LEASE_NAMESPACE = "kube-node-lease";
const LEASE_SECONDS = 40;

export class NodeLeases {
  readonly #context: KubeControllerContext;
  /** By uid: nodes whose Lease has this owner. */
  readonly #owned = new Set<string>();

  constructor(context: KubeControllerContext) {
    this.#context = context;
  }

  async renew({ name, uid }: Machine): Promise<Result<unknown, KubeError>> {
    const { client, clock } = this.#context;
    const key = { namespace: LEASE_NAMESPACE, name };
    const renewTime = new Date(clock.now()).toISOString().replace(/Z$/, "000Z");
    const ownerReferences: readonly OwnerReference[] = [{ apiVersion: "v1", kind: "Node", name, uid }];
    // the Lease may be that of a deleted Node with the same name, which the garbage collector would delete
    const owner = this.#owned.has(uid) ? {} : { metadata: { ownerReferences: ownerReferences.map((one) => ({ ...one })) } };
    const renewed = await client.patch(leases, key, { type: "merge", patch: { ...owner, spec: { renewTime } } });
    if (!renewed.ok && renewed.error.kind !== "not-found") return renewed;
    const written = renewed.ok
      ? renewed
      : await client.create(leases, {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { ...key, ownerReferences },
          spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
        });
    if (written.ok) this.#owned.add(uid);
    return written;
  }

  /** Deletes the Lease of a Node that was deleted, unless it belongs to another Node by now. */
  async remove(name: string, uid: string): Promise<Result<unknown, KubeError>> {
    const { client } = this.#context;
    this.#owned.delete(uid);
    const key = { namespace: LEASE_NAMESPACE, name };
    const found = await client.get(leases, key);
    const lease = found.ok ? found.value.metadata : undefined;
    if (lease?.ownerReferences?.some((owner) => owner.uid === uid) === true) {
      const deleted = await client.delete(leases, key, { preconditions: { uid: lease.uid ?? "" } });
      return isGone(deleted) ? ok(undefined) : deleted;
    }
    return isGone(found) ? ok(undefined) : found;
  }
}

/** Already deleted, or another object of this name. */
function isGone(answer: Result<unknown, KubeError>): boolean {
  return !answer.ok && (answer.error.kind === "not-found" || answer.error.kind === "conflict");
}
