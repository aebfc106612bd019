/** Quota usage of pods, and their scopes. */
import { describe, expect, it } from "vitest";
import type { Json } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { describeAmounts } from "./amounts.ts";
import { podLimits, podRequests } from "./pod-resources.ts";
import { podQuota, usesResources } from "./pods.ts";

const NOW = Date.UTC(2026, 0, 1);

type Pod = KubeObject & { readonly spec: Json; readonly status: Json };

function pod(spec: Json, status: Json = {}, metadata: object = {}): Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p", ...metadata }, spec, status };
}

const container = (name: string, requests: Json, limits: Json = {}, more: object = {}): Json => ({
  name,
  resources: { requests, limits },
  ...more,
});

const usage = (given: KubeObject) => describeAmounts(podQuota.usage(given, NOW));

describe("usage of pods", () => {
  it.each([
    { name: "a pod without requests", given: pod({ containers: [{ name: "c" }] }), want: "count/pods=1,pods=1" },
    {
      name: "containers together",
      given: pod({ containers: [container("a", { cpu: "100m" }, { cpu: "1" }), container("b", { cpu: "200m", memory: "1Gi" })] }),
      want: "count/pods=1,cpu=300m,limits.cpu=1,memory=1Gi,pods=1,requests.cpu=300m,requests.memory=1Gi",
    },
    {
      name: "the largest init container, if it is more than all others",
      given: pod({
        containers: [container("a", { cpu: "1" })],
        initContainers: [container("i", { cpu: "3" }), container("j", { cpu: "2" })],
      }),
      want: "count/pods=1,cpu=3,pods=1,requests.cpu=3",
    },
    {
      name: "sidecars beside containers and beside later init containers",
      given: pod({
        containers: [container("a", { cpu: "1" })],
        initContainers: [container("side", { cpu: "1" }, {}, { restartPolicy: "Always" }), container("i", { cpu: "2" })],
      }),
      want: "count/pods=1,cpu=3,pods=1,requests.cpu=3",
    },
    {
      name: "requests of the pod instead of those of its containers",
      given: pod({ containers: [container("a", { cpu: "1" })], resources: { requests: { cpu: "5", "example.com/x": "1" } } }),
      want: "count/pods=1,cpu=5,pods=1,requests.cpu=5",
    },
    {
      name: "overhead, but not where the pod has no limit",
      given: pod({ containers: [container("a", { cpu: "1" }, { memory: "1Gi" })], overhead: { cpu: "100m", memory: "1Mi" } }),
      want: "count/pods=1,cpu=1100m,limits.memory=1025Mi,memory=1Mi,pods=1,requests.cpu=1100m,requests.memory=1Mi",
    },
    {
      name: "extended resources and huge pages",
      given: pod({ containers: [container("a", { "example.com/gpu": "2", "hugepages-2Mi": "4Mi", "kubernetes.io/batch": "1" })] }),
      want: "count/pods=1,hugepages-2Mi=4Mi,pods=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi",
    },
    {
      name: "the allocated resources, while a resize to less is pending",
      given: pod(
        { containers: [container("a", { cpu: "1" }, { cpu: "1" })] },
        {
          containerStatuses: [{ name: "a", resources: { requests: { cpu: "2" }, limits: { cpu: "2" } }, allocatedResources: { cpu: "3" } }],
        },
      ),
      want: "count/pods=1,cpu=3,limits.cpu=2,pods=1,requests.cpu=3",
    },
    {
      name: "the allocated resources, when a resize to more is infeasible",
      given: pod(
        { containers: [container("a", { cpu: "9" })] },
        {
          conditions: [{ type: "PodResizePending", reason: "Infeasible" }],
          containerStatuses: [{ name: "a", resources: { requests: { cpu: "2" } } }],
        },
      ),
      want: "count/pods=1,cpu=2,pods=1,requests.cpu=2",
    },
    {
      name: "only count/pods when the pod has ended",
      given: pod({ containers: [container("a", { cpu: "1" })] }, { phase: "Failed" }),
      want: "count/pods=1",
    },
  ])("is $name", ({ given, want }) => {
    expect(usage(given)).toBe(want);
  });

  it("is zero for a pod whose deletion is overdue", () => {
    const gone = pod({}, {}, { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 });
    expect(usesResources(gone, NOW + 30_000)).toBe(true);
    expect(usesResources(gone, NOW + 30_001)).toBe(false);
  });

  it("can exclude the status of the kubelet and the overhead", () => {
    const rules = { withStatus: false, withOverhead: false, isPodLevel: (name: string) => name === "cpu" };
    const given = pod(
      { containers: [container("a", { cpu: "1" }, { cpu: "2" })], overhead: { cpu: "1" }, resources: { limits: { memory: "1" } } },
      { containerStatuses: [{ name: "a", resources: { requests: { cpu: "9" } } }] },
    );
    expect(describeAmounts(podRequests(given, rules))).toBe("cpu=1");
    expect(describeAmounts(podLimits(given, rules))).toBe("cpu=2");
  });
});

