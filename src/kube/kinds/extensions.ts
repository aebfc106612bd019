/** Kinds that change the API itself: CustomResourceDefinition, APIService and the kinds of `admissionregistration.k8s.io/v1`. */
import type { KubeObject } from "../object.ts";
import { defineResource } from "../resource.ts";

export type ValidatingAdmissionPolicy = KubeObject & {
  readonly status?: { readonly observedGeneration?: number; readonly typeChecking?: Readonly<Record<string, never>> };
};

const registration = <T extends KubeObject>(kind: string, plural: string) =>
  defineResource<T>({ group: "admissionregistration.k8s.io", version: "v1", kind, plural, namespaced: false });

export const mutatingWebhookConfigurations = registration<KubeObject>("MutatingWebhookConfiguration", "mutatingwebhookconfigurations");
export const validatingWebhookConfigurations = registration<KubeObject>(
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
);
export const validatingAdmissionPolicies = registration<ValidatingAdmissionPolicy>(
  "ValidatingAdmissionPolicy",
  "validatingadmissionpolicies",
);
export const customResourceDefinitions = defineResource<KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});
export const apiServices = defineResource<KubeObject>({
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  plural: "apiservices",
  namespaced: false,
});
