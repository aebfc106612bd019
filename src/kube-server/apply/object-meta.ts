/** The OpenAPI node of ObjectMeta with inlined references: the schema of a CustomResourceDefinition does not declare `metadata`. */
import type { JsonObject } from "#kube";

const TEXT: JsonObject = { type: "string" };
const TIME: JsonObject = { type: "string", format: "date-time" };
const TEXTS: JsonObject = { type: "object", additionalProperties: TEXT };

const OWNER_REFERENCE: JsonObject = {
  type: "object",
  "x-kubernetes-map-type": "atomic",
  properties: {
    apiVersion: TEXT,
    blockOwnerDeletion: { type: "boolean" },
    controller: { type: "boolean" },
    kind: TEXT,
    name: TEXT,
    uid: { ...TEXT, default: "" },
  },
};

const MANAGED_FIELDS_ENTRY: JsonObject = {
  type: "object",
  properties: {
    apiVersion: TEXT,
    fieldsType: TEXT,
    fieldsV1: { type: "object" },
    manager: TEXT,
    operation: TEXT,
    subresource: TEXT,
    time: TIME,
  },
};

export const OBJECT_META: JsonObject = {
  type: "object",
  properties: {
    annotations: TEXTS,
    creationTimestamp: TIME,
    deletionGracePeriodSeconds: { type: "integer" },
    deletionTimestamp: TIME,
    finalizers: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    generateName: TEXT,
    generation: { type: "integer" },
    labels: TEXTS,
    managedFields: { type: "array", items: MANAGED_FIELDS_ENTRY, "x-kubernetes-list-type": "atomic" },
    name: TEXT,
    namespace: TEXT,
    ownerReferences: { type: "array", items: OWNER_REFERENCE, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"] },
    resourceVersion: TEXT,
    selfLink: TEXT,
    uid: TEXT,
  },
};
