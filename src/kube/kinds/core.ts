/** Namespaces, configuration, accounts and Services of the core group. Pods are in `pod.ts`, volumes in `storage.ts`, nodes in `node.ts`. */
import type { Condition } from "../conditions.ts";
import type { KubeObject } from "../object.ts";
import { defineResource, metadataOf } from "../resource.ts";

export type Namespace = KubeObject & {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Omit<Condition, "observedGeneration">[] };
};

export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

export type ResourceQuota = KubeObject & {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
  readonly status?: { readonly hard?: Readonly<Record<string, string>>; readonly used?: Readonly<Record<string, string>> };
};

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
    readonly loadBalancerIP?: string;
    readonly loadBalancerClass?: string;
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly ipMode?: string }[] } };
};

/** `POST …/bindings` equals `POST …/pods/NAME/binding`, and needs no subresource support in the client. */
export type Binding = KubeObject & { readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string } };

const core = <T extends KubeObject>(kind: string, plural: string) =>
  defineResource<T>({ group: "", version: "v1", kind, plural, namespaced: true });

export const namespaces = defineResource<Namespace>({
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});
export const bindings = core<Binding>("Binding", "bindings");
export const configMaps = core<ConfigMap>("ConfigMap", "configmaps");
export const limitRanges = core<KubeObject>("LimitRange", "limitranges");
export const resourceQuotas = core<ResourceQuota>("ResourceQuota", "resourcequotas");
export const secrets = core<KubeObject>("Secret", "secrets");
/** Secrets are watched without their values; needed values are read one by one. */
export const secretsByMetadata = metadataOf(secrets);
export const serviceAccounts = core<KubeObject>("ServiceAccount", "serviceaccounts");
export const services = core<Service>("Service", "services");
