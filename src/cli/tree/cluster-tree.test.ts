import { describe, expect, test } from "vitest";
import { FakeClock } from "#base";
import type { LatticeCluster } from "#crds";
import { plainText } from "../styled-text.ts";
import { treeOf, type AskedCluster, type TreeNode } from "./cluster-tree.ts";
import { summaryOf, treeJson, treeTable } from "./tree-table.ts";

const at = new Date(new FakeClock().now()).toISOString();

type Given = { readonly phase?: string; readonly ready?: boolean; readonly agent?: string; readonly more?: object; readonly meta?: object };

function cluster(name: string, { phase = "Ready", ready = phase === "Ready", agent = "Connected", more = {}, meta = {} }: Given = {}) {
  const condition = (type: string, status: boolean, reason: string) => ({
    type,
    status: status ? "True" : "False",
    reason,
    message: `${type} is ${reason}`,
    lastTransitionTime: at,
  });
  const conditions = [
    condition("Ready", ready, ready ? "SelfManaged" : "NodesNotReady"),
    condition("AgentConnected", agent === "Connected", agent),
  ];
  const status = { phase, ownedBy: "self", readyNodes: 2, totalNodes: 2, conditions, ...more };
  return {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeCluster",
    metadata: { name, ...meta },
    spec: {},
    status,
  } as unknown as LatticeCluster;
}

const answering = (name: string, clusters: readonly LatticeCluster[], parent?: string): AskedCluster => ({
  name,
  parent,
  answers: true,
  clusters,
});

const root = (name: string) => cluster(name, { agent: "NoParent" });
const FLEET: readonly AskedCluster[] = [
  answering("mgmt", [root("mgmt"), cluster("east"), cluster("west")]),
  answering("east", [cluster("east"), cluster("edge")], "mgmt"),
  answering("west", [cluster("west")], "mgmt"),
  answering("edge", [cluster("edge")], "east"),
];

const shape = (nodes: readonly TreeNode[]): unknown =>
  nodes.map(({ name, children }) => (children.length === 0 ? name : [name, shape(children)]));

describe("the hierarchy", () => {
  const rows: readonly {
    readonly name: string;
    readonly given: readonly AskedCluster[];
    readonly root?: string;
    readonly want: unknown;
  }[] = [
    { name: "children are below the cell that has their LatticeCluster", given: FLEET, want: [["mgmt", [["east", ["edge"]], "west"]]] },
    { name: "a tree can begin at any cluster", given: FLEET, root: "east", want: [["east", ["edge"]]] },
    {
      name: "children of a cell that does not answer stay below it",
      given: [{ name: "mgmt", answers: false, why: "it is stopped" }, ...FLEET.slice(1)],
      want: [["mgmt", [["east", ["edge"]], "west"]]],
    },
    {
      name: "the children of a cell are known without asking them",
      given: [answering("prod", [root("prod"), cluster("a10"), cluster("a9")])],
      want: [["prod", ["a9", "a10"]]],
    },
    {
      name: "clusters without a parent are beside each other",
      given: [answering("mgmt", []), answering("cluster-2", [])],
      want: ["mgmt", "cluster-2"],
    },
    {
      name: "a cluster that has two parents for a while is shown once",
      given: [answering("a", [cluster("c")]), answering("b", [cluster("c")])],
      want: [["a", ["c"]], "b"],
    },
    {
      name: "clusters that are each other's parent are shown",
      given: [answering("a", [cluster("b")]), answering("b", [cluster("a")])],
      want: [["a", ["b"]]],
    },
    { name: "a parent that the fleet does not have is ignored", given: [answering("a", [], "gone")], want: ["a"] },
  ];
  test.each(rows)("$name", ({ given, root: top, want }) => {
    expect(shape(treeOf(given, { root: top }))).toEqual(want);
  });

  test("levels below the depth are counted", () => {
    const [mgmt] = treeOf(FLEET, { depth: 1 });
    expect(mgmt?.children.map(({ name, hidden, children }) => [name, hidden, children.length])).toEqual([
      ["east", 1, 0],
      ["west", 0, 0],
    ]);
    expect(treeOf(FLEET, { depth: 0 })).toMatchObject([{ name: "mgmt", hidden: 3, children: [] }]);
  });
});

