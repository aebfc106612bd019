export type { PatchedPath, PatchedStep } from "./patched-path.ts";
export type {
  AppliedPatch,
  FieldConflict,
  FieldPreview,
  JsonPatchOperation,
  KeptField,
  PatchProblem,
  PatchWrite,
  RevertedPatch,
} from "./outcomes.ts";
export { RECORD_ANNOTATION, REQUEST_ANNOTATION, type Backoff, type PatchedField, type PatchRecord } from "./patch-record.ts";
export type { WorkloadPatch } from "./workload-patch.ts";