describe("resource names that a quota on pods tracks", () => {
  it.each(["pods", "count/pods", "cpu", "limits.memory", "hugepages-1Gi", "requests.hugepages-1Gi", "requests.example.com/gpu"])(
    "%s",
    (name) => {
      expect(podQuota.tracks(name)).toBe(true);
    },
  );

  it("implicit extended resources of device classes", () => {
    expect(podQuota.tracks("requests.deviceclass.resource.kubernetes.io/gpu")).toBe(true);
    const given = pod({ containers: [container("a", { "deviceclass.resource.kubernetes.io/gpu": "1" })] });
    expect(usage(given)).toContain("requests.deviceclass.resource.kubernetes.io/gpu=1");
  });

  it.each(["services", "example.com/gpu", "requests.storage"])("not %s", (name) => {
    expect(podQuota.tracks(name)).toBe(false);
  });
});

describe("a quota on CPU and memory", () => {
  const two = pod({ containers: [container("b", { cpu: "1" }), container("a", {})], initContainers: [container("i", {})] });

  it("requires an amount in every container", () => {
    expect(podQuota.refusal(["requests.cpu", "pods", "limits.memory"], two)).toBe(
      "must specify limits.memory for: a,b,i; requests.cpu for: a,i",
    );
  });

  it("requires none in containers if the pod sets it", () => {
    const whole = pod({ containers: [container("a", {})], resources: { limits: { cpu: "1" } } });
    expect(podQuota.refusal(["requests.cpu"], whole)).toBeUndefined();
    expect(podQuota.refusal(["pods"], two)).toBeUndefined();
  });
});

describe("scopes of pods", () => {
  const plain = pod({ containers: [container("a", {})] });
  const term = (more: object): Json => ({ topologyKey: "k", ...more });
  it.each([
    { scope: "Terminating", given: pod({ activeDeadlineSeconds: 0 }), want: true },
    { scope: "Terminating", given: plain, want: false },
    { scope: "NotTerminating", given: plain, want: true },
    { scope: "BestEffort", given: plain, want: true },
    { scope: "BestEffort", given: pod({ containers: [container("a", { cpu: "1" })] }), want: false },
    { scope: "BestEffort", given: pod({ containers: [container("a", { cpu: "1" })], resources: {} }), want: true },
    { scope: "BestEffort", given: pod({}, { qosClass: "Guaranteed" }), want: false },
    { scope: "NotBestEffort", given: pod({}, { qosClass: "Burstable" }), want: true },
    {
      scope: "CrossNamespacePodAffinity",
      given: pod({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term({ namespaces: ["x"] })] } } }),
      want: true,
    },
    {
      scope: "CrossNamespacePodAffinity",
      given: pod({
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term({ namespaceSelector: {} }) }],
          },
        },
      }),
      want: true,
    },
    { scope: "CrossNamespacePodAffinity", given: plain, want: false },
    { scope: "Unheard", given: plain, want: false },
  ])("$scope: $want", ({ scope, given, want }) => {
    expect(podQuota.inScope({ name: scope, operator: "Exists", values: [] }, given)).toBe(want);
  });

  it.each([
    { operator: "Exists", values: [], high: true, none: false },
    { operator: "DoesNotExist", values: [], high: false, none: true },
    { operator: "In", values: ["high"], high: true, none: false },
    { operator: "NotIn", values: ["high"], high: false, none: true },
  ])("PriorityClass $operator", ({ operator, values, high, none }) => {
    const scope = { name: "PriorityClass", operator, values };
    expect(podQuota.inScope(scope, pod({ priorityClassName: "high" }))).toBe(high);
    expect(podQuota.inScope(scope, plain)).toBe(none);
  });
});