describe("the state of a cluster", () => {
  const only = (observed: AskedCluster) => treeOf([observed], {})[0];
  const child = (given: Given) => treeOf([answering("cell", [cluster("c", given)])], { root: "cell" })[0]?.children[0];
  const rows: readonly { readonly name: string; readonly got: TreeNode | undefined; readonly want: Partial<TreeNode> }[] = [
    {
      name: "a root has no agent",
      got: only(answering("mgmt", [root("mgmt")])),
      want: { phase: "Ready", ready: true, ownedBy: "self", agent: "none", health: "healthy", answers: true },
    },
    { name: "a child that was not asked", got: child({}), want: { ready: true, agent: "connected", answers: undefined } },
    { name: "an agent that is gone", got: child({ agent: "Disconnected" }), want: { agent: "disconnected" } },
    {
      name: "phase Ready with a problem is not healthy",
      got: child({ ready: false, more: { message: "1 of 2 nodes are ready" } }),
      want: { phase: "Ready", ready: false, health: "1 of 2 nodes are ready" },
    },
    {
      name: "a pivot has its step and its counts",
      got: child({ phase: "Pivoting", more: { pivot: { step: "transfer", moved: 3, total: 26 } } }),
      want: { health: "copying 3 of 26 objects" },
    },
    {
      name: "a pivot that changes the owner has the number of objects",
      got: child({ phase: "Pivoting", more: { pivot: { step: "commit", moved: 26, total: 26 } } }),
      want: { health: "changing the owner of 26 objects" },
    },
    {
      name: "a pivot that has ended is not shown",
      got: child({ phase: "Provisioning", more: { message: "x", pivot: { step: "done", finishedAt: at } } }),
      want: { health: "x" },
    },
    {
      name: "a pivot without a plan has its step",
      got: child({ phase: "Pivoting", more: { message: "", pivot: { step: "plan" } } }),
      want: { health: "preparing the move" },
    },
    { name: "a cluster without a status", got: child({ more: { phase: undefined } }), want: { phase: "", ready: false } },
    {
      name: "a cluster that is being deleted",
      got: child({ phase: "Deleting", more: { message: "" }, meta: { deletionTimestamp: at } }),
      want: { health: "is being deleted" },
    },
    {
      name: "a cluster without a LatticeCluster",
      got: only(answering("x", [])),
      want: { phase: "", health: "has no LatticeCluster of its own" },
    },
    {
      name: "a cluster that does not answer",
      got: only({ name: "x", answers: false, why: "it is stopped" }),
      want: { ready: false, answers: false, health: "does not answer: it is stopped" },
    },
  ];
  test.each(rows)("$name", ({ got, want }) => expect(got).toMatchObject(want));

  test("a cluster that owns itself knows its nodes best, until its parent takes it back", () => {
    const own = answering("c", [cluster("c", { more: { totalNodes: 3, readyNodes: 3 } })]);
    const seen = (given: Given) => treeOf([answering("cell", [cluster("c", given)]), own], {})[0]?.children[0];
    expect(seen({ agent: "Disconnected" })).toMatchObject({ totalNodes: 3, agent: "disconnected" });
    expect(seen({ phase: "Unpivoting", meta: { deletionTimestamp: at } })).toMatchObject({ phase: "Unpivoting", totalNodes: 2 });
  });

  test("the owner is the child's own, also when the parent does not know it", () => {
    const atParent = cluster("c", { more: { ownedBy: "cell" } });
    expect(treeOf([answering("cell", [atParent]), answering("c", [cluster("c")])], {})[0]?.children[0]?.ownedBy).toBe("self");
  });
});

describe("the output", () => {
  test("fits 80 columns, with one line for each cluster", () => {
    const text = plainText(treeTable(treeOf(FLEET, {}), 80));
    expect(text).toBe(
      [
        "CLUSTER     PHASE  OWNER  AGENT      NODES  HEALTH",
        "mgmt        Ready  self   -          2/2    healthy",
        "├─ east     Ready  self   connected  2/2    healthy",
        "│  └─ edge  Ready  self   connected  2/2    healthy",
        "└─ west     Ready  self   connected  2/2    healthy",
        "",
      ].join("\n"),
    );
  });

  test("of a fleet that is partly down has the reason", () => {
    const stopped = FLEET.map((one): AskedCluster =>
      one.name === "west" ? { name: "west", parent: "mgmt", answers: false, why: "it is stopped" } : one,
    );
    const trees = treeOf(stopped, { depth: 1 });
    expect(plainText(treeTable(trees, undefined))).toContain(
      "└─ west         Unknown  self   connected  2/2    does not answer: it is stopped\n",
    );
    expect(plainText(treeTable(trees, undefined))).toContain("│  └─ … 1 more\n");
    expect(summaryOf(trees)).toEqual({ total: 4, healthy: 2 });
  });

  test("as JSON is nested", () => {
    expect(treeJson(treeOf(FLEET, { depth: 1 }))).toMatchObject({
      clusters: [
        {
          name: "mgmt",
          children: [
            { name: "east", hidden: 1, children: [] },
            { name: "west", children: [] },
          ],
        },
      ],
    });
  });
});
