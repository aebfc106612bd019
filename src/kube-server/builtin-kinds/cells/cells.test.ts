import { describe, expect, it } from "vitest";
import type { Json } from "#kube";
import { builtinTypes } from "../builtin-types.ts";
import { accessModesText, selectorText, sinceText } from "./text.ts";
import { durationText } from "../../protocol/duration-text.ts";

const NOW = 1_704_067_200_000 + 3_600_000 * 5; // 2024-01-01T05:00:00Z
const CREATED = "2024-01-01T00:00:00Z";
const types = builtinTypes();

function cells(type: string, object: object, metadata: object = {}): readonly Json[] {
  const full = { apiVersion: "", kind: "", metadata: { name: "x", creationTimestamp: CREATED, ...metadata }, ...object };
  return types.get(type)?.cells(full, NOW) ?? [];
}

describe("durations", () => {
  it.each([
    [-5_000, "<invalid>"],
    [-1_000, "0s"],
    [119_000, "119s"],
    [125_000, "2m5s"],
    [180_000, "3m"],
    [1_200_000, "20m"],
    [4 * 3_600_000 + 60_000, "4h1m"],
    [20 * 3_600_000, "20h"],
    [75 * 3_600_000, "3d3h"],
    [100 * 24 * 3_600_000, "100d"],
    [3 * 365 * 24 * 3_600_000 + 24 * 3_600_000, "3y1d"],
    [9 * 365 * 24 * 3_600_000, "9y"],
  ])("%d ms are %s", (ms, want) => {
    expect(durationText(ms)).toBe(want);
  });

  it("an unknown time is unknown", () => {
    expect(sinceText(null, NOW)).toBe("<unknown>");
  });
});

describe("selectors and modes", () => {
  it("are written as kubectl writes them", () => {
    expect(selectorText({ matchLabels: { b: "1", a: "2" }, matchExpressions: [{ key: "c", operator: "Exists" }] })).toBe("a=2,b=1,c");
    expect(selectorText(undefined)).toBe("<none>");
    expect(selectorText({ matchExpressions: [{ key: "c", operator: "Nope" }] })).toBe("<error>");
    expect(accessModesText(["ReadWriteMany", "ReadWriteOnce"])).toBe("RWO,RWX");
  });
});

const terminated = (reason: string, exitCode: number, more: object = {}) => ({ state: { terminated: { reason, exitCode, ...more } } });

describe("a Pod's state", () => {
  const spec = { containers: [{ name: "c" }] };
  it.each([
    { name: "its phase", status: { phase: "Pending" }, want: ["0/1", "Pending", "0"] },
    { name: "its reason", status: { phase: "Failed", reason: "Evicted" }, want: ["0/1", "Evicted", "0"] },
    {
      name: "gated",
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
      want: ["0/1", "SchedulingGated", "0"],
    },
    {
      name: "what a container waits for",
      status: { containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] },
      want: ["0/1", "ImagePullBackOff", "0"],
    },
    {
      name: "running and restarted",
      status: {
        phase: "Running",
        containerStatuses: [
          { ready: true, restartCount: 3, state: { running: {} }, lastState: { terminated: { finishedAt: "2024-01-01T04:00:00Z" } } },
        ],
      },
      want: ["1/1", "Running", "3 (60m ago)"],
    },
    { name: "a signal", status: { containerStatuses: [terminated("", 1, { signal: 9 })] }, want: ["0/1", "Signal:9", "0"] },
    { name: "an exit code", status: { containerStatuses: [terminated("", 2)] }, want: ["0/1", "ExitCode:2", "0"] },
    {
      name: "completed but for one that runs",
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [terminated("Completed", 0), { ready: true, state: { running: {} } }],
      },
      want: ["1/1", "Running", "0"],
    },
    {
      name: "not ready",
      status: { containerStatuses: [terminated("Completed", 0), { ready: true, state: { running: {} } }] },
      want: ["1/1", "NotReady", "0"],
    },
    {
      name: "failed among completed",
      status: { containerStatuses: [terminated("Completed", 0), terminated("Error", 1)] },
      want: ["0/1", "Error", "0"],
    },
    {
      name: "initialising",
      status: { initContainerStatuses: [terminated("", 0), { state: {} }] },
      want: ["0/2", "Init:1/2", "0"],
      init: true,
    },
    {
      name: "an init container that waits",
      status: { initContainerStatuses: [{ state: { waiting: { reason: "Nope" } } }] },
      want: ["0/2", "Init:Nope", "0"],
      init: true,
    },
    {
      name: "an init container that failed",
      status: { initContainerStatuses: [terminated("Error", 1)] },
      want: ["0/2", "Init:Error", "0"],
      init: true,
    },
    {
      name: "a sidecar that runs",
      status: {
        phase: "Running",
        initContainerStatuses: [terminated("", 0), { name: "side", started: true, ready: true, state: { running: {} } }],
      },
      want: ["1/2", "Running", "0"],
      init: true,
    },
  ])("is $name", ({ status, want, init }) => {
    const initContainers = init === true ? [{ name: "i" }, { name: "side", restartPolicy: "Always" }] : [];
    expect(cells("v1/pods", { spec: { ...spec, initContainers }, status }).slice(1, 4)).toEqual(want);
  });

  it("shows where it is, and its gates", () => {
    const status = { podIPs: [{ ip: "1.2.3.4" }], conditions: [{ type: "a", status: "True" }] };
    const row = cells("v1/pods", {
      spec: { ...spec, nodeName: "n", readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] },
      status,
    });
    expect(row.slice(4)).toEqual(["5h", "1.2.3.4", "n", "<none>", "1/2"]);
  });

  it.each([
    { status: { phase: "Running" }, want: "Terminating" },
    { status: { phase: "Succeeded" }, want: "Succeeded" },
    { status: { phase: "Running", reason: "NodeLost" }, want: "Unknown" },
  ])("being deleted is $want", ({ status, want }) => {
    expect(cells("v1/pods", { spec, status }, { deletionTimestamp: CREATED })[2]).toBe(want);
  });
});

