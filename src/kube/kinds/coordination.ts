/** `coordination.k8s.io/v1` Lease and `events.k8s.io/v1` Event. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";

export type LeaseSpec = {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
};
export type Lease = KubeObject & { readonly spec?: LeaseSpec };

export type KubeEvent = KubeObject & {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly type: "Normal" | "Warning";
  readonly note: string;
  readonly regarding: Readonly<Record<string, string>>;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
};

export const leases = defineResource<Lease>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});
export const events = defineResource<KubeEvent>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
});
