/** The way back of an export: the directory is revoked, and the source is unpaused. */
import { ok } from "#base";
import { MANIFEST_FILE } from "../files/file-names.ts";
import { manifestText, type FilesManifest } from "../files/manifest.ts";
import { nextExportAbortStep, type ExportAbortStep } from "../ownership/export-steps.ts";
import { folderView, inFolder, openFolder } from "./export-folder.ts";
import { FOLDER_TARGET, type ExportContext } from "./export.ts";
import { refusal, type Moved } from "./failure.ts";
import { deleteAllBatches, deleteHead, readHead, type StoredHead } from "./journal.ts";
import { areAllResumed, fencePauses, resumeAll } from "./pausing.ts";

export type ExportAbortContext = ExportContext & { /** A person states it. */ readonly notImported: boolean };

const MOST_STEPS = 20;

/** False: there was no export to abort. */
export async function abortExport(context: ExportAbortContext): Moved<boolean> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const head = await readHead(context);
    if (!head.ok) return head;
    if (head.value === undefined) return ok(steps > 0);
    if (head.value.target !== FOLDER_TARGET)
      return refusal("the unfinished move of this namespace goes to a cluster; abort it with lattice move --abort");
    const opened = await inFolder(openFolder(context.folder));
    if (!opened.ok) return opened;
    const resumed = await areAllResumed({ side: context.source, namespace: context.namespace, head: head.value });
    if (!resumed.ok) return resumed;
    const { claim } = opened.value;
    if (claim !== undefined && claim.id === head.value.id)
      return refusal("a cluster has begun to import this directory; abort that import first, with lattice pivot import --abort");
    const decision = nextExportAbortStep({
      journal: head.value,
      folder: folderView(opened.value),
      notImported: context.notImported,
      sourceResumed: resumed.value,
    });
    if ("refused" in decision) return refusal(decision.refused);
    if (decision.step === "done") return ok(true);
    context.report({ step: decision.step });
    const performed = await STEPS[decision.step](context, head.value, opened.value.manifest);
    if (!performed.ok) return performed;
  }
  return refusal("the abort does not advance; run the command again");
}

type Perform = (context: ExportAbortContext, head: StoredHead, manifest: FilesManifest | undefined) => Moved<void>;

const STEPS: Readonly<Record<Exclude<ExportAbortStep, "done">, Perform>> = {
  // its objects stay in it: an import that was claimed meanwhile needs them, to be undone, or finished if it was committed
  "revoke-folder": async ({ folder }, _head, manifest) =>
    manifest === undefined
      ? ok(undefined)
      : inFolder(folder.write(MANIFEST_FILE, manifestText({ ...manifest, state: "revoked" })), "write"),
  "resume-source": ({ source, namespace }, head) => resumeAll({ side: source, namespace, head }),
  forget: async (context, head) => {
    const fenced = await fencePauses({ side: context.source, namespace: context.namespace, head });
    // a pause that arrived late is undone first
    if (!fenced.ok || !fenced.value) return fenced.ok ? ok(undefined) : fenced;
    const deleted = await deleteAllBatches(context);
    return deleted.ok ? deleteHead(context, head) : deleted;
  },
};
