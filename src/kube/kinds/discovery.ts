/** Endpoints and `discovery.k8s.io/v1` EndpointSlice: the two kinds that list the addresses behind a Service. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";

export type TargetRef = { readonly kind: "Pod"; readonly namespace: string; readonly name: string; readonly uid: string };

export type EndpointPort = {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
};

export type SliceEndpoint = {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly targetRef?: TargetRef;
  readonly hints?: {
    readonly forZones?: readonly { readonly name: string }[];
    readonly forNodes?: readonly { readonly name: string }[];
  };
};

export type AddressType = "IPv4" | "IPv6";

export type EndpointSlice = KubeObject & {
  readonly addressType: string;
  readonly endpoints?: readonly SliceEndpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
};

export type EndpointAddress = {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: TargetRef;
};

export type EndpointSubset = {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly EndpointPort[];
};

export type Endpoints = KubeObject & { readonly subsets?: readonly EndpointSubset[] | null };

export const endpoints = defineResource<Endpoints>({
  group: "",
  version: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
});
export const endpointSlices = defineResource<EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});
