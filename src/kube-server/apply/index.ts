export type { ApplyError } from "./apply-error.ts";
export { MAX_UPDATE_MANAGERS } from "./cap-managers.ts";
export type { Conflict } from "./conflicts.ts";
export { compare, isUnchanged, type Comparison } from "./compare.ts";
export { emptyObjectOf } from "./empty-objects.ts";
export { excluding, type FieldFilter, type ResetFields } from "./field-filter.ts";
export {
  difference,
  EMPTY_SET,
  fieldSetOf,
  has,
  intersection,
  isEmpty,
  isSubset,
  leaves,
  pathsOf,
  recursiveDifference,
  setsEqual,
  sizeOf,
  union,
  type FieldNode,
  type FieldSet,
} from "./field-set.ts";
export { decodeFields, encodeFields, isSharedFields } from "./fields-v1.ts";
export { applyPatch, trackUpdate } from "./managed-fields.ts";
export type { ApplyRequest, ManagedKind, UpdateRequest } from "./managed-kind.ts";
export { withoutManagedFields } from "./managed-metadata.ts";
export { decodeManaged, encodeManaged, type ManagedFields } from "./managers.ts";
export { merge } from "./merge.ts";
export { crdSchema, openApiSchemas, type CrdSchemaOptions, type ResolveRef } from "./open-api-schema.ts";
export { fieldPath, pathText, type FieldPath, type PathElement } from "./path-element.ts";
export { reconcileFieldSet } from "./reconcile-schema.ts";
export { extractItems, removeItems } from "./remove-items.ts";
export { resetFieldsOf, resetFieldsOfCustom } from "./reset-fields.ts";
export { deduced, scalarSchema, untypedAtomic, type ListSchema, type MapSchema, type ScalarType, type TypeSchema } from "./schema.ts";
export { parentEntries, scaleEntries, type ReplicasPaths, type ScaleWrite } from "./scale.ts";
export { toFieldSet } from "./to-field-set.ts";
export { keepTimesIfUnchanged } from "./unchanged-times.ts";
export { validate, type ValidateOptions } from "./validate.ts";
export { noOtherVersion, renameVersion, type ConvertedObject, type ConvertError, type ConvertObject } from "./versions.ts";
