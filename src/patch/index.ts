export { httpStatusOf, type PatchError, type PatchErrorKind } from "./errors.ts";
export { applyJsonPatch, type JsonPatchOptions } from "./json-patch.ts";
export type { Json, JsonObject, JsonPrimitive } from "./json.ts";
export {
  applyMergePatch,
  createMergePatch,
  createThreeWayMergePatch,
  mergePatchesConflict,
  type MergePatchOptions,
} from "./merge-patch.ts";
export { builtinDefinition, builtinDefinitionNameOf, builtinDefinitionNames, builtinSchema } from "./schema/builtin.ts";
export { crdSchema, structuralSchema } from "./schema/crd.ts";
export { openApiSchema, openApiSchemaOfKind, type GroupVersionKind } from "./schema/openapi.ts";
export type { FieldMerge, ListType, PatchSchema } from "./schema/port.ts";
export { applyStrategicMergePatch, mergeStrategicPatches, type StrategicOptions } from "./strategic/apply.ts";
export { strategicPatchesConflict } from "./strategic/conflicts.ts";
export {
  createThreeWayStrategicPatch,
  createTwoWayStrategicPatch,
  fieldUnchanged,
  type CreateOptions,
  type Precondition,
  type ThreeWay,
} from "./strategic/create.ts";
export { explainLists, type ListStory } from "./strategic/explain.ts";
export { sortMergeLists } from "./strategic/sort-lists.ts";
export {
  applyJsonPatchText,
  applyMergePatchText,
  applyStrategicMergePatchText,
  createMergePatchText,
  createThreeWayMergePatchText,
  createThreeWayStrategicPatchText,
  createTwoWayStrategicPatchText,
  sortMergeListsText,
  type PatchTextResult,
  type ThreeWayText,
} from "./text.ts";
export type { Err, Ok, Result } from "#base";
