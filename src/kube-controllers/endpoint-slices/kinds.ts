/** Services, and the two ways in which Kubernetes writes down where they lead. */
import { defineResource, type KubeObject } from "#kube";

export type ServicePort = {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
  readonly targetPort?: number | string;
};

export type Service = KubeObject & {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly ipFamilies?: readonly string[];
    readonly selector?: Readonly<Record<string, string>> | null;
    readonly ports?: readonly ServicePort[];
    readonly publishNotReadyAddresses?: boolean;
    readonly trafficDistribution?: string;
  };
};

export type TargetRef = { readonly kind: "Pod"; readonly namespace: string; readonly name: string; readonly uid: string };

export type EndpointPort = {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
};

export type Endpoint = {
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
  readonly endpoints?: readonly Endpoint[] | null;
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

export const serviceKind = defineResource<Service>({ group: "", version: "v1", kind: "Service", plural: "services", namespaced: true });
export const endpointsKind = defineResource<Endpoints>({
  group: "",
  version: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
});
export const endpointSliceKind = defineResource<EndpointSlice>({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});

export const HEADLESS_LABEL = "service.kubernetes.io/headless";
export const TRIGGER_TIME_ANNOTATION = "endpoints.kubernetes.io/last-change-trigger-time";

/** Services without a selector are filled by somebody else, and those that are only a name lead nowhere. */
export function isSelecting({ spec }: Service): boolean {
  return spec?.type !== "ExternalName" && spec?.selector !== undefined && spec.selector !== null;
}

export function hasAddress({ spec }: Service): boolean {
  return (spec?.clusterIP ?? "") !== "" && spec?.clusterIP !== "None";
}
