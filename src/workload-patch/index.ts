export { applyWorkloadPatch } from "./apply.ts";
export { isNestedDeeper } from "./bounded-json.ts";
export type { FieldOwner } from "./field-owner.ts";
export { jsonPatchBetween } from "./json-patch-between.ts";
export type {
  AppliedPatch,
  FieldConflict,
  FieldPreview,
  JsonPatchOperation,
  KeptField,
  PatchPreview,
  PatchProblem,
  PatchWrite,
  RevertedPatch,
  SkippedField,
} from "./outcomes.ts";
export {
  PATCHED_LABEL,
  RECORD_ANNOTATION,
  recordOf,
  REQUEST_ANNOTATION,
  type PatchBackoff,
  type PatchedField,
  type PatchRecord,
} from "./patch-record.ts";
export { PATCH_CHECK_MANAGER, patchRequest, withdrawnRequest } from "./patch-request.ts";
export { pathText, type PatchedPath, type PatchedStep } from "./patched-path.ts";
export { previewWorkloadPatch } from "./preview.ts";
export { revertWorkloadPatch } from "./revert.ts";
export { formatWorkloadPatch, parseWorkloadPatch, type WorkloadPatch } from "./workload-patch.ts";
export { WORKLOAD_PATCH_KEY, WORKLOAD_PATCH_LABEL, workloadPatchName, type WorkloadTarget } from "./stored-patch.ts";
