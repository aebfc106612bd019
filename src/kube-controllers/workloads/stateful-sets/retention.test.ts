import { describe, expect, it } from "vitest";
import { pods, type PersistentVolumeClaim, type Pod, type StatefulSet } from "#kube";
import { parentAndOrdinal } from "./identity.ts";
import { hasForeignController, hasStaleOwner, ownersAreRight, withRightOwners } from "./retention.ts";

const set = (whenScaled: string, whenDeleted: string): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", uid: "set" },
  spec: {
    replicas: 1,
    selector: {},
    template: { spec: { containers: [] } },
    persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted },
  },
});
const pod = (ordinal: number): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `db-${ordinal}`, uid: `pod${ordinal}` },
  spec: { containers: [] },
});
const owner = (kind: "StatefulSet" | "Pod" | "Other", uid: string, name: string, controller = true) => ({
  apiVersion: kind === "StatefulSet" ? "apps/v1" : "v1",
  kind,
  name,
  uid,
  controller,
});
const claim = (...ownerReferences: ReturnType<typeof owner>[]): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", ownerReferences },
  spec: {},
});

describe("the owner of a claim", () => {
  it.each([
    { name: "none, when everything is kept", policy: ["Retain", "Retain"], ordinal: 5, want: undefined },
    { name: "the set, when it is deleted with the set", policy: ["Retain", "Delete"], ordinal: 0, want: "StatefulSet" },
    { name: "none, while its Pod is wanted", policy: ["Delete", "Retain"], ordinal: 0, want: undefined },
    { name: "its Pod, when that is scaled down", policy: ["Delete", "Retain"], ordinal: 5, want: "Pod" },
    { name: "the set, while its Pod is wanted", policy: ["Delete", "Delete"], ordinal: 0, want: "StatefulSet" },
    { name: "the Pod, when both are to be deleted and it is scaled down", policy: ["Delete", "Delete"], ordinal: 5, want: "Pod" },
  ] as const)("$name", ({ policy, ordinal, want }) => {
    const given = set(policy[0], policy[1]);
    const right = withRightOwners(claim(), given, pod(ordinal));
    expect(right.metadata.ownerReferences?.[0]?.kind).toBe(want);
    expect(ownersAreRight(right, given, pod(ordinal))).toBe(true);
    if (want !== undefined) expect(ownersAreRight(claim(), given, pod(ordinal))).toBe(false);
  });

  it("does not change a claim of another controller, and removes its own references from it", () => {
    const given = set("Delete", "Delete");
    const foreign = claim(owner("Other", "x", "x"), owner("StatefulSet", "set", "db"));
    expect(hasForeignController(foreign, given, pod(0))).toBe(true);
    expect(ownersAreRight(foreign, given, pod(0))).toBe(false);
    expect(withRightOwners(foreign, given, pod(0)).metadata.ownerReferences).toEqual([owner("Other", "x", "x")]);
    expect(ownersAreRight(claim(owner("Other", "x", "x")), given, pod(0))).toBe(true);
    expect(hasForeignController(foreign, set("Retain", "Retain"), pod(0))).toBe(false);
  });

  it("waits for the garbage collector when an owner of the same name is deleted", () => {
    const given = set("Delete", "Delete");
    expect(hasStaleOwner(claim(owner("Pod", "old", "db-0")), pod(0), pods)).toBe(true);
    expect(ownersAreRight(claim(owner("Pod", "old", "db-0")), given, pod(0))).toBe(true);
    expect(hasForeignController(claim(owner("StatefulSet", "old", "db")), given, pod(0))).toBe(true);
  });

  it("makes a plain owner the controller", () => {
    expect(ownersAreRight(claim(owner("StatefulSet", "set", "db", false)), set("Retain", "Delete"), pod(0))).toBe(false);
  });
});

it("parses ordinals from names", () => {
  expect([parentAndOrdinal("db-12"), parentAndOrdinal("a-b-0"), parentAndOrdinal("db"), parentAndOrdinal("db-x")]).toEqual([
    { parent: "db", ordinal: 12 },
    { parent: "a-b", ordinal: 0 },
    { parent: "", ordinal: -1 },
    { parent: "", ordinal: -1 },
  ]);
});
