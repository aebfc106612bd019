import { describe, expect, it } from "vitest";
import type { KubeObject } from "#kube";
import { recordObject, type TargetRecordData } from "./records.ts";
import { ownershipOf, type NamespaceOwnership, type OwnershipTraces } from "./owner.ts";

function record(state: TargetRecordData["state"]): KubeObject {
  return recordObject("capi-prod", {
    id: "a",
    state,
    epoch: 3,
    source: "s",
    startedAt: "",
    objects: 1,
    digest: "",
    finishedAt: "",
    attempt: 1,
  });
}

describe("ownershipOf", () => {
  const rows: { name: string; given: OwnershipTraces; want: NamespaceOwnership }[] = [
    { name: "no traces: never moved", given: { record: undefined, hasJournal: false }, want: { state: "never-moved" } },
    { name: "objects arrive", given: { record: record("receiving"), hasJournal: false }, want: { state: "moving" } },
    { name: "an aborted move", given: { record: record("revoked"), hasJournal: false }, want: { state: "moving" } },
    { name: "a committed move: the owner", given: { record: record("committed"), hasJournal: false }, want: { state: "owner", epoch: 3 } },
    { name: "the owner, from which a move has begun", given: { record: record("committed"), hasJournal: true }, want: { state: "moving" } },
    { name: "a first move from here has begun", given: { record: undefined, hasJournal: true }, want: { state: "moving" } },
    {
      name: "a record that something else has changed",
      given: { record: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-move-record" } }, hasJournal: false },
      want: { state: "moving" },
    },
  ];
  it.each(rows)("$name", ({ given, want }) => {
    expect(ownershipOf(given)).toEqual(want);
  });
});
