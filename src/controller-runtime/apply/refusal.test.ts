import { expect, test } from "vitest";
import type { KubeError } from "#kube-client";
import { changeSetOf, NO_CHANGES, outcomeOfChanges, type ApplyFailure } from "./change-set.ts";
import { describeForeign, failureOf } from "./refusal.ts";

const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" } };
const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
const cause = (manager: string, field: string) => ({
  reason: "FieldManagerConflict",
  message: `conflict with "${manager}" using apps/v1`,
  field,
});

type Row = { readonly name: string; readonly given: KubeError; readonly want: Partial<ApplyFailure> };
const rows: readonly Row[] = [
  {
    name: "a conflict names the other managers and the fields",
    given: {
      kind: "conflict",
      message: "Apply failed",
      status: { ...status, details: { causes: [cause("kubectl-edit", ".spec.a"), cause("hpa", ".spec.b"), cause("hpa", ".spec.c")] } },
    },
    want: { kind: "conflict", managers: ["hpa", "kubectl-edit"], message: expect.stringContaining(".spec.a, .spec.b, .spec.c") as string },
  },
  {
    name: "a conflict of versions has no manager",
    given: { kind: "conflict", message: "modified" },
    want: { kind: "conflict", message: "modified" },
  },
  { name: "a rejection", given: { kind: "invalid", message: "bad port" }, want: { kind: "rejected", message: "bad port" } },
  {
    name: "an overloaded server",
    given: { kind: "too-many-requests", message: "later", retryAfterMs: 500 },
    want: { kind: "unreachable", retryAfterMs: 500 },
  },
];

test.each(rows)("$name", ({ given, want }) => {
  expect(failureOf(object, given)).toMatchObject({ object: "ConfigMap shop/a", ...want });
});

test("a change set groups results by action", () => {
  const failure: ApplyFailure = { object: "ConfigMap b", kind: "rejected", message: "no", retryAfterMs: 700 };
  const changes = changeSetOf([
    { did: "created", object: "a" },
    { did: "failed", failure },
    { did: "skipped", object: "c" },
    { did: "pruned", object: "d" },
  ]);
  expect(changes).toEqual({ ...NO_CHANGES, created: ["a"], failed: [failure], skipped: ["c"], pruned: ["d"] });
});

test("the outcome lists the first failures, counts the others, and has the longest wait", () => {
  const one = (name: string, retryAfterMs: number): ApplyFailure => ({ object: name, kind: "rejected", message: "no", retryAfterMs });
  const outcome = outcomeOfChanges({ ...NO_CHANGES, failed: [one("A", 0), one("B", 900), one("C", 0), one("D", 0)] });
  expect(outcome).toEqual({
    kind: "failed",
    cause: { kind: "apply", message: "not applied: A: no; B: no; C: no; and 1 more", retryAfterMs: 900 },
  });
  expect(outcomeOfChanges(NO_CHANGES)).toEqual({ kind: "settled" });
});

const byHand = "it exists already and Lattice did not make it; delete it, or annotate it with lattice.dev/adopt=true to hand it over";
const system = "it belongs to Kubernetes itself and must stay; choose another name";
const controlled = { ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "u", controller: true }] };
const foreign = [
  { name: "the API server's own Service", kind: "Service", metadata: { name: "kubernetes", namespace: "default" }, want: system },
  {
    name: "a Service of that name in another namespace",
    kind: "Service",
    metadata: { name: "kubernetes", namespace: "shop" },
    want: byHand,
  },
  { name: "the default ServiceAccount", kind: "ServiceAccount", metadata: { name: "default", namespace: "shop" }, want: system },
  {
    name: "an object that a controller would create again",
    kind: "ConfigMap",
    metadata: { name: "a", ...controlled },
    want: "it exists already and Deployment web controls it; choose another name",
  },
  { name: "an object of a user", kind: "ConfigMap", metadata: { name: "a", namespace: "shop" }, want: byHand },
];
test.each(foreign)("advice about $name", ({ kind, metadata, want }) => {
  expect(describeForeign({ apiVersion: "v1", kind, metadata })).toBe(want);
});
