/** A directory as the source of a move: its files, verified, and the claim of the target on it. */
import { err, ok, sha256Hex, type Result } from "#base";
import { CLAIM_FILE } from "../files/file-names.ts";
import { digestOf, manifestDigest, type FilesManifest } from "../files/manifest.ts";
import { claimText } from "../files/receipt.ts";
import { savedObjects, type SavedObject } from "../files/saved-objects.ts";
import { pausableName } from "../files/saved-nodes.ts";
import { inFolder, openFolder, readFiles, type ExportFolder } from "./export-folder.ts";
import type { Moved } from "./failure.ts";
import { FILES_REVOKED } from "../ownership/receive-steps.ts";
import type { ClaimPort, SavedMove } from "./receive.ts";

export type FolderImport = { readonly saved: SavedMove; /** By clusterctl: there is no manifest. */ readonly foreign: boolean };

/** `now`: for the record, when the directory has no date. */
export function readExport(folder: ExportFolder, now: string): Result<FolderImport, readonly string[]> {
  const opened = openFolder(folder);
  if (!opened.ok) return err([opened.error]);
  const { manifest, claim, sizes } = opened.value;
  const problem = manifest === undefined ? undefined : stateProblem(manifest, claim?.id === manifest.id);
  if (problem !== undefined) return err([problem]);
  const files = readFiles(folder, sizes);
  if (!files.ok) return err([files.error]);
  if (files.value.length === 0) return err(["the directory has no files of objects"]);
  const objects = savedObjects(files.value, manifest);
  if (!objects.ok) return objects;
  return manifest === undefined ? foreignImport(objects.value, now) : ok({ saved: savedMove(manifest, objects.value), foreign: false });
}

/** `isClaimed`: an import has begun. It is undone, or finished if it was committed, also when the files were revoked since. */
function stateProblem({ state, purpose }: FilesManifest, isClaimed: boolean): string | undefined {
  if (purpose !== "export") return "the directory is no export";
  if (state === "writing") return "the export is not complete; run lattice pivot export to its end first";
  return state === "revoked" && !isClaimed ? FILES_REVOKED : undefined;
}

export function savedMove(manifest: FilesManifest, objects: readonly SavedObject[]): SavedMove {
  const { id, namespace, source, epoch, createdAt, providers, pausables } = manifest;
  const paused = pausables.filter(({ wasPaused }) => wasPaused).map(({ kind, name }) => pausableName({ kind: kind.kind, name }));
  const digest = manifestDigest(manifest);
  return { id, namespace, source, epoch, createdAt, providers, digest, objects, besideKinds: [], wasPaused: new Set(paused) };
}

/** The id is a digest of the objects: a second run of the same import continues the first one. */
function foreignImport(objects: readonly SavedObject[], now: string): Result<FolderImport, readonly string[]> {
  const clusters = objects.filter(({ object }) => object.kind === "Cluster");
  const namespaces = new Set(clusters.flatMap(({ object }) => object.metadata.namespace ?? []));
  const [namespace] = namespaces;
  if (namespace === undefined) return err(["the directory has no Cluster"]);
  if (namespaces.size > 1)
    return err([`the directory has Clusters of several namespaces (${[...namespaces].join(", ")}); import one at a time`]);
  const hashes = objects.map(({ object }) => sha256Hex(JSON.stringify(object))).toSorted();
  const saved: SavedMove = {
    id: digestOf(hashes).slice(0, 16),
    namespace,
    source: "clusterctl",
    epoch: 1,
    createdAt: now,
    providers: undefined,
    digest: digestOf(hashes),
    objects,
    besideKinds: [],
    // clusterctl pauses what it writes, and unpauses all of it
    wasPaused: undefined,
  };
  return ok({ saved, foreign: true });
}

/** Reads the manifest, too: what was read of the files before may have been revoked since. */
export function folderClaim(folder: ExportFolder, id: string): ClaimPort {
  return {
    read: async (target) => {
      const opened = await inFolder(openFolder(folder));
      if (!opened.ok) return opened;
      const { claim, manifest } = opened.value;
      if (claim !== undefined && (claim.target !== target || claim.id !== id)) return ok("other");
      if (claim?.ended === true) return ok("ended");
      if (manifest !== undefined && (manifest.id !== id || manifest.state !== "complete")) return ok("revoked");
      return ok(claim === undefined ? "none" : "ours");
    },
    write: async (target, ended) => {
      const text = claimText({ id, target, ended });
      if (ended) return inFolder(folder.write(CLAIM_FILE, text), "write");
      // one that another cluster has created meanwhile stays, and is found by the next observation
      const created = await inFolder(folder.create(CLAIM_FILE, text), "write");
      return created.ok ? ok(undefined) : created;
    },
  };
}

/** Another cluster may take the directory. */
export function releaseFolder(folder: ExportFolder): Moved<void> {
  return inFolder(folder.remove(CLAIM_FILE), "write");
}
