/** Changes that need a recount. */
import { expect, it } from "vitest";
import type { Json, KubeObject } from "#kube";
import { claimFreesQuota, podFreesQuota, serviceFreesQuota } from "./frees-quota.ts";

type Thing = KubeObject & { readonly spec: Json; readonly status: Json };

const thing = (spec: Json, status: Json = {}): Thing => ({ apiVersion: "v1", kind: "Thing", metadata: { name: "x" }, spec, status });
const has = (cpu: string): Json => ({ containerStatuses: [{ name: "c", resources: { requests: { cpu } } }] });

it.each([
  { name: "nothing of interest", before: thing({}), after: thing({ nodeName: "n" }), want: false },
  { name: "it ended", before: thing({}), after: thing({}, { phase: "Failed" }), want: true },
  { name: "it got a deadline", before: thing({}), after: thing({ activeDeadlineSeconds: 1 }), want: true },
  { name: "the kubelet gave it less", before: thing({}, has("2")), after: thing({}, has("1")), want: true },
  { name: "its kubelet reported the same again", before: thing({}, has("2")), after: thing({}, has("2")), want: false },
])("a pod: $name", ({ before, after, want }) => {
  expect(podFreesQuota(before, after, 0)).toBe(want);
});

it("a Service of another type, and a claim with another volume", () => {
  expect(serviceFreesQuota(thing({ type: "NodePort" }), thing({ type: "ClusterIP" }))).toBe(true);
  expect(serviceFreesQuota(thing({ type: "ClusterIP" }), thing({ type: "ExternalName" }))).toBe(false);
  expect(claimFreesQuota(thing({}), thing({}, { allocatedResources: { storage: "1Gi" } }))).toBe(true);
});
