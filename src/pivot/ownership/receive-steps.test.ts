import { expect, test } from "vitest";
import { nextReceiveStep, type ReceiveView } from "./receive-steps.ts";

const VIEW: ReceiveView = { id: "a", record: "none", claim: "none", verified: false, fenced: false, targetResumed: false };
const record = (state: "receiving" | "committed" | "revoked", finished = false) => ({ id: "a", state, finished });

const rows: readonly (readonly [string, Partial<ReceiveView>, string])[] = [
  ["nothing is known", {}, "claim"],
  ["it is claimed", { claim: "ours" }, "register"],
  ["this run has registered", { claim: "ours", record: record("receiving"), fenced: true }, "transfer"],
  ["an earlier run has registered: its commit may still arrive", { claim: "ours", record: record("receiving") }, "register"],
  ["an earlier run has registered, and this one has compared", { claim: "ours", record: record("receiving"), verified: true }, "register"],
  ["this run has compared", { claim: "ours", record: record("receiving"), fenced: true, verified: true }, "commit"],
  ["it is committed", { claim: "ours", record: record("committed") }, "resume-target"],
  ["the target is unpaused", { claim: "ours", record: record("committed"), targetResumed: true }, "finish"],
  ["the claim has ended", { claim: "ended", record: record("committed", true), targetResumed: true }, "done"],
  ["another cluster has the files", { claim: "other" }, "another cluster has taken these files; only one may own the clusters"],
  [
    "it is being aborted",
    { claim: "ours", record: record("revoked") },
    "this import is being aborted; run it with --abort until that has ended",
  ],
  [
    "another move arrives",
    { record: { ...record("receiving"), id: "b" } },
    "the target is receiving another move (b); finish or abort that one first",
  ],
];

test.each(rows)("%s", (_name, view, want) => {
  const decision = nextReceiveStep({ ...VIEW, ...view });
  expect("refused" in decision ? decision.refused : decision.step).toBe(want);
});
