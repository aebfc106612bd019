import { describe, expect, test } from "vitest";
import { childOwnership, hasRegistered, mayOwnItself, type ChildOwnership, type OwnershipSigns } from "./child-ownership.ts";
import type { PivotView } from "./ports.ts";

const NEVER: OwnershipSigns = { exists: false, traces: { state: "never-moved" }, registered: false, epoch: 0, pivot: undefined };
const view = (state: PivotView["state"], direction: PivotView["direction"] = "to-child"): PivotView => ({
  direction,
  state,
  startedAt: 0,
  progressAt: 0,
});

const rows: readonly { readonly name: string; readonly given: Partial<OwnershipSigns>; readonly want: ChildOwnership }[] = [
  { name: "a new cluster is the parent's", given: {}, want: "parent" },
  { name: "with its Cluster, too", given: { exists: true, registered: true }, want: "parent" },
  { name: "a Cluster that is absent, of a child that has registered, is in the child", given: { registered: true }, want: "child" },
  { name: "a journal, or a record that is not committed: a move", given: { exists: true, traces: { state: "moving" } }, want: "moving" },
  { name: "a move that is queued", given: { exists: true, pivot: view("queued") }, want: "moving" },
  { name: "a move that runs", given: { exists: true, pivot: view("running") }, want: "moving" },
  { name: "a move that was refused, and left no journal", given: { exists: true, pivot: view("waiting") }, want: "parent" },
  { name: "a move of this process that has ended, before the caches know", given: { pivot: view("done") }, want: "child" },
  { name: "the child reports that it owns itself", given: { epoch: 1 }, want: "child" },
  { name: "also while the parent still has a Cluster: in doubt it applies nothing", given: { exists: true, epoch: 1 }, want: "child" },
  { name: "objects that were taken back", given: { exists: true, traces: { state: "owner", epoch: 2 } }, want: "parent" },
  {
    name: "a report of the ownership before that arrives late",
    given: { exists: true, traces: { state: "owner", epoch: 2 }, epoch: 1, registered: true },
    want: "parent",
  },
  {
    name: "a Cluster that was taken back and deleted is not in the child",
    given: { traces: { state: "owner", epoch: 2 }, registered: true, pivot: view("done", "to-parent") },
    want: "parent",
  },
  { name: "an ownership after that", given: { traces: { state: "owner", epoch: 2 }, epoch: 3 }, want: "child" },
];

describe("childOwnership", () => {
  test.each(rows)("$name: $want", ({ given, want }) => {
    expect(childOwnership({ ...NEVER, ...given })).toBe(want);
  });
});

test("a child has registered once it has a certificate, also after its tokens were issued again", () => {
  const access = { spent: false, revoked: false, expiresAt: 0, certificates: [] };
  expect(
    [undefined, access, { ...access, spent: true }, { ...access, certificates: [{ serial: "1", notAfter: 1 }] }].map(hasRegistered),
  ).toEqual([false, false, true, true]);
});

const ACCESS = { spent: true, revoked: false, expiresAt: 0, certificates: [] };
const written = (ownedBy: string) => ({ ...CHILD, status: { ownedBy } });
const CHILD = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeCluster", metadata: { name: "prod" } };

describe("a child whose Cluster is absent may own itself", () => {
  test.each([
    { name: "once it has registered, also when its status was erased", cluster: CHILD, access: ACCESS, want: true },
    {
      name: "when it was adopted",
      cluster: { ...CHILD, metadata: { name: "prod", annotations: { "lattice.dev/adopted": "uid-1" } } },
      want: true,
    },
    { name: "when its status has it, also when its access record is lost or unreadable", cluster: written("self"), want: true },
    { name: "but not when its status has its parent", cluster: written("mgmt"), want: false },
    { name: "but not before anything is known of it", cluster: CHILD, want: false },
  ])("$name", ({ cluster, access, want }) => {
    expect(mayOwnItself(cluster, access)).toBe(want);
  });
});
