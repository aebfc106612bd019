export { describeCauses } from "./causes/causes.ts";
export { admitCrd, isEstablished, type CrdRefusal, type PreparedCrd } from "./crd/admit.ts";
export {
  decodeDefinition,
  readDefinition,
  type CrdNames,
  type CrdVersion,
  type DecodedDefinition,
  type Definition,
  type PrinterColumn,
  type ScalePaths,
  type Subresources,
} from "./crd/definition.ts";
export { definitionType } from "./crd/definition-type.ts";
export { CLEANUP_FINALIZER, establish, nameConflict, sweeping, terminating } from "./crd/status.ts";
export { rewriteVersion } from "./resource/convert.ts";
export { conversionWebhooks, type ConversionWebhook, type WebhookOf } from "./conversion/index.ts";
export { customResourceTypes, type CustomResourceType } from "./resource/custom-resource-type.ts";
export { compareVersions, deprecationWarning, resourceEntries, verbsOf } from "./resource/discovery.ts";
export { parseJsonPath, type JsonPath } from "./resource/json-path.ts";
export { mapSchemas } from "./resource/map-schemas.ts";
export { modelName, publishedSchemas, type OpenApiVersion, type PublishedKind } from "./resource/openapi.ts";
export { readScale, withReplicas, type ScaleValues } from "./resource/scale.ts";
export { tablePrinter, type Printer } from "./resource/table.ts";
