import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseLatticeCluster, type LatticeCluster } from "#crds";
import { isPlanComplete, LAPTOP_CHILDREN, LAPTOP_VERSION, localClusterObject, nameOfItem, nextItems } from "./laptop-plan.ts";

const ALL = ["mgmt", "east", "west", "edge", "shop"];

describe("what is created next", () => {
  const rows: readonly {
    readonly name: string;
    readonly created: readonly string[];
    readonly owners: readonly string[];
    readonly want: readonly string[];
  }[] = [
    { name: "nothing, before the management cluster owns itself", created: [], owners: [], want: [] },
    { name: "its children, when it does", created: [], owners: ["mgmt"], want: ["east", "west"] },
    { name: "the one that is missing, after a crash", created: ["east"], owners: ["mgmt"], want: ["west"] },
    {
      name: "a grandchild and the shop, each when its cluster owns itself",
      created: ["east", "west"],
      owners: ["mgmt", "east", "west"],
      want: ["edge", "shop"],
    },
    { name: "the shop does not wait for the grandchild", created: ["east", "west"], owners: ["mgmt", "west"], want: ["shop"] },
    { name: "nothing that a user has deleted", created: ALL, owners: ["mgmt"], want: [] },
  ];
  test.each(rows)("$name", ({ created, owners, want }) => {
    const items = nextItems({ created: new Set(created), ownsItself: (cluster) => owners.includes(cluster) });
    expect(items.map(nameOfItem)).toEqual(want);
  });
});

describe("the plan is complete", () => {
  const rows: readonly {
    readonly name: string;
    readonly created: readonly string[];
    readonly there: readonly string[];
    readonly want: boolean;
  }[] = [
    { name: "when everything was created", created: ALL, there: [], want: true },
    { name: "not before", created: ["mgmt", "east", "west", "edge"], there: ["mgmt", "east", "west", "edge"], want: false },
    {
      name: "without what belongs to a cluster that a user has deleted",
      created: ["mgmt", "east", "west", "edge"],
      there: ["mgmt", "east", "edge"],
      want: true,
    },
  ];
  test.each(rows)("$name", ({ created, there, want }) => {
    expect(isPlanComplete(new Set(created), (cluster) => there.includes(cluster))).toBe(want);
  });
});

test("the clusters are valid, and have the version of the example", () => {
  const endpoints = { host: "127.0.0.1", grpcPort: 1_025, bootstrapPort: 1_026, proxyPort: 1_027, service: { type: "ClusterIP" as const } };
  for (const { name, workers, isCell } of LAPTOP_CHILDREN) {
    const object = localClusterObject({ name, version: LAPTOP_VERSION, workers, endpoints: isCell ? endpoints : undefined });
    expect(parseLatticeCluster(object as unknown as LatticeCluster)).toMatchObject({ ok: true });
  }
  expect(readFileSync("examples/clusters/local.yaml", "utf8")).toContain(`version: "${LAPTOP_VERSION.slice(1)}"`);
});
