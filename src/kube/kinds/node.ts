/** Node. */
import type { Json } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";
import type { ResourceList, TruthStatus } from "./pod.ts";

export type Taint = { readonly key: string; readonly value?: string; readonly effect: string; readonly timeAdded?: string };

export type NodeCondition = {
  readonly type: string;
  readonly status: TruthStatus;
  readonly lastHeartbeatTime?: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
};

export type Node = KubeObject & {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
    readonly podCIDR?: string;
    readonly providerID?: string;
  };
  readonly status?: {
    readonly capacity?: ResourceList;
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly NodeCondition[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, Json | undefined>>;
  };
};

export const nodes = defineResource<Node>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
