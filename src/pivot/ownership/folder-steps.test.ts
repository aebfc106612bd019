/** Export and import as specifications: tables, and a model that runs both with crashes and a person who aborts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextExportAbortStep, nextExportStep, type ExportAbortView, type ExportView, type FolderState } from "./export-steps.ts";
import { nextReceiveAbortStep, nextReceiveStep, type ReceiveView } from "./receive-steps.ts";

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
    { name: "opened", given: { sourcePaused: false }, want: "pause" },
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

/** One source, one directory, two targets. Every action performs one step of a run; a run can end after any of them. */
class Model {
  phase: "none" | "intent" | "committing" | "committed" = "none";
  folder: FolderState | "none" = "none";
  claim: 1 | 2 | undefined;
  ended = false;
  paused = false;
  objects = true;
  readonly targets = {
    1: { state: "none" as "none" | "receiving" | "committed", resumed: false },
    2: { state: "none" as "none" | "receiving" | "committed", resumed: false },
  };

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

  receiveStep(at: 1 | 2, verified: boolean): void {
    const target = this.targets[at];
    // only a complete directory can be read
    if (this.folder !== "complete") return;
    const claim = this.claim === undefined ? "none" : this.claim !== at ? "other" : this.ended ? "ended" : "ours";
    const record = target.state === "none" ? ("none" as const) : { id: "a", state: target.state, finished: this.ended };
    const decision = nextReceiveStep({ id: "a", record, claim, verified, fenced: true, targetResumed: target.resumed });
    if ("refused" in decision) return;
    if (decision.step === "claim") this.claim = at;
    if (decision.step === "register") target.state = "receiving";
    if (decision.step === "commit") target.state = "committed";
    if (decision.step === "resume-target") target.resumed = true;
    if (decision.step === "finish") this.ended = true;
  }

  abortStep(notImported: boolean): void {
    // as the mover: a directory that a cluster has claimed is not aborted
    if (this.claim !== undefined) return;
    const decision = nextExportAbortStep({
      journal: this.phase === "none" ? undefined : { id: "a", phase: this.phase },
      folder: this.folder === "none" ? "none" : { id: "a", state: this.folder },
      notImported,
      sourceResumed: !this.paused,
    });
    if ("refused" in decision) return;
    if (decision.step === "revoke-folder") this.folder = "revoked";
    if (decision.step === "resume-source") this.paused = false;
    if (decision.step === "forget") this.phase = "none";
  }
}

describe("export and import together", () => {
  const action = fc.oneof(
    fc.record({ kind: fc.constant("export" as const), flag: fc.boolean() }),
    fc.record({ kind: fc.constant("confirm" as const), flag: fc.boolean() }),
    fc.record({ kind: fc.constant("import-1" as const), flag: fc.boolean() }),
    fc.record({ kind: fc.constant("import-2" as const), flag: fc.boolean() }),
    fc.record({ kind: fc.constant("abort" as const), flag: fc.boolean() }),
  );

  it("never have two owners, and never none without a complete directory", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const model = new Model();
        for (const { kind, flag } of actions) {
          if (kind === "export") model.exportStep(flag, false);
          // a receipt exists only once a target has committed and finished
          if (kind === "confirm" && model.ended) model.exportStep(flag, true);
          if (kind === "import-1") model.receiveStep(1, flag);
          if (kind === "import-2") model.receiveStep(2, flag);
          if (kind === "abort") model.abortStep(flag && model.targets[1].state === "none" && model.targets[2].state === "none");
          expect(model.owners()).toBeLessThanOrEqual(1);
          if (!model.objects) expect([model.targets[1].state, model.targets[2].state]).toContain("committed");
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
