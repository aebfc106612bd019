/** What pods cost, and to which scopes they belong. */
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
    { name: "one that asks for nothing", given: pod({ containers: [{ name: "c" }] }), want: "count/pods=1,pods=1" },
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
      name: "what the pod asks for as a whole instead of its containers",
      given: pod({ containers: [container("a", { cpu: "1" })], resources: { requests: { cpu: "5", "example.com/x": "1" } } }),
      want: "count/pods=1,cpu=5,pods=1,requests.cpu=5",
    },
    {
      name: "overhead, but not where there is no limit",
      given: pod({ containers: [container("a", { cpu: "1" }, { memory: "1Gi" })], overhead: { cpu: "100m", memory: "1Mi" } }),
      want: "count/pods=1,cpu=1100m,limits.memory=1025Mi,memory=1Mi,pods=1,requests.cpu=1100m,requests.memory=1Mi",
    },
    {
      name: "extended resources and huge pages",
      given: pod({ containers: [container("a", { "example.com/gpu": "2", "hugepages-2Mi": "4Mi", "kubernetes.io/batch": "1" })] }),
      want: "count/pods=1,hugepages-2Mi=4Mi,pods=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi",
    },
    {
      name: "what a container has, while it waits for less",
      given: pod(
        { containers: [container("a", { cpu: "1" }, { cpu: "1" })] },
        {
          containerStatuses: [{ name: "a", resources: { requests: { cpu: "2" }, limits: { cpu: "2" } }, allocatedResources: { cpu: "3" } }],
        },
      ),
      want: "count/pods=1,cpu=3,limits.cpu=2,pods=1,requests.cpu=3",
    },
    {
      name: "what it has, when it cannot have more",
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
      name: "only itself when it has ended",
      given: pod({ containers: [container("a", { cpu: "1" })] }, { phase: "Failed" }),
      want: "count/pods=1",
    },
  ])("is $name", ({ given, want }) => {
    expect(usage(given)).toBe(want);
  });

  it("ends when a pod should be gone and is not", () => {
    const gone = pod({}, {}, { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 });
    expect(usesResources(gone, NOW + 30_000)).toBe(true);
    expect(usesResources(gone, NOW + 30_001)).toBe(false);
  });

  it("can leave out what the kubelet says and what the sandbox costs", () => {
    const rules = { withStatus: false, withOverhead: false, isPodLevel: (name: string) => name === "cpu" };
    const given = pod(
      { containers: [container("a", { cpu: "1" }, { cpu: "2" })], overhead: { cpu: "1" }, resources: { limits: { memory: "1" } } },
      { containerStatuses: [{ name: "a", resources: { requests: { cpu: "9" } } }] },
    );
    expect(describeAmounts(podRequests(given, rules))).toBe("cpu=1");
    expect(describeAmounts(podLimits(given, rules))).toBe("cpu=2");
  });
});

describe("what a quota on pods tracks", () => {
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

describe("a quota on processors and memory", () => {
  const two = pod({ containers: [container("b", { cpu: "1" }), container("a", {})], initContainers: [container("i", {})] });

  it("makes every container name an amount", () => {
    expect(podQuota.refusal(["requests.cpu", "pods", "limits.memory"], two)).toBe(
      "must specify limits.memory for: a,b,i; requests.cpu for: a,i",
    );
  });

  it("unless the pod names one as a whole", () => {
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
