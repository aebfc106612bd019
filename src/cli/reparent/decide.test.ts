import { describe, expect, test } from "vitest";
import {
  nextReparentStep,
  remainderOf,
  type ReparentChild,
  type ReparentSource,
  type ReparentTarget,
  type ReparentDecision,
  type ReparentView,
} from "./decide.ts";

const OLD = { cell: "mgmt", endpoint: "10.0.0.1:50051", tokenDigest: "old" };
const OFFER = { cell: "hq", endpoint: "10.0.0.2:50051", tokenDigest: "new" };

const child: ReparentChild = {
  name: "leaf",
  uid: "uid-leaf",
  ownership: "owner",
  own: { cellRef: "mgmt" },
  children: ["edge-1"],
  parent: OLD,
  certificate: { cell: "mgmt", serial: "01" },
};
const to: ReparentTarget = {
  name: "hq",
  uid: "uid-hq",
  own: { cellRef: undefined, endpoint: "10.0.0.2:50051" },
  entry: undefined,
  access: undefined,
  offer: undefined,
};
const view: ReparentView = { name: "leaf", child, to, from: "unknown" };
const entry = { adopted: "uid-leaf", connected: false };

const ofChild = (given: Partial<ReparentChild>): ReparentView => ({ ...view, child: { ...child, ...given } });
const ofParent = (given: Partial<ReparentTarget>): ReparentView => ({ ...view, to: { ...to, ...given } });

/** As its parent has made it. */
const MADE = { adopted: undefined, connected: false };
const ASKED = { ...MADE, replaces: "01" };
const RECORD = { serials: ["00", "01"], closed: true, revoked: false };
const ofOwnParent = (given: Partial<ReparentTarget>): ReparentView =>
  ofParent({ name: "mgmt", uid: "uid-mgmt", own: { cellRef: undefined, endpoint: OLD.endpoint }, entry: MADE, access: RECORD, ...given });

type Row = { readonly name: string; readonly given: ReparentView; readonly want: ReparentDecision };

const steps: readonly Row[] = [
  { name: "first its LatticeCluster is created at the new parent", given: view, want: { step: "adopt" } },
  { name: "then the offer is waited for", given: ofParent({ entry }), want: { step: "await-offer" } },
  { name: "an offer is written into the cluster", given: ofParent({ entry, offer: OFFER }), want: { step: "write-parent" } },
  {
    name: "an orphan gets its first configuration",
    given: { ...ofParent({ entry, offer: OFFER }), child: { ...child, parent: undefined, own: { cellRef: undefined } } },
    want: { step: "write-parent" },
  },
  {
    name: "a newer offer is written again",
    given: { ...ofParent({ entry, offer: { ...OFFER, tokenDigest: "newer" } }), child: { ...child, parent: OFFER } },
    want: { step: "write-parent" },
  },
  {
    name: "after the Secret spec.cellRef is set",
    given: { ...ofParent({ entry, offer: OFFER }), child: { ...child, parent: OFFER } },
    want: { step: "set-cell-ref" },
  },
  {
    name: "then the agent is waited for",
    given: { ...ofParent({ entry, offer: OFFER }), child: { ...child, parent: OFFER, own: { cellRef: "hq" } } },
    want: { step: "await-agent" },
  },
  {
    name: "an offer that the agent has used is gone, and is not waited for",
    given: { ...ofParent({ entry }), child: { ...child, parent: OFFER, own: { cellRef: "hq" } } },
    want: { step: "await-agent" },
  },
  {
    name: "a connected agent ends it",
    given: { ...ofParent({ entry: { ...entry, connected: true } }), child: { ...child, parent: OFFER, own: { cellRef: "hq" } } },
    want: { step: "done" },
  },
  { name: "a child that has lost its connection asks its parent for another offer", given: ofOwnParent({}), want: { step: "ask-again" } },
  {
    name: "a child that connects to a former address asks for another offer",
    given: ofOwnParent({ entry: { ...MADE, connected: true }, own: { cellRef: undefined, endpoint: "10.0.0.9:50051" } }),
    want: { step: "ask-again" },
  },
  {
    name: "a child that has asked once before asks with its present certificate",
    given: ofOwnParent({ entry: { ...MADE, replaces: "00" } }),
    want: { step: "ask-again" },
  },
  { name: "a child that has asked waits for the offer", given: ofOwnParent({ entry: ASKED }), want: { step: "await-offer" } },
  {
    name: "a child writes the offer of its parent",
    given: ofOwnParent({ entry: ASKED, access: { ...RECORD, closed: false }, offer: { ...OLD, tokenDigest: "new" } }),
    want: { step: "write-parent" },
  },
  {
    name: "a child with a new certificate waits for its agent, also while its last connection is not written as ended",
    given: ofOwnParent({ entry: { ...ASKED, connected: true }, access: { serials: ["02"], closed: false, revoked: false } }),
    want: { step: "await-agent" },
  },
  {
    name: "a child that is connected needs nothing",
    given: ofOwnParent({ entry: { ...MADE, connected: true } }),
    want: { step: "done" },
  },
  {
    name: "a child of a cell that is being deleted gets its connection back, which that deletion needs",
    given: ofOwnParent({ own: { cellRef: undefined, endpoint: OLD.endpoint, closing: "deleted" } }),
    want: { step: "ask-again" },
  },
  {
    name: "a former parent that has the cluster releases it, when the agent is connected",
    given: {
      ...ofParent({ entry: { ...entry, connected: true } }),
      child: { ...child, parent: OFFER, own: { cellRef: "hq" } },
      from: { name: "mgmt", has: true },
    },
    want: { step: "release" },
  },
  {
    name: "a former parent that has released it ends it",
    given: {
      ...ofParent({ entry: { ...entry, connected: true } }),
      child: { ...child, parent: OFFER, own: { cellRef: "hq" } },
      from: { name: "mgmt", has: false },
    },
    want: { step: "done" },
  },
];

