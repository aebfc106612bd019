/** Limits of files that are imported or restored, checked before their content is read: they may be hostile. */
const MIB = 1024 * 1024;

export const FILE_LIMITS = {
  /** Files in a directory or an archive. */
  files: 50_000,
  /** One object. An API server accepts 1.5 MiB, or 3 MiB as a request. */
  fileBytes: 4 * MIB,
  manifestBytes: 32 * MIB,
  totalBytes: 512 * MIB,
} as const;
