export type { MoveNode, WholeNode } from "./graph/object-graph.ts";
export type { KeptBecause } from "./graph/sharing.ts";
export type { ObjectOutline } from "./graph/outline.ts";
export { batchesOf } from "./plan/batches.ts";
export { isAtLeast as isProviderAtLeast } from "./plan/provider-version.ts";
export type { MoveProgress } from "./mover/context.ts";
export type { MoveFailure } from "./mover/failure.ts";
export type { MoveReport } from "./mover/move.ts";
export { abortNamespaceMove, moveNamespace, planNamespaceMove, type MoveOptions, type PlannedMove } from "./mover/move-namespace.ts";
export { HEAD_NAME as MOVE_JOURNAL, RECORD_NAME as MOVE_RECORD } from "./journal/records.ts";
export { moveToResume, ownershipOf, type NamespaceOwnership } from "./journal/owner.ts";
export type { ImportReceipt } from "./files/receipt.ts";
export { parseReceipt, receiptText } from "./files/receipt.ts";
export { FILE_LIMITS } from "./files/limits.ts";
export { isExportFile, isOwnFile, MANIFEST_FILE, RECEIPT_FILE } from "./files/file-names.ts";
export { manifestText, parseManifest, type FilesManifest, type ManifestServer } from "./files/manifest.ts";
export { savedObjects, type SavedFile } from "./files/saved-objects.ts";
export type { BesideKind } from "./files/saved-nodes.ts";
export type { ExportFolder } from "./mover/export-folder.ts";
export type { ExportReport } from "./mover/export.ts";
export {
  abortNamespaceExport,
  abortReceived,
  archiveClaim,
  exportNamespace,
  receiveSaved,
  type ReceiveOptions,
} from "./mover/export-namespace.ts";
export { folderClaim, readExport, releaseFolder, savedMove } from "./mover/import-folder.ts";
export { abortWithoutTarget, readMoveState, type MoveState } from "./mover/move-state.ts";
export { resumeOwned, type ResumeOptions } from "./mover/resume-owned.ts";
export { readNamespaceBackup, type BackupFiles } from "./mover/backup-namespace.ts";
export type { SavedMove } from "./mover/receive.ts";
export { archiveBytes, ArchiveReader } from "./files/archive-entries.ts";
