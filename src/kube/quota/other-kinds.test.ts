/** Quota usage of Services, claims and other kinds. */
import { describe, expect, it } from "vitest";
import type { Json } from "../json.ts";
import type { KubeObject } from "../object.ts";
import { describeAmounts, readAmounts } from "./amounts.ts";
import { deviceClaimQuota } from "./device-claims.ts";
import { countedKind, evaluatorOf } from "./evaluators.ts";
import { readQuota, usageOf } from "./resource-quota.ts";
import { quotaTypeOf, serviceQuota } from "./services.ts";
import { claimUsageMoved, volumeClaimQuota } from "./volume-claims.ts";

type Thing = KubeObject & { readonly spec: Json };

function object(spec: Json, more: object = {}): Thing {
  return { apiVersion: "v1", kind: "Thing", metadata: { name: "x" }, spec, ...more };
}

describe("Services", () => {
  const ports = [{ port: 1 }, { port: 2, nodePort: 30_000 }];
  it.each([
    { name: "plain", given: { type: "ClusterIP", ports }, nodePorts: 0, balancers: 0 },
    { name: "with node ports", given: { type: "NodePort", ports }, nodePorts: 2, balancers: 0 },
    { name: "behind a load balancer", given: { type: "LoadBalancer", ports }, nodePorts: 2, balancers: 1 },
    {
      name: "behind a load balancer without node ports",
      given: { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports },
      nodePorts: 1,
      balancers: 1,
    },
  ])("$name", ({ given, nodePorts, balancers }) => {
    const usage = describeAmounts(serviceQuota.usage(object(given), 0));
    expect(usage).toBe(`count/services=1,services=1,services.loadbalancers=${balancers},services.nodeports=${nodePorts}`);
  });

  it("have an extra quota type only if NodePort or LoadBalancer", () => {
    expect(["NodePort", "LoadBalancer", "ClusterIP"].map((type) => quotaTypeOf({ spec: { type } }))).toEqual([
      "NodePort",
      "LoadBalancer",
      "",
    ]);
  });
});

describe("claims", () => {
  const requests = (storage: string): Json => ({ resources: { requests: { storage } } });
  it.each([
    {
      name: "without a class",
      given: object(requests("1Gi")),
      want: "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=1Gi",
    },
    {
      name: "of a class",
      given: object({ ...(requests("1Gi") as object), storageClassName: "gold" }),
      want: "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/requests.storage=1Gi,persistentvolumeclaims=1,requests.storage=1Gi",
    },
    {
      name: "of a class in the old annotation",
      given: { ...object({}), metadata: { name: "x", annotations: { "volume.beta.kubernetes.io/storage-class": "old" } } },
      want: "count/persistentvolumeclaims=1,old.storageclass.storage.k8s.io/persistentvolumeclaims=1,persistentvolumeclaims=1",
    },
    {
      name: "rounded up to bytes",
      given: object(requests("1500m")),
      want: "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=2",
    },
    {
      name: "with the allocated storage, if it is larger",
      given: object(requests("1Gi"), { status: { allocatedResources: { storage: "3Gi" } } }),
      want: "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=3Gi",
    },
  ])("$name", ({ given, want }) => {
    expect(describeAmounts(volumeClaimQuota.usage(given, 0))).toBe(want);
  });

  it("are tracked in total and per class", () => {
    const names = ["count/persistentvolumeclaims", "requests.storage", "gold.storageclass.storage.k8s.io/requests.storage", "pods"];
    expect(names.map((name) => volumeClaimQuota.tracks(name))).toEqual([true, true, true, false]);
  });

  it("are in the scope of their current, requested and target attributes class", () => {
    const scope = (operator: string, ...values: string[]) => ({ name: "VolumeAttributesClass", operator, values });
    const moving = object(
      { volumeAttributesClassName: "new" },
      { status: { currentVolumeAttributesClassName: "old", modifyVolumeStatus: { targetVolumeAttributesClassName: "new" } } },
    );
    expect(volumeClaimQuota.inScope(scope("In", "old"), moving)).toBe(true);
    expect(volumeClaimQuota.inScope(scope("Exists"), object({}))).toBe(false);
    expect(volumeClaimQuota.inScope(scope("DoesNotExist"), object({}))).toBe(true);
    expect(volumeClaimQuota.inScope({ ...scope("Exists"), name: "BestEffort" }, moving)).toBe(false);
    expect(claimUsageMoved(moving, object({}))).toBe(true);
    expect(claimUsageMoved(object({}, { status: { allocatedResources: { storage: "1" } } }), object({}))).toBe(true);
    expect(claimUsageMoved(object({ a: 1 }), object({}))).toBe(false);
  });
});

