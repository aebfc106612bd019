/** Export and import as specifications: tables, and a model that runs both with crashes and a person who aborts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  nextExportAbortStep,
  nextExportStep,
  type ExportAbortStep,
  type ExportAbortView,
  type ExportView,
  type FolderState,
} from "./export-steps.ts";
import { nextReceiveAbortStep, nextReceiveStep, type ReceiveStep, type ReceiveView } from "./receive-steps.ts";

const EXPORT: ExportView = {
  journal: { id: "a", phase: "intent" },
  folder: { id: "a", state: "writing" },
  sourcePaused: true,
  written: false,
  receipt: false,
  sourceHasObjects: true,
};
const shown = (decision: { readonly step: string } | { readonly refused: string }) =>
  "step" in decision ? decision.step : decision.refused;

describe("nextExportStep", () => {
  const committing = { id: "a", phase: "committing" } as const;
  const committed = { id: "a", phase: "committed" } as const;
  const inFirst = { journal: { id: "a", phase: "intent", directory: "1" }, folder: { id: "a", state: "writing", directory: "1" } } as const;
  const second = { id: "a", state: "writing", directory: "2" } as const;
  const rows: { name: string; given: Partial<ExportView>; want: string }[] = [
    { name: "nothing yet", given: { journal: undefined, folder: "none" }, want: "write-intent" },
    { name: "a directory with other files", given: { journal: undefined, folder: "foreign" }, want: "the directory is not empty" },
    {
      name: "a directory of another export",
      given: { journal: undefined, folder: { id: "b", state: "complete" } },
      want: "the directory is not empty",
    },
    { name: "a receipt without an export", given: { journal: undefined, receipt: true }, want: "there is no export of this namespace" },
    { name: "begun", given: { folder: "none" }, want: "open-folder" },
    { name: "begun, and another directory", given: { folder: { id: "b", state: "writing" } }, want: "the directory is not empty" },
    { name: "opened", given: { folder: { id: "a", state: "writing", directory: "1" }, sourcePaused: false }, want: "record-folder" },
    { name: "recorded", given: { ...inFirst, sourcePaused: false }, want: "pause" },
    {
      name: "recorded, and another directory that is empty",
      given: { ...inFirst, folder: "none" },
      want: "the export was begun in another directory, whose manifest has the id 1",
    },
    {
      name: "recorded, and another directory that was begun as well",
      given: { ...inFirst, folder: second },
      want: "the export was begun in another directory",
    },
    {
      name: "announced, and another directory that was begun as well",
      given: { journal: { ...inFirst.journal, phase: "committing" }, folder: second, written: true },
      want: "the export was begun in another directory",
    },
    { name: "opened by an earlier version", given: { sourcePaused: false }, want: "pause" },
    { name: "paused", given: {}, want: "write-files" },
    { name: "written", given: { written: true }, want: "announce-commit" },
    { name: "announced, killed before the manifest", given: { journal: committing }, want: "write-files" },
    { name: "announced and written", given: { journal: committing, written: true }, want: "complete-folder" },
    { name: "complete", given: { journal: committing, folder: { id: "a", state: "complete" } }, want: "done" },
    {
      name: "complete, and unpaused by a person",
      given: { journal: committing, folder: { id: "a", state: "complete" }, sourcePaused: false },
      want: "pause",
    },
    { name: "complete elsewhere", given: { journal: committing, folder: "none" }, want: "was written to another directory" },
    { name: "revoked", given: { folder: { id: "a", state: "revoked" } }, want: "is being aborted" },
    { name: "a receipt too early", given: { receipt: true }, want: "the export is not complete" },
    { name: "the receipt", given: { journal: committing, receipt: true }, want: "accept-receipt" },
    { name: "the receipt of an unpaused source", given: { journal: committing, receipt: true, sourcePaused: false }, want: "pause" },
    { name: "accepted", given: { journal: committed }, want: "delete-source" },
    { name: "accepted, and unpaused by a person", given: { journal: committed, sourcePaused: false }, want: "pause" },
    { name: "deleted", given: { journal: committed, sourceHasObjects: false }, want: "finish" },
  ];
  it.each(rows)("$name", ({ given, want }) => expect(shown(nextExportStep({ ...EXPORT, ...given }))).toContain(want));
});

describe("nextExportAbortStep", () => {
  const base: ExportAbortView = {
    journal: { id: "a", phase: "intent" },
    folder: { id: "a", state: "writing" },
    notImported: false,
    sourceResumed: false,
  };
  const rows: { name: string; given: Partial<ExportAbortView>; want: string }[] = [
    { name: "nothing to undo", given: { journal: undefined }, want: "done" },
    { name: "not complete", given: {}, want: "revoke-folder" },
    { name: "complete: in doubt", given: { journal: { id: "a", phase: "committing" } }, want: "is in doubt; the source stays paused" },
    {
      name: "complete, and a person knows",
      given: { journal: { id: "a", phase: "committing" }, notImported: true },
      want: "revoke-folder",
    },
    { name: "revoked", given: { folder: { id: "a", state: "revoked" } }, want: "resume-source" },
    {
      name: "complete, and another directory that was begun as well",
      given: {
        journal: { id: "a", phase: "committing", directory: "1" },
        folder: { id: "a", state: "writing", directory: "2" },
        notImported: true,
      },
      want: "this is not the directory of the export, whose manifest has the id 1",
    },
    { name: "the directory is lost", given: { folder: "none" }, want: "resume-source" },
    { name: "resumed", given: { folder: "none", sourceResumed: true }, want: "forget" },
    { name: "accepted", given: { journal: { id: "a", phase: "committed" }, notImported: true }, want: "another cluster owns the clusters" },
  ];
  it.each(rows)("$name", ({ given, want }) => expect(shown(nextExportAbortStep({ ...base, ...given }))).toContain(want));
});

describe("nextReceiveStep", () => {
  const base: ReceiveView = { id: "a", record: "none", claim: "none", verified: false, fenced: true, targetResumed: false };
  const ours = (state: "receiving" | "committed" | "revoked", finished = false) => ({ record: { id: "a", state, finished } });
  const rows: { name: string; given: Partial<ReceiveView>; want: string }[] = [
    { name: "nothing yet", given: {}, want: "claim" },
    { name: "claimed", given: { claim: "ours" }, want: "register" },
    { name: "claimed by another cluster", given: { claim: "other" }, want: "another cluster has taken these files" },
    { name: "registered", given: { claim: "ours", ...ours("receiving") }, want: "transfer" },
    { name: "compared", given: { claim: "ours", ...ours("receiving"), verified: true }, want: "commit" },
    { name: "committed", given: { claim: "ours", ...ours("committed") }, want: "resume-target" },
    { name: "resumed", given: { claim: "ours", ...ours("committed"), targetResumed: true }, want: "finish" },
    {
      name: "finished, and the claim not ended",
      given: { claim: "ours", ...ours("committed", true), targetResumed: true },
      want: "finish",
    },
    { name: "ended", given: { claim: "ended", ...ours("committed", true), targetResumed: true }, want: "done" },
    { name: "moved on since", given: { claim: "ended" }, want: "does not own the clusters any more" },
    { name: "an earlier owner of other clusters", given: { record: { id: "b", state: "committed", finished: true } }, want: "claim" },
    {
      name: "another move arrives",
      given: { record: { id: "b", state: "receiving", finished: false } },
      want: "is receiving another move (b)",
    },
    { name: "revoked", given: { claim: "ours", ...ours("revoked") }, want: "is being aborted" },
    { name: "the export was aborted", given: { claim: "revoked" }, want: "the export was aborted, so its source owns the clusters" },
    {
      name: "the export was aborted, and this cluster was to own the clusters before",
      given: { claim: "revoked", record: { id: "b", state: "committed", finished: true } },
      want: "the export was aborted, so its source owns the clusters",
    },
    {
      name: "the export is being aborted, after this cluster has registered",
      given: { claim: "revoked", ...ours("receiving") },
      want: "run the import with --abort to undo it",
    },
    { name: "the export is being aborted, and it is committed", given: { claim: "revoked", ...ours("committed") }, want: "resume-target" },
    {
      name: "the export is being aborted, and only the claim has not ended",
      given: { claim: "revoked", ...ours("committed", true), targetResumed: true },
      want: "finish",
    },
  ];
  it.each(rows)("$name", ({ given, want }) => expect(shown(nextReceiveStep({ ...base, ...given }))).toContain(want));

  it.each([
    { name: "nothing", record: "none" as const, copies: false, want: "done" },
    { name: "another move", record: { id: "b", state: "receiving" as const, finished: false }, copies: true, want: "done" },
    { name: "receiving", ...ours("receiving"), copies: true, want: "revoke" },
    { name: "revoked", ...ours("revoked"), copies: true, want: "delete-copies" },
    { name: "deleted", ...ours("revoked"), copies: false, want: "forget" },
    { name: "committed", ...ours("committed"), copies: true, want: "owns the clusters already" },
  ])("abort: $name", ({ record, copies, want }) =>
    expect(shown(nextReceiveAbortStep({ id: "a", record, targetHasCopies: copies }))).toContain(want),
  );
});

type ModelTarget = {
  state: "none" | "receiving" | "revoked" | "committed";
  resumed: boolean;
  /** The run has read the directory. */
  opened: boolean;
  /** What the run has decided, and has not performed yet. */
  next: ReceiveStep | undefined;
};

