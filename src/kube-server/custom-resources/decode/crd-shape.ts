/** The shape of CustomResourceDefinition of apiextensions.k8s.io/v1. */
import { OBJECT_META } from "./object-meta-shape.ts";
import { SCHEMA } from "./schema-shape.ts";
import { always, BOOLEAN, optional, pointer, STRING, STRINGS, type Field, type GoShape } from "../../protocol/shapes.ts";

const INT32: GoShape = { kind: "integer", goType: "int32" };

function struct(goType: string, fields: readonly (readonly [string, Field])[]): GoShape {
  const map = new Map(fields);
  return { kind: "struct", goType: `v1.${goType}`, fields: () => map };
}

function listOf(goType: string, of: GoShape): GoShape {
  return { kind: "list", goType: `[]v1.${goType}`, of: () => of };
}

const NAMES = struct("CustomResourceDefinitionNames", [
  ["plural", always(STRING)],
  ["singular", optional(STRING)],
  ["shortNames", optional(STRINGS)],
  ["kind", always(STRING)],
  ["listKind", optional(STRING)],
  ["categories", optional(STRINGS)],
]);

const COLUMN = struct("CustomResourceColumnDefinition", [
  ["name", always(STRING)],
  ["type", always(STRING)],
  ["format", optional(STRING)],
  ["description", optional(STRING)],
  ["priority", optional(INT32)],
  ["jsonPath", always(STRING)],
]);

const SUBRESOURCES = struct("CustomResourceSubresources", [
  ["status", pointer(struct("CustomResourceSubresourceStatus", []))],
  [
    "scale",
    pointer(
      struct("CustomResourceSubresourceScale", [
        ["specReplicasPath", always(STRING)],
        ["statusReplicasPath", always(STRING)],
        ["labelSelectorPath", pointer(STRING)],
      ]),
    ),
  ],
]);

const VERSION = struct("CustomResourceDefinitionVersion", [
  ["name", always(STRING)],
  ["served", always(BOOLEAN)],
  ["storage", always(BOOLEAN)],
  ["deprecated", optional(BOOLEAN)],
  ["deprecationWarning", pointer(STRING)],
  ["schema", pointer(struct("CustomResourceValidation", [["openAPIV3Schema", pointer(SCHEMA)]]))],
  ["subresources", pointer(SUBRESOURCES)],
  ["additionalPrinterColumns", optional(listOf("CustomResourceColumnDefinition", COLUMN))],
  ["selectableFields", optional(listOf("SelectableField", struct("SelectableField", [["jsonPath", always(STRING)]])))],
]);

const CLIENT_CONFIG = struct("WebhookClientConfig", [
  ["url", pointer(STRING)],
  [
    "service",
    pointer(
      struct("ServiceReference", [
        ["namespace", always(STRING)],
        ["name", always(STRING)],
        ["path", pointer(STRING)],
        ["port", pointer(INT32)],
      ]),
    ),
  ],
  ["caBundle", optional(STRING)],
]);

const CONVERSION = struct("CustomResourceConversion", [
  ["strategy", always({ kind: "string", goType: "v1.ConversionStrategyType" })],
  [
    "webhook",
    pointer(
      struct("WebhookConversion", [
        ["clientConfig", pointer(CLIENT_CONFIG)],
        ["conversionReviewVersions", always(STRINGS)],
      ]),
    ),
  ],
]);

const CONDITION = struct("CustomResourceDefinitionCondition", [
  ["type", always({ kind: "string", goType: "v1.CustomResourceDefinitionConditionType" })],
  ["status", always({ kind: "string", goType: "v1.ConditionStatus" })],
  ["lastTransitionTime", pointer(STRING)],
  ["reason", optional(STRING)],
  ["message", optional(STRING)],
  ["observedGeneration", optional({ kind: "integer", goType: "int64" })],
]);

export const CRD: GoShape = struct("CustomResourceDefinition", [
  ["kind", optional(STRING)],
  ["apiVersion", optional(STRING)],
  ["metadata", always(OBJECT_META)],
  [
    "spec",
    always(
      struct("CustomResourceDefinitionSpec", [
        ["group", always(STRING)],
        ["names", always(NAMES)],
        ["scope", always({ kind: "string", goType: "v1.ResourceScope" })],
        ["versions", always(listOf("CustomResourceDefinitionVersion", VERSION))],
        ["conversion", pointer(CONVERSION)],
        ["preserveUnknownFields", optional(BOOLEAN)],
      ]),
    ),
  ],
  [
    "status",
    always(
      struct("CustomResourceDefinitionStatus", [
        ["conditions", always(listOf("CustomResourceDefinitionCondition", CONDITION))],
        ["acceptedNames", always(NAMES)],
        ["storedVersions", always(STRINGS)],
        ["observedGeneration", optional({ kind: "integer", goType: "int64" })],
      ]),
    ),
  ],
]);
