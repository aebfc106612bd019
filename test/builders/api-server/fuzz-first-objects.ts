/** Objects in a fuzz world before the first request: custom kinds, namespaces, and role bindings of users with different rights. */
import type { Json } from "#kube";
import { objectFor } from "./fuzz-objects.ts";

export const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.fuzz.test" },
  spec: {
    group: "fuzz.test",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", singular: "widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                "x-kubernetes-validations": [{ rule: "self.size < 100" }, { rule: "!has(oldSelf.size) || self.size >= oldSelf.size" }],
                properties: {
                  size: { type: "integer", minimum: 0, default: 1 },
                  tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, count: { type: "integer", default: 2 } },
                    },
                  },
                  any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
              status: { type: "object", properties: { size: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
} as const satisfies Json;

const GEARS = objectFor("customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "gears");

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const binding = (group: string, role: string): Json => ({
  metadata: { name: group },
  subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: group }],
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
});

export const FIRST_OBJECTS: readonly { readonly url: string; readonly body: Json }[] = [
  { url: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: WIDGETS },
  { url: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: GEARS },
  { url: "/api/v1/namespaces", body: { metadata: { name: "a" } } },
  { url: "/api/v1/namespaces", body: { metadata: { name: "b" } } },
  { url: `${rbac}/clusterrolebindings`, body: binding("editors", "edit") },
  { url: `${rbac}/namespaces/default/rolebindings`, body: binding("viewers", "view") },
];