const newTarget = (): ModelTarget => ({ state: "none", resumed: false, opened: false, next: undefined });

/**
 * One source, one directory, two targets. Every action of an export performs one step of a run; imports and aborts of the export observe in one
 * action and perform in the next one, so that others come in between. A run can end after any of them.
 */
class Model {
  phase: "none" | "intent" | "committing" | "committed" = "none";
  folder: FolderState | "none" = "none";
  claim: 1 | 2 | undefined;
  ended = false;
  paused = false;
  objects = true;
  abortNext: ExportAbortStep | undefined;
  readonly targets = { 1: newTarget(), 2: newTarget() };

  owners(): number {
    return [this.objects && !this.paused, this.targets[1].resumed, this.targets[2].resumed].filter(Boolean).length;
  }

  exportStep(written: boolean, receipt: boolean): void {
    if (!this.objects) return;
    const decision = nextExportStep({
      journal: this.phase === "none" ? undefined : { id: "a", phase: this.phase },
      folder: this.folder === "none" ? "none" : { id: "a", state: this.folder },
      sourcePaused: this.paused,
      written,
      receipt,
      sourceHasObjects: this.objects,
    });
    if ("refused" in decision) return;
    if (decision.step === "write-intent") this.phase = "intent";
    if (decision.step === "open-folder") this.folder = "writing";
    if (decision.step === "pause") this.paused = true;
    if (decision.step === "announce-commit") this.phase = "committing";
    if (decision.step === "complete-folder") this.folder = "complete";
    if (decision.step === "accept-receipt") this.phase = "committed";
    if (decision.step === "delete-source") this.objects = false;
  }