const refusals: readonly { readonly name: string; readonly given: ReparentView; readonly want: string }[] = [
  { name: "another cluster behind --kubeconfig", given: ofChild({ name: "edge-1" }), want: "is edge-1, not leaf" },
  { name: "a cluster without an identity", given: ofChild({ name: undefined }), want: "is no Lattice cluster" },
  { name: "a cluster without its own LatticeCluster", given: ofChild({ own: undefined }), want: "has no LatticeCluster of its own" },
  { name: "a cluster that does not own itself", given: ofChild({ ownership: "never-moved" }), want: "does not own itself" },
  { name: "a cluster during its pivot", given: ofChild({ ownership: "moving" }), want: "are being moved" },
  { name: "the cluster itself as its parent", given: ofParent({ uid: "uid-leaf", name: "leaf" }), want: "leads to leaf itself" },
  { name: "a parent of the same name", given: ofParent({ name: "leaf" }), want: "has the name leaf too" },
  { name: "a parent without an identity", given: ofParent({ name: undefined }), want: "the cluster of --to is no Lattice cluster" },
  { name: "a parent without its own LatticeCluster", given: ofParent({ own: undefined }), want: "hq is no cell: set spec.endpoints.host" },
  {
    name: "a parent that is no cell",
    given: ofParent({ own: { cellRef: undefined, endpoint: undefined } }),
    want: "hq is no cell: set spec.endpoints.host",
  },
  { name: "a child as the parent", given: ofParent({ name: "edge-1" }), want: "edge-1 is a child of leaf" },
  {
    name: "a cluster whose parent is the child",
    given: ofParent({ own: { cellRef: "leaf", endpoint: "h:1" } }),
    want: "hq is a child of leaf",
  },
  {
    name: "a grandchild as the parent",
    given: ofParent({ own: { cellRef: "edge-1", endpoint: "h:1" } }),
    want: "hq is below leaf, as a child of edge-1",
  },
  {
    name: "a name that the parent has made itself",
    given: ofParent({ entry: { adopted: undefined, connected: false } }),
    want: "hq has a LatticeCluster leaf already",
  },
  {
    name: "a name that the parent has adopted from another cluster",
    given: ofParent({ entry: { adopted: "uid-other", connected: true } }),
    want: "hq has a LatticeCluster leaf already",
  },
  {
    name: "a cluster that this parent has released, and another one of its name there",
    given: ofOwnParent({ access: { ...RECORD, serials: ["07"] } }),
    want: "mgmt has a LatticeCluster leaf already",
  },
  {
    name: "a child whose access was revoked",
    given: ofOwnParent({ access: { ...RECORD, revoked: true } }),
    want: "mgmt has revoked the access of leaf",
  },
  {
    name: "a parent that is being deleted",
    given: ofParent({ own: { cellRef: undefined, endpoint: "h:1", closing: "deleted" } }),
    want: "hq adopts no clusters: its own LatticeCluster is being deleted",
  },
  {
    name: "a parent that is being deleted, after its LatticeCluster was made there",
    given: ofParent({ own: { cellRef: undefined, endpoint: "h:1", closing: "deleted" }, entry }),
    want: "hq adopts no clusters",
  },
  {
    name: "a parent whose objects are being taken back",
    given: ofParent({ own: { cellRef: undefined, endpoint: "h:1", closing: "leaving" } }),
    want: "hq adopts no clusters: its Cluster API objects are being moved away",
  },
  { name: "one cluster as both parents", given: { ...view, from: { name: "hq", has: true } }, want: "lead to the same cluster" },
  { name: "another former parent", given: { ...view, from: { name: "east", has: true } }, want: "and the parent is mgmt" },
];

describe("a change of the parent", () => {
  test.each(steps)("$name", ({ given, want }) => {
    expect(nextReparentStep(given)).toEqual(want);
  });

  test.each(refusals)("is refused for $name", ({ given, want }) => {
    expect(nextReparentStep(given)).toEqual({ refused: expect.stringContaining(want) as string });
  });

  const remainders: readonly { name: string; former: string | undefined; from: ReparentSource; want: string | undefined }[] = [
    { name: "nothing stays at a parent that released it", former: "mgmt", from: { name: "mgmt", has: false }, want: undefined },
    { name: "an orphan had no parent", former: undefined, from: "unknown", want: undefined },
    {
      name: "a parent that was not asked keeps its resource",
      former: "mgmt",
      from: "unknown",
      want: "LatticeCluster leaf stays at mgmt, without",
    },
    {
      name: "a parent that does not answer keeps its resource",
      former: "mgmt",
      from: "unreachable",
      want: "LatticeCluster leaf stays at mgmt (mgmt does not answer), without",
    },
  ];
  test.each(remainders)("$name", ({ former, from, want }) => {
    const text = remainderOf("leaf", former, from);
    if (want === undefined) expect(text).toBeUndefined();
    else expect(text).toContain(want);
  });
});