describe("device claims", () => {
  it("count the maximum number of devices per class", () => {
    const exactly = (deviceClassName: string, more: object): Json => ({ exactly: { deviceClassName, ...more } });
    const requests = [
      exactly("gpu", { allocationMode: "ExactCount", count: 2 }),
      exactly("gpu", { allocationMode: "All" }),
      {
        firstAvailable: [
          { deviceClassName: "a", allocationMode: "ExactCount", count: 1 },
          { deviceClassName: "a", allocationMode: "ExactCount", count: 3 },
          { deviceClassName: "b", allocationMode: "Unheard" },
        ],
      },
      {},
    ];
    expect(describeAmounts(deviceClaimQuota.usage(object({ devices: { requests } }), 0))).toBe(
      "a.deviceclass.resource.k8s.io/devices=3,b.deviceclass.resource.k8s.io/devices=0,count/resourceclaims.resource.k8s.io=1,gpu.deviceclass.resource.k8s.io/devices=34",
    );
    expect(deviceClaimQuota.tracks("gpu.deviceclass.resource.k8s.io/devices")).toBe(true);
  });
});

describe("every other kind", () => {
  it("is counted, some kinds also under an older name", () => {
    expect(describeAmounts(evaluatorOf("", "secrets")?.usage(object({}), 0) ?? new Map())).toBe("count/secrets=1,secrets=1");
    const jobs = evaluatorOf("batch", "jobs");
    expect(describeAmounts(jobs?.usage(object({}), 0) ?? new Map())).toBe("count/jobs.batch=1");
    expect(jobs?.inScope({ name: "BestEffort", operator: "Exists", values: [] }, object({}))).toBe(false);
    expect(jobs?.refusal(["count/jobs.batch"], object({}))).toBeUndefined();
  });

  it("is not counted if it is an event or a review", () => {
    expect(evaluatorOf("", "events")).toBeUndefined();
    expect(evaluatorOf("authorization.k8s.io", "subjectaccessreviews")).toBeUndefined();
  });

  it("is found by its resource name in a quota", () => {
    expect(countedKind("count/jobs.batch")).toEqual({ group: "batch", plural: "jobs" });
    expect(countedKind("count/things.a.example.com")).toEqual({ group: "a.example.com", plural: "things" });
    expect(countedKind("count/pods")).toEqual({ group: "", plural: "pods" });
    expect(countedKind("pods")).toBeUndefined();
  });
});

describe("a quota", () => {
  it("reads its scopes and its scope selectors", () => {
    const quota = readQuota(
      object({
        scopes: ["BestEffort"],
        scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["a"] }] },
      }),
    );
    expect(quota.scopes).toEqual([
      { name: "BestEffort", operator: "Exists", values: [] },
      { name: "PriorityClass", operator: "In", values: ["a"] },
    ]);
  });

  it("sums the usage of objects in its scope, and reports 0 without usage", () => {
    const pods = evaluatorOf("", "pods");
    if (pods === undefined) throw new Error("pods are counted");
    const quota = readQuota(object({ hard: { pods: "5", "requests.cpu": "1", services: "1" }, scopes: ["NotTerminating"] }));
    const some = [object({}), object({}), object({ activeDeadlineSeconds: 1 })];
    expect(describeAmounts(usageOf(quota, pods, { objects: some, now: 0 }))).toBe("pods=2,requests.cpu=0");
    expect(quota.wanted).toEqual(readAmounts({ pods: "5", "requests.cpu": "1", services: "1" }));
  });
});