  claimFor(at: 1 | 2): ReceiveView["claim"] {
    if (this.claim !== undefined && this.claim !== at) return "other";
    if (this.claim !== undefined && this.ended) return "ended";
    if (this.folder !== "complete") return "revoked";
    return this.claim === undefined ? "none" : "ours";
  }

  recordOf({ state }: ModelTarget): ReceiveView["record"] {
    return state === "none" ? "none" : { id: "a", state, finished: this.ended };
  }

  /** Only a complete directory can be read, or a revoked one that is claimed. */
  open(target: ModelTarget): void {
    target.opened ||= this.folder === "complete" || (this.folder === "revoked" && this.claim !== undefined);
  }

  receiveStep(at: 1 | 2, verified: boolean): void {
    const target = this.targets[at];
    if (!target.opened) return this.open(target);
    const step = target.next;
    target.next = undefined;
    if (step === undefined) {
      const view = {
        id: "a",
        record: this.recordOf(target),
        claim: this.claimFor(at),
        verified,
        fenced: true,
        targetResumed: target.resumed,
      };
      const decision = nextReceiveStep(view);
      target.next = "step" in decision ? decision.step : undefined;
    }
    // as the mover: a claim that another cluster has written meanwhile is not replaced
    if (step === "claim") this.claim ??= at;
    if (step === "register") target.state = "receiving";
    if (step === "commit") target.state = "committed";
    if (step === "resume-target") target.resumed = true;
    if (step === "finish") this.ended = true;
  }

