import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { compareQuantities, fieldAt, parseQuantity, type Json, type JsonObject, type KubeObject } from "#kube";
import { AT, ownedDeployment, patchOf, podPatch } from "../../test/builders/workload-patches.ts";
import { applyWorkloadPatch, pathText, revertWorkloadPatch } from "./index.ts";
import { applyAt, mainOf } from "./applied.test-support.ts";

const memory = (request: string, limit?: string) => ({
  requests: { memory: request },
  ...(limit === undefined ? {} : { limits: { memory: limit } }),
});

const resourcesOf = (deployment: KubeObject): Json | undefined => mainOf(deployment)?.["resources"];

describe("resources of a patch", () => {
  const limits = (memoryLimit: string) => ({ limits: { memory: memoryLimit } });
  const rows = [
    {
      name: "a limit above the request is patched",
      given: memory("256Mi"),
      patch: limits("512Mi"),
      want: memory("256Mi", "512Mi"),
      skipped: [],
    },
    {
      name: "a limit equal to the request is patched",
      given: memory("0.5Gi"),
      patch: limits("512Mi"),
      want: memory("0.5Gi", "512Mi"),
      skipped: [],
    },
    {
      name: "a limit below the owner's request is left out and reported",
      given: memory("1Gi", "2Gi"),
      patch: limits("512Mi"),
      want: memory("1Gi", "2Gi"),
      skipped: ["spec.template.spec.containers[main].resources.limits.memory"],
    },
    {
      name: "a request above the owner's limit is left out, other resources are not",
      given: memory("1Gi", "2Gi"),
      patch: { requests: { memory: "3Gi", cpu: "1" } },
      want: { requests: { memory: "1Gi", cpu: "1" }, limits: { memory: "2Gi" } },
      skipped: ["spec.template.spec.containers[main].resources.requests.memory"],
    },
    {
      name: "both together replace both",
      given: memory("1Gi", "2Gi"),
      patch: memory("256Mi", "512Mi"),
      want: memory("256Mi", "512Mi"),
      skipped: [],
    },
    {
      name: "a limit of devices must equal the request",
      given: { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } },
      patch: { limits: { "example.com/gpu": "2" } },
      want: { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "1" } },
      skipped: [`spec.template.spec.containers[main].resources.limits["example.com/gpu"]`],
    },
  ];

  test.each(rows)("$name", ({ given, patch, want, skipped }) => {
    const applied = applyAt(ownedDeployment({ resources: given }), patchOf({ resources: patch }));
    expect(resourcesOf(applied.deployment)).toEqual(want);
    expect(applied.skipped.map(({ path }) => pathText(path))).toEqual(skipped);
  });

  test("an owner that raises its request above the limit of the patch keeps its own limit", () => {
    const patch = patchOf({ resources: limits("512Mi") });
    const live = applyAt(ownedDeployment({ resources: memory("256Mi", "1Gi") }), patch).deployment;
    expect(resourcesOf(live)).toEqual(memory("256Mi", "512Mi"));
    const upgraded = { ...ownedDeployment({ resources: memory("1Gi", "2Gi") }), metadata: live.metadata };
    const next = expectOk(applyWorkloadPatch(upgraded, patch, { at: AT, previous: live }));
    expect(resourcesOf(next.deployment)).toEqual(memory("1Gi", "2Gi"));
    expect(fieldAt(revertWorkloadPatch(next.deployment).deployment, "spec")).toEqual(fieldAt(upgraded, "spec"));
  });

  test("never make a container invalid that is valid without them, whatever the owner and the service have", () => {
    const amount = fc.constantFrom("64Mi", "128Mi", "0.25Gi", "1Gi", "1G", "nonsense");
    const some = fc.record({ memory: amount, cpu: fc.constantFrom("1", "500m", "2") }, { requiredKeys: [] });
    const resources = fc.record({ requests: some, limits: some }, { requiredKeys: [] }).map((given): JsonObject => given as JsonObject);
    const isValid = (given: Json | undefined) =>
      ["memory", "cpu"].every((name) => {
        const [request, limit] = [fieldAt(given, "requests", name), fieldAt(given, "limits", name)].map((value) =>
          typeof value === "string" ? parseQuantity(value) : undefined,
        );
        return request?.ok !== true || limit?.ok !== true || compareQuantities(request.value, limit.value) <= 0;
      });
    fc.assert(
      fc.property(resources, resources, (own, ours) => {
        fc.pre(isValid(own));
        const owned = ownedDeployment({ resources: own });
        const patch = podPatch({ containers: [{ name: "main", resources: ours }] });
        const { deployment } = applyAt(owned, patch);
        expect(isValid(resourcesOf(deployment))).toBe(true);
        expect(JSON.stringify(revertWorkloadPatch(deployment).deployment)).toBe(JSON.stringify(owned));
      }),
      { numRuns: 300 },
    );
  });
});
