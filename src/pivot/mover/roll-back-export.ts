/**
 * An export that is refused before its directory is complete is undone, also when an earlier run has begun it: nothing stays paused because of it, and an
 * object that is being deleted can be finished at the source.
 */
import { err } from "#base";
import { abortExport } from "./export-abort.ts";
import { openFolder } from "./export-folder.ts";
import type { FilesManifest } from "../files/manifest.ts";
import { FOLDER_TARGET, type ExportContext } from "./export.ts";
import type { Moved, MoveFailure } from "./failure.ts";
import { readHead, type StoredHead } from "./journal.ts";

/** Not another one in which the export was begun as well. */
function isDirectoryOf(
  manifest: FilesManifest | undefined,
  { id, directory }: { readonly id: string; readonly directory: string | undefined },
): boolean {
  return manifest?.id === id && (directory === undefined || manifest.directory === directory);
}

/** The failure, with what has become of the export. `before`: the journal when the run began. */
export async function rollBackExport(context: ExportContext, refused: MoveFailure, before: StoredHead | undefined): Moved<never> {
  const left = await readHead(context);
  if (!left.ok || left.value === undefined) return err(refused);
  const { id, phase, directory } = left.value;
  const folder = openFolder(context.folder);
  const manifest = folder.ok && isDirectoryOf(folder.value.manifest, { id, directory }) ? folder.value.manifest : undefined;
  const isOfThis = before?.id !== id || manifest !== undefined;
  // a receipt, another directory, and a move to a cluster say nothing about the export
  if (context.receipt !== undefined || left.value.target !== FOLDER_TARGET || !isOfThis) return err(refused);
  const withText = (text: string) => err({ ...refused, message: `${refused.message}; ${text}` });
  if (phase === "committing" && manifest?.state === "writing")
    return withText("the source stays paused: run the command again, or undo the export with --abort");
  if (phase !== "intent") return err(refused);
  const undone = await abortExport({ ...context, notImported: false });
  return withText(
    undone.ok ? "the export was rolled back" : `the export could not be rolled back (${undone.error.message}); run it with --abort`,
  );
}