  /** The Lease at the target ends a run of the import. */
  undoStep(at: 1 | 2): void {
    const target = this.targets[at];
    target.next = undefined;
    this.open(target);
    if (!target.opened) return;
    const decision = nextReceiveAbortStep({ id: "a", record: this.recordOf(target), targetHasCopies: false });
    if ("refused" in decision) return;
    if (decision.step === "revoke") target.state = "revoked";
    if (decision.step === "forget") target.state = "none";
    if (decision.step === "done" && ["ours", "revoked"].includes(this.claimFor(at))) this.claim = undefined;
  }

  abortStep(notImported: boolean): void {
    const step = this.abortNext;
    this.abortNext = undefined;
    if (step === undefined) return this.decideAbort(notImported);
    if (step === "revoke-folder") this.folder = "revoked";
    if (step === "resume-source") this.paused = false;
    if (step === "forget") this.phase = "none";
  }

  decideAbort(notImported: boolean): void {
    // as the mover: a directory that a cluster has claimed is not aborted
    if (this.claim !== undefined) return;
    const decision = nextExportAbortStep({
      journal: this.phase === "none" ? undefined : { id: "a", phase: this.phase },
      folder: this.folder === "none" ? "none" : { id: "a", state: this.folder },
      notImported,
      sourceResumed: !this.paused,
    });
    this.abortNext = "step" in decision ? decision.step : undefined;
  }

  kill(): void {
    this.abortNext = undefined;
    for (const target of [this.targets[1], this.targets[2]]) Object.assign(target, { opened: false, next: undefined });
  }
}

describe("export and import together", () => {
  const kinds = ["export", "confirm", "import-1", "import-2", "undo-1", "undo-2", "kill", "abort"] as const;
  const action = fc.record({ kind: fc.constantFrom(...kinds), flag: fc.boolean(), times: fc.integer({ min: 1, max: 10 }) });

  function act(model: Model, { kind, flag }: { readonly kind: (typeof kinds)[number]; readonly flag: boolean }): void {
    // the Lease at the source ends a run of the abort
    if (kind === "export" || kind === "confirm" || kind === "kill") model.abortNext = undefined;
    if (kind === "kill") model.kill();
    if (kind === "export") model.exportStep(flag, false);
    // a receipt exists only once a target has committed and finished
    if (kind === "confirm" && model.ended) model.exportStep(flag, true);
    if (kind === "import-1" || kind === "import-2") model.receiveStep(kind === "import-1" ? 1 : 2, flag);
    if (kind === "undo-1" || kind === "undo-2") model.undoStep(kind === "undo-1" ? 1 : 2);
    if (kind === "abort") model.abortStep(flag && model.targets[1].state === "none" && model.targets[2].state === "none");
  }

  it("never have two owners, and never none without a complete directory", () => {
    const actions = fc.array(action, { maxLength: 30 });
    fc.assert(
      fc.property(fc.boolean(), actions, (isExported, rows) => {
        const model = new Model();
        for (let steps = 0; isExported && steps < 6; steps += 1) model.exportStep(true, false);
        for (const row of rows.flatMap((one) => Array.from({ length: one.times }, () => one))) {
          act(model, row);
          expect(model.owners()).toBeLessThanOrEqual(1);
          if (!model.objects) expect([model.targets[1].state, model.targets[2].state]).toContain("committed");
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
