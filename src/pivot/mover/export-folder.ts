/** The directory of an export, as the mover uses it. The caller fills it: files are private, and no name leads out of it. */
import { err, ok, textOfBytes, type Result } from "#base";
import { CLAIM_FILE, isOwnFile, MANIFEST_FILE } from "../files/file-names.ts";
import { FILE_LIMITS } from "../files/limits.ts";
import { parseManifest, type FilesManifest } from "../files/manifest.ts";
import { parseClaim, type FolderClaim } from "../files/receipt.ts";
import type { SavedFile } from "../files/saved-objects.ts";
import type { ExportView } from "../ownership/export-steps.ts";
import { failedAt, refusal, type Moved } from "./failure.ts";

export type FileSize = { readonly name: string; readonly bytes: number };

export type ExportFolder = {
  /** Regular files. Anything else in the directory (links, folders) is an error. Undefined: there is no such directory. */
  readonly list: () => Result<readonly FileSize[] | undefined, string>;
  readonly read: (name: string, maxBytes: number) => Result<Uint8Array, string>;
  /** Replaces the file as a whole, or creates it; the directory is created if it is missing. */
  readonly write: (name: string, text: string) => Result<void, string>;
  /** Creates the file as a whole. False: there is one of this name already, which stays as it is. */
  readonly create: (name: string, text: string) => Result<boolean, string>;
  readonly remove: (name: string) => Result<void, string>;
};

export type OpenedFolder = {
  readonly manifest: FilesManifest | undefined;
  readonly claim: FolderClaim | undefined;
  readonly sizes: readonly FileSize[];
};

/** Its own files are read, the objects only counted: limits hold before any content is read. */
export function openFolder(folder: ExportFolder): Result<OpenedFolder, string> {
  const listed = folder.list();
  if (!listed.ok) return listed;
  const all = listed.value ?? [];
  if (all.length > FILE_LIMITS.files) return err(`the directory has ${all.length} files; at most ${FILE_LIMITS.files} are read`);
  const manifest = ownFile(folder, all, MANIFEST_FILE, parseManifest);
  if (!manifest.ok) return manifest;
  const claim = ownFile(folder, all, CLAIM_FILE, parseClaim);
  if (!claim.ok) return claim;
  return ok({
    manifest: manifest.value,
    claim: claim.value,
    sizes: all.filter(({ name }) => !isOwnFile(name)),
  });
}

function ownFile<T>(
  folder: ExportFolder,
  all: readonly FileSize[],
  name: string,
  parse: (text: string) => Result<T, string>,
): Result<T | undefined, string> {
  if (!all.some((file) => file.name === name)) return ok(undefined);
  const bytes = folder.read(name, FILE_LIMITS.manifestBytes);
  if (!bytes.ok) return err(`${name} ${bytes.error}`);
  const text = textOfBytes(bytes.value);
  const parsed = text.ok ? parse(text.value) : err("is no text");
  return parsed.ok ? parsed : err(`${name} ${parsed.error}`);
}

/** The objects' files. Sizes are checked before the first one is read. */
export function readFiles(folder: ExportFolder, sizes: readonly FileSize[]): Result<readonly SavedFile[], string> {
  const large = sizes.find(({ bytes }) => bytes > FILE_LIMITS.fileBytes);
  if (large !== undefined) return err(`${large.name} is larger than ${FILE_LIMITS.fileBytes / 1024 / 1024} MiB, the limit of one object`);
  if (sizes.reduce((sum, { bytes }) => sum + bytes, 0) > FILE_LIMITS.totalBytes)
    return err(`the files are larger than ${FILE_LIMITS.totalBytes / 1024 / 1024} MiB together`);
  const files: SavedFile[] = [];
  for (const { name } of sizes) {
    const bytes = folder.read(name, FILE_LIMITS.fileBytes);
    if (!bytes.ok) return err(`${name} ${bytes.error}`);
    files.push({ name, bytes: bytes.value });
  }
  return ok(files);
}

export function folderView({ manifest, sizes }: OpenedFolder): ExportView["folder"] {
  if (manifest !== undefined) {
    const { id, state, directory } = manifest;
    return { id, state, ...(directory === undefined ? {} : { directory }) };
  }
  return sizes.length === 0 ? "none" : "foreign";
}

/** A problem with the content is a refusal; an error of the file system means that the same call again continues. */
export async function inFolder<T>(result: Result<T, string>, kind: "content" | "write" = "content"): Moved<T> {
  if (result.ok) return result;
  return kind === "content" ? refusal(result.error) : failedAt(result.error);
}