const template = {
  spec: {
    containers: [
      { name: "c", image: "i" },
      { name: "d", image: "j" },
    ],
  },
};
const labels = { matchLabels: { a: "b" } };

describe("rows", () => {
  it.each([
    {
      type: "apps/v1/deployments",
      object: { spec: { replicas: 2, template, selector: labels }, status: { readyReplicas: 1 } },
      want: ["x", "1/2", 0, 0, "5h", "c,d", "i,j", "a=b"],
    },
    {
      type: "apps/v1/replicasets",
      object: { spec: { replicas: 2, template, selector: labels } },
      want: ["x", 2, 0, 0, "5h", "c,d", "i,j", "a=b"],
    },
    {
      type: "v1/replicationcontrollers",
      object: { spec: { replicas: 2, template, selector: { a: "b" } } },
      want: ["x", 2, 0, 0, "5h", "c,d", "i,j", "a=b"],
    },
    { type: "apps/v1/statefulsets", object: { spec: { replicas: 2, template } }, want: ["x", "0/2", "5h", "c,d", "i,j"] },
    {
      type: "apps/v1/daemonsets",
      object: { spec: { template, selector: labels } },
      want: ["x", 0, 0, 0, 0, 0, "<none>", "5h", "c,d", "i,j", "a=b"],
    },
    {
      type: "batch/v1/jobs",
      object: { spec: { completions: 2, template }, status: { startTime: CREATED } },
      want: ["x", "Running", "0/2", "5h", "5h", "c,d", "i,j", "<none>"],
    },
    {
      type: "batch/v1/jobs",
      object: { spec: { parallelism: 3 }, status: { conditions: [{ type: "Failed", status: "True" }] } },
      want: ["x", "Failed", "0/1 of 3", "", "5h", "", "", "<none>"],
    },
    {
      type: "batch/v1/jobs",
      object: { spec: {}, status: { conditions: [{ type: "Suspended", status: "True" }] } },
      want: ["x", "Suspended", "0/1", "", "5h", "", "", "<none>"],
    },
    {
      type: "batch/v1/jobs",
      object: { spec: {}, status: { conditions: [{ type: "Complete", status: "True" }] } },
      want: ["x", "Complete", "0/1", "", "5h", "", "", "<none>"],
    },
    {
      type: "batch/v1/cronjobs",
      object: {
        spec: { schedule: "@daily", suspend: false, jobTemplate: { spec: { template } } },
        status: { lastScheduleTime: "2024-01-01T04:59:00Z", active: [{}] },
      },
      want: ["x", "@daily", "<none>", "False", 1, "60s", "5h", "c,d", "i,j", "<none>"],
    },
    {
      type: "batch/v1/cronjobs",
      object: { spec: { schedule: "@daily", timeZone: "UTC" } },
      want: ["x", "@daily", "UTC", "<unset>", 0, "<none>", "5h", "", "", "<none>"],
    },
    { type: "v1/podtemplates", object: { template }, want: ["x", "c,d", "i,j", "<none>"] },
    { type: "apps/v1/controllerrevisions", object: { revision: 2 }, want: ["x", "<none>", 2, "5h"] },
    {
      type: "v1/services",
      object: { spec: { type: "ClusterIP", clusterIPs: ["10.0.0.1"], ports: [{ port: 80, protocol: "TCP" }] } },
      want: ["x", "ClusterIP", "10.0.0.1", "<none>", "80/TCP", "5h", "<none>"],
    },
    {
      type: "v1/services",
      object: {
        spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 3, protocol: "TCP" }] },
        status: { loadBalancer: { ingress: [{ ip: "1.1.1.1" }, { hostname: "h" }] } },
      },
      want: ["x", "LoadBalancer", "<none>", "1.1.1.1,h", "80:3/TCP", "5h", "<none>"],
    },
    {
      type: "v1/services",
      object: { spec: { type: "LoadBalancer" } },
      want: ["x", "LoadBalancer", "<none>", "<pending>", "<none>", "5h", "<none>"],
    },
    {
      type: "v1/services",
      object: { spec: { type: "ExternalName", externalName: "a.b", selector: { a: "b" } } },
      want: ["x", "ExternalName", "<none>", "a.b", "<none>", "5h", "a=b"],
    },
    { type: "v1/services", object: { spec: {} }, want: ["x", "", "<none>", "<unknown>", "<none>", "5h", "<none>"] },
    { type: "v1/endpoints", object: {}, want: ["x", "<none>", "5h"] },
    {
      type: "v1/endpoints",
      object: { subsets: [{ addresses: [{ ip: "1.1.1.1" }, { ip: "::1" }], ports: [{ port: 1 }, { port: 2 }] }] },
      want: ["x", "1.1.1.1:1,[::1]:1,1.1.1.1:2 + 1 more...", "5h"],
    },
    { type: "v1/endpoints", object: { subsets: [{ addresses: [{ ip: "1.1.1.1" }] }, {}] }, want: ["x", "1.1.1.1", "5h"] },
    {
      type: "discovery.k8s.io/v1/endpointslices",
      object: { addressType: "IPv4", ports: [{ port: 80 }, { name: "b" }, {}], endpoints: [{ addresses: ["1.1.1.1"] }] },
      want: ["x", "IPv4", "80,b,*", "1.1.1.1", "5h"],
    },
    { type: "discovery.k8s.io/v1/endpointslices", object: {}, want: ["x", "", "<unset>", "<unset>", "5h"] },
    {
      type: "networking.k8s.io/v1/ingresses",
      object: { spec: { tls: [{}], rules: [1, 2, 3, 4].map((n) => ({ host: `h${n}` })) } },
      want: ["x", "<none>", "h1,h2,h3 + 1 more...", "", "80, 443", "5h"],
    },
    { type: "networking.k8s.io/v1/ingresses", object: { spec: { ingressClassName: "n" } }, want: ["x", "n", "*", "", "80", "5h"] },
    { type: "networking.k8s.io/v1/ingresses", object: { spec: { rules: [{ host: "a" }] } }, want: ["x", "<none>", "a", "", "80", "5h"] },
    {
      type: "networking.k8s.io/v1/ingressclasses",
      object: { spec: { controller: "c", parameters: { kind: "K", name: "n", apiGroup: "g" } } },
      want: ["x", "c", "K.g/n", "5h"],
    },
    { type: "networking.k8s.io/v1/networkpolicies", object: { spec: { podSelector: {} } }, want: ["x", "<none>", "5h"] },
    {
      type: "networking.k8s.io/v1/ipaddresses",
      object: { spec: { parentRef: { resource: "services", namespace: "n", name: "s" } } },
      want: ["x", "services/n/s", "5h"],
    },
    { type: "networking.k8s.io/v1/servicecidrs", object: { spec: { cidrs: ["a", "b"] } }, want: ["x", "a,b", "5h"] },
    { type: "v1/namespaces", object: { status: { phase: "Active" } }, want: ["x", "Active", "5h"] },
    { type: "v1/configmaps", object: { data: { a: "" }, binaryData: { b: "" } }, want: ["x", 2, "5h"] },
    { type: "v1/secrets", object: { type: "Opaque", data: { a: "" } }, want: ["x", "Opaque", 1, "5h"] },
    { type: "v1/serviceaccounts", object: {}, want: ["x", "5h"] },
    { type: "v1/limitranges", object: {}, want: ["x", CREATED] },
    {
      type: "v1/resourcequotas",
      object: { status: { hard: { pods: "4", "limits.cpu": "1" }, used: { pods: "1" } } },
      want: ["x", "pods: 1/4", "limits.cpu: 0/1", "5h"],
    },
    {
      type: "v1/persistentvolumes",
      object: {
        spec: {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
          persistentVolumeReclaimPolicy: "Retain",
          claimRef: { namespace: "n", name: "c" },
          volumeMode: "Filesystem",
        },
        status: { phase: "Bound" },
      },
      want: ["x", "1Gi", "RWO", "Retain", "Bound", "n/c", "", "<unset>", "", "5h", "Filesystem"],
    },
    {
      type: "v1/persistentvolumeclaims",
      object: { spec: { storageClassName: "s" }, status: { phase: "Pending" } },
      want: ["x", "Pending", "", "", "", "s", "<unset>", "5h", "<unset>"],
    },
    {
      type: "v1/persistentvolumeclaims",
      object: { spec: { volumeName: "v" }, status: { phase: "Bound", capacity: { storage: "1Gi" }, accessModes: ["ReadOnlyMany"] } },
      want: ["x", "Bound", "v", "1Gi", "ROX", "", "<unset>", "5h", "<unset>"],
    },
    {
      type: "v1/events",
      object: {
        involvedObject: { kind: "Pod", name: "p" },
        reason: "R",
        message: " m ",
        type: "Normal",
        lastTimestamp: "2024-01-01T04:59:00Z",
        firstTimestamp: CREATED,
        source: { component: "c", host: "h" },
      },
      want: ["60s", "Normal", "R", "pod/p", "", "c, h", "m", "5h", 1, "x"],
    },
    {
      type: "events.k8s.io/v1/events",
      object: {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        regarding: { kind: "Node" },
        eventTime: "2024-01-01T04:00:00.000000Z",
        series: { count: 3, lastObservedTime: "2024-01-01T04:59:00.000000Z" },
      },
      want: ["60s", "", "", "node", "", "", "", "60m", 3, "x"],
    },
    {
      type: "autoscaling/v1/horizontalpodautoscalers",
      object: {
        apiVersion: "autoscaling/v1",
        kind: "HorizontalPodAutoscaler",
        spec: { scaleTargetRef: { kind: "D", name: "w" }, maxReplicas: 3, targetCPUUtilizationPercentage: 70 },
      },
      want: ["x", "D/w", "cpu: <unknown>/70%", "1", 3, 0, "5h"],
    },
    { type: "policy/v1/poddisruptionbudgets", object: { spec: { minAvailable: "50%" } }, want: ["x", "50%", "N/A", 0, "5h"] },
    {
      type: "rbac.authorization.k8s.io/v1/rolebindings",
      object: {
        roleRef: { kind: "Role", name: "r" },
        subjects: [
          { kind: "User", name: "u" },
          { kind: "Group", name: "g" },
          { kind: "ServiceAccount", name: "s", namespace: "n" },
        ],
      },
      want: ["x", "Role/r", "5h", "u", "g", "n/s"],
    },
    { type: "storage.k8s.io/v1/storageclasses", object: { provisioner: "p" }, want: ["x", "p", "Delete", "Immediate", false, "5h"] },
    {
      type: "storage.k8s.io/v1/csidrivers",
      object: { spec: { tokenRequests: [{ audience: "a" }] } },
      want: ["x", true, false, false, "a", false, "<none>", "5h"],
    },
    { type: "storage.k8s.io/v1/csinodes", object: { spec: { drivers: [{}] } }, want: ["x", 1, "5h"] },
    {
      type: "storage.k8s.io/v1/volumeattachments",
      object: { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "p" } } },
      want: ["x", "a", "p", "n", false, "5h"],
    },
    { type: "storage.k8s.io/v1/volumeattributesclasses", object: { driverName: "d" }, want: ["x", "d", "5h"] },
    { type: "scheduling.k8s.io/v1/priorityclasses", object: { value: 3, preemptionPolicy: "Never" }, want: ["x", 3, false, "5h", "Never"] },
    { type: "coordination.k8s.io/v1/leases", object: { spec: { holderIdentity: "h" } }, want: ["x", "h", "5h"] },
    { type: "node.k8s.io/v1/runtimeclasses", object: { handler: "h" }, want: ["x", "h", "5h"] },
    { type: "admissionregistration.k8s.io/v1/validatingwebhookconfigurations", object: { webhooks: [{}] }, want: ["x", 1, "5h"] },
    {
      type: "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
      object: { spec: { validations: [{}], paramKind: { apiVersion: "v1", kind: "K" } } },
      want: ["x", 1, "v1/K", "5h"],
    },
    {
      type: "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
      object: { spec: { policyName: "p", paramRef: { name: "n" } } },
      want: ["x", "p", "*/n", "5h"],
    },
    {
      type: "admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
      object: { spec: { policyName: "p" } },
      want: ["x", "p", "<unset>", "5h"],
    },
    {
      type: "flowcontrol.apiserver.k8s.io/v1/flowschemas",
      object: { spec: { priorityLevelConfiguration: { name: "p" }, matchingPrecedence: 5 } },
      want: ["x", "p", 5, "<none>", "5h", "?"],
    },
    {
      type: "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
      object: { spec: { type: "Limited", limited: { nominalConcurrencyShares: 3, limitResponse: { queuing: { queues: 2 } } } } },
      want: ["x", "Limited", 3, 2, "<none>", "<none>", "5h"],
    },
    {
      type: "resource.k8s.io/v1/resourceclaims",
      object: { status: { allocation: {}, reservedFor: [{}] } },
      want: ["x", "allocated,reserved", "5h"],
    },
    { type: "resource.k8s.io/v1/resourceclaims", object: {}, want: ["x", "pending", "5h"] },
    {
      type: "resource.k8s.io/v1/resourceslices",
      object: { spec: { nodeName: "n", driver: "d", pool: { name: "p" } } },
      want: ["x", "n", "d", "p", "5h"],
    },
    {
      type: "certificates.k8s.io/v1/certificatesigningrequests",
      object: {
        spec: { signerName: "s", username: "u", expirationSeconds: 3600 },
        status: { certificate: "a", conditions: [{ type: "Approved" }, { type: "Failed" }] },
      },
      want: ["x", "5h", "s", "u", "60m", "Approved,Failed,Issued"],
    },
    {
      type: "certificates.k8s.io/v1/certificatesigningrequests",
      object: { status: { conditions: [{ type: "Denied" }] } },
      want: ["x", "5h", "<none>", "", "<none>", "Denied"],
    },
  ])("$type: $want", ({ type, object, want }) => {
    expect(cells(type, object)).toEqual(want);
  });

  it("a Node shows its state, roles and machine", () => {
    const nodeInfo = { kubeletVersion: "v1", osImage: "os", kernelVersion: "k", architecture: "amd64", containerRuntimeVersion: "c" };
    const status = { nodeInfo, conditions: [{ type: "Ready", status: "False" }], addresses: [{ type: "InternalIP", address: "1.1.1.1" }] };
    const row = cells(
      "v1/nodes",
      { spec: { unschedulable: true }, status },
      { labels: { "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "a" } },
    );
    expect(row).toEqual(["x", "NotReady,SchedulingDisabled", "a,control-plane", "5h", "v1", "1.1.1.1", "<none>", "os", "k (amd64)", "c"]);
    expect(cells("v1/nodes", {})).toEqual(["x", "Unknown", "<none>", "5h", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"]);
  });

  it("metrics of an autoscaler are shown by kind, two at most", () => {
    const spec = (metrics: object[]) => ({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      spec: { scaleTargetRef: { kind: "D", name: "w" }, metrics },
    });
    const shown = (...metrics: object[]) => cells("autoscaling/v2/horizontalpodautoscalers", spec(metrics))[2];
    expect(
      shown({ type: "Pods", pods: { target: { averageValue: "1" } } }, { type: "External", external: { target: { averageValue: "2" } } }),
    ).toBe("<unknown>/1, <unknown>/2 (avg)");
    expect(
      shown(
        { type: "Object", object: { target: { value: "3" } } },
        { type: "Resource", resource: { name: "memory", target: { averageValue: "4" } } },
        {},
      ),
    ).toBe("<unknown>/3, memory: <unknown>/4 + 1 more...");
    expect(shown()).toBe("<none>");
    expect(shown({ type: "Nope" })).toBe("<unknown type>");
  });

  it("defaults and owners are marked", () => {
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    expect(cells("storage.k8s.io/v1/storageclasses", {}, { annotations })[0]).toBe("x (default)");
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "u", controller: true }];
    expect(cells("apps/v1/controllerrevisions", {}, { ownerReferences })[1]).toBe("statefulset.apps/web");
  });

  it("kinds without a printer show their name and age", () => {
    expect(cells("resource.k8s.io/v1/deviceclasses", {})).toEqual(["x", "5h"]);
    expect(cells("v1/componentstatuses", {})).toEqual(["x", null, null, null]);
  });
});
