import { describe, expect, it } from "vitest";
import type { KubeObject } from "#kube";
import { recordObject, type TargetRecordData } from "./records.ts";
import { moveToResume, ownershipOf, type NamespaceOwnership, type OwnershipTraces } from "./owner.ts";

function record(state: TargetRecordData["state"], more: Partial<TargetRecordData> = {}): KubeObject {
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
    ...more,
  });
}

describe("ownershipOf", () => {
  const rows: { name: string; given: OwnershipTraces; want: NamespaceOwnership }[] = [
    { name: "no traces: never moved", given: { record: undefined, hasJournal: false }, want: { state: "never-moved" } },
    { name: "objects arrive", given: { record: record("receiving"), hasJournal: false }, want: { state: "moving" } },
    { name: "an aborted move", given: { record: record("revoked"), hasJournal: false }, want: { state: "moving" } },
    { name: "a committed move: the owner", given: { record: record("committed"), hasJournal: false }, want: { state: "owner", epoch: 3 } },
    {
      name: "the owner, by a move that has not ended",
      given: { record: record("committed", { stillPaused: ["Cluster/other"] }), hasJournal: false },
      want: { state: "owner", epoch: 3, unfinished: { id: "a", stillPaused: ["Cluster/other"] } },
    },
    {
      name: "the owner, by a move that has ended",
      given: { record: record("committed", { stillPaused: [], finishedAt: "2026-01-01T12:00:00Z" }), hasJournal: false },
      want: { state: "owner", epoch: 3 },
    },
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

describe("moveToResume", () => {
  const owner: NamespaceOwnership = { state: "owner", epoch: 3 };
  const unfinished = (...stillPaused: string[]): NamespaceOwnership => ({ ...owner, unfinished: { id: "a", stillPaused } });
  const cluster = (annotations: Record<string, string> = {}): KubeObject => ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: "prod", namespace: "capi-prod", annotations },
  });
  const rows: { name: string; given: NamespaceOwnership; of?: KubeObject | undefined; want: string | undefined }[] = [
    { name: "the move has not ended", given: unfinished(), of: cluster(), want: "a" },
    { name: "it has paused another one", given: unfinished("Cluster/other", "ClusterClass/prod"), of: cluster(), want: "a" },
    { name: "a person had paused the Cluster before", given: unfinished("Cluster/prod"), of: cluster(), want: undefined },
    {
      name: "it was unpaused after this move, so that a later pause is a person's",
      given: unfinished(),
      of: cluster({ "lattice.dev/resumed-after-move": "a" }),
      want: undefined,
    },
    {
      name: "it was unpaused after an earlier move",
      given: unfinished(),
      of: cluster({ "lattice.dev/resumed-after-move": "b" }),
      want: "a",
    },
    { name: "the Cluster is absent", given: unfinished(), want: undefined },
    { name: "the move has ended", given: owner, of: cluster(), want: undefined },
    { name: "objects are moving", given: { state: "moving" }, of: cluster(), want: undefined },
    { name: "nothing was moved", given: { state: "never-moved" }, of: cluster(), want: undefined },
  ];
  it.each(rows)("$name", ({ given, of, want }) => {
    expect(moveToResume(given, of)).toBe(want);
  });
});
