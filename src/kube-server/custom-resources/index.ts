export { isEstablished, type CrdRefusal, type PreparedCrd } from "./crd/admit.ts";
export {
  readDefinition,
  type CrdNames,
  type CrdVersion,
  type DecodedDefinition,
  type Definition,
  type CrdPrinterColumn,
  type CrdScalePaths,
  type Subresources,
} from "./crd/definition.ts";
export { definitionType } from "./crd/definition-type.ts";
export { CLEANUP_FINALIZER, establish, sweeping, terminating } from "./crd/status.ts";
export { conversionWebhooks, type ConversionWebhook, type WebhookOf } from "./conversion/index.ts";
export { customResourceTypes, type CustomResourceType } from "./resource/custom-resource-type.ts";
export { type JsonPath } from "./resource/json-path.ts";
export { mapSchemas } from "./resource/map-schemas.ts";
export { modelName, publishedSchemas, type OpenApiVersion, type PublishedKind } from "./resource/openapi.ts";
export { type Printer } from "./resource/table.ts";
