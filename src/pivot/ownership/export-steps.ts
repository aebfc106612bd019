/**
 * The specification of an export: a move whose target is a directory, which cannot answer. From what the source and the directory show, the next
 * step. Pure; the invariants are those of `decide.ts`.
 *
 * The directory counts as a second owner from the time at which it can be imported: `committing` is in the journal before its manifest is
 * complete. From then on the outcome is in doubt until the receipt of the import arrives, or a person states that there was no import.
 *
 * The journal names one directory, and no other is completed: two complete directories could be imported by two clusters.
 */
import type { JournalPhase } from "./decide.ts";

export type FolderState = "writing" | "complete" | "revoked";

export type ShownFolder = {
  readonly id: string;
  readonly state: FolderState;
  /** Its own id. Absent: an earlier version has written it. */
  readonly directory?: string;
};

export type ExportView = {
  readonly journal:
    | { readonly id: string; readonly phase: JournalPhase; /** The id of its directory. */ readonly directory?: string }
    | undefined;
  /** By its manifest. "none": it is empty; "foreign": it has files, and no manifest of an export. */
  readonly folder: ShownFolder | "none" | "foreign";
  /** Everything that is exported is paused, at the source. */
  readonly sourcePaused: boolean;
  /** This run has written the files, while the source was paused. */
  readonly written: boolean;
  /** The receipt of an import of this export was given. */
  readonly receipt: boolean;
  /** Objects are left to delete at the source. */
  readonly sourceHasObjects: boolean;
};

export type ExportStep =
  | "write-intent"
  | "open-folder"
  | "record-folder"
  | "pause"
  | "write-files"
  | "announce-commit"
  | "complete-folder"
  | "accept-receipt"
  | "delete-source"
  | "finish"
  | "done";

export type ExportDecision = { readonly step: ExportStep } | { readonly refused: string };

const refused = (why: string): ExportDecision => ({ refused: why });

export function nextExportStep(view: ExportView): ExportDecision {
  const { journal, folder } = view;
  if (journal === undefined) {
    if (view.receipt) return refused("there is no export of this namespace that waits for a receipt");
    return folder === "none" ? { step: "write-intent" } : refused(NOT_EMPTY);
  }
  if (journal.phase === "committed") return afterReceipt(view);
  if (view.receipt) {
    if (journal.phase === "intent")
      return refused("the export is not complete, so nothing can have been imported; run it to its end first");
    return view.sourcePaused ? { step: "accept-receipt" } : { step: "pause" };
  }
  if (typeof folder !== "object" || folder.id !== journal.id) return otherFolder(journal, folder);
  const { state: ours } = folder;
  if (isAnother(journal, folder)) return refused(begunElsewhere(journal.directory));
  if (ours === "revoked") return refused("this export is being aborted; run it with --abort until that has ended");
  if (journal.directory === undefined && folder.directory !== undefined) return { step: "record-folder" };
  if (!view.sourcePaused) return { step: "pause" };
  if (ours === "complete") return { step: "done" };
  if (!view.written) return { step: "write-files" };
  return { step: journal.phase === "intent" ? "announce-commit" : "complete-folder" };
}

const NOT_EMPTY = "the directory is not empty; name a new one, so that files of two exports are never mixed";

/** Without a manifest nothing can have been imported from a directory; once the commit is announced, one may exist elsewhere. */
function otherFolder({ phase, directory }: NonNullable<ExportView["journal"]>, folder: ExportView["folder"]): ExportDecision {
  if (phase === "committing")
    return refused(
      "an export of this namespace was written to another directory; name that one, or, if nothing was imported from it, undo it with --abort --not-imported",
    );
  if (folder !== "none") return refused(NOT_EMPTY);
  return directory === undefined ? { step: "open-folder" } : refused(begunElsewhere(directory));
}

/** Of the same export, and not the one that its journal names. */
function isAnother({ directory }: NonNullable<ExportView["journal"]>, folder: ShownFolder): boolean {
  return directory !== undefined && directory !== folder.directory;
}

function begunElsewhere(directory: string | undefined): string {
  return `the export was begun in another directory, whose manifest has the id ${directory ?? ""}; name that one, or undo the export with --abort and begin again`;
}

function afterReceipt(view: ExportView): ExportDecision {
  if (!view.sourcePaused) return { step: "pause" };
  return view.sourceHasObjects ? { step: "delete-source" } : { step: "finish" };
}

export type ExportAbortView = Pick<ExportView, "journal" | "folder"> & {
  /** A person states that nothing was imported from the directory, nor from a copy of it. */
  readonly notImported: boolean;
  /** What was not paused before the export is unpaused at the source. */
  readonly sourceResumed: boolean;
};

export type ExportAbortStep = "revoke-folder" | "resume-source" | "forget" | "done";
export type ExportAbortDecision = { readonly step: ExportAbortStep } | { readonly refused: string };

/** The way back. The directory is revoked first: an import that begins later is refused. */
export function nextExportAbortStep({ journal, folder, notImported, sourceResumed }: ExportAbortView): ExportAbortDecision {
  if (journal === undefined) return { step: "done" };
  if (journal.phase === "committed")
    return { refused: "the receipt of the import was accepted, so another cluster owns the clusters; run --confirm again to finish" };
  if (journal.phase === "committing" && !notImported)
    return {
      refused:
        "the directory is complete, so whether a cluster has imported it is in doubt; the source stays paused: if no cluster has imported it or a copy of it, add --not-imported",
    };
  if (typeof folder === "object" && folder.id === journal.id) {
    if (journal.phase === "committing" && isAnother(journal, folder))
      return {
        refused: `this is not the directory of the export, whose manifest has the id ${journal.directory ?? ""}; name that one, or none with --not-imported if it is lost`,
      };
    if (folder.state !== "revoked") return { step: "revoke-folder" };
  }
  return { step: sourceResumed ? "forget" : "resume-source" };
}
