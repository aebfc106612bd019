/** What may not change, kind by kind. Cases that a real server was asked stand in ../recorded.test.ts. */
import { describe, expect, it } from "vitest";
import type { KubeObject } from "#kube";
import { builtinTypes } from "../builtin-types.ts";

const types = builtinTypes();
const container = { name: "c", image: "i" };
const jobTemplate = {
  metadata: { labels: { "controller-uid": "u", "batch.kubernetes.io/controller-uid": "u" } },
  spec: { containers: [container], restartPolicy: "Never" },
};
const jobSelector = { matchLabels: { "batch.kubernetes.io/controller-uid": "u" } };

function made(type: string, body: object): KubeObject {
  const known = types.get(type);
  const decoded = known?.decode({ metadata: { name: "x", namespace: "n", uid: "u", resourceVersion: "1" }, ...body });
  if (known === undefined || decoded?.ok !== true) throw new Error(`cannot read ${type}`);
  return known.applyDefaults(decoded.value.object);
}

function refused(type: string, before: object, after: object, subresource?: string): readonly string[] {
  const known = types.get(type);
  const previous = made(type, before);
  const next = known?.prepareForUpdate(made(type, after), previous, subresource) ?? previous;
  return [...new Set(known?.validate(next, previous, subresource).map(({ field, detail }) => `${field}: ${detail}`))];
}

const pod = (spec: object) => ({ spec: { containers: [container], ...spec } });
const job = (spec: object, more: object = {}) => ({ spec: { template: jobTemplate, selector: jobSelector, ...spec }, ...more });
const claim = (spec: object, status: object = {}) => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "2Gi" } }, ...spec },
  status,
});
const event = (more: object) => ({
  regarding: { kind: "Pod", namespace: "n", name: "p" },
  eventTime: "2024-01-01T00:00:00.000000Z",
  reportingController: "a.b/c",
  reportingInstance: "i",
  action: "A",
  reason: "R",
  type: "Normal",
  ...more,
});
const BOUND = { phase: "Bound", capacity: { storage: "2Gi" } };
const POD_FIXED = "spec: Forbidden: pod updates may not change fields other than";

describe("updates", () => {
  it.each([
    {
      name: "an Event of the newer group keeps its note",
      type: "events.k8s.io/v1/events",
      before: event({ related: { kind: "Node" } }),
      after: event({ reason: "S", action: "", regarding: { kind: "Pod", namespace: "n", name: "q" } }),
      want: [
        "action: Required value",
        'involvedObject: Invalid value: {"Kind":"Pod","Namespace":"n","Name":"q","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
        'reason: Invalid value: "S": field is immutable',
        'action: Invalid value: "": field is immutable',
        "related: Invalid value: null: field is immutable",
      ],
    },
    {
      name: "an Event of the newer group may be repeated, but not once",
      type: "events.k8s.io/v1/events",
      before: event({}),
      after: event({ series: { count: 1, lastObservedTime: "2024-01-01T00:00:00.000000Z" } }),
      want: ['series.count: Invalid value: "": should be at least 2'],
    },
    {
      name: "a claim keeps the source it was made from",
      type: "v1/persistentvolumeclaims",
      before: claim({
        dataSource: { kind: "PersistentVolumeClaim", name: "y" },
        dataSourceRef: { kind: "PersistentVolumeClaim", name: "y" },
      }),
      after: claim({ dataSource: { kind: "PersistentVolumeClaim", name: "y" } }),
      want: [],
    },
    {
      name: "a Pod's image may change",
      type: "v1/pods",
      before: pod({}),
      after: pod({ containers: [{ name: "c", image: "j" }] }),
      want: [],
    },
    { name: "a Pod's host name may not", type: "v1/pods", before: pod({}), after: pod({ hostname: "h" }), want: [POD_FIXED] },
    {
      name: "a Pod gets no further containers",
      type: "v1/pods",
      before: pod({}),
      after: pod({ containers: [container, { name: "d", image: "i" }] }),
      want: ["spec.containers: Forbidden: pod updates may not add or remove containers"],
    },
    {
      name: "a Pod's deadline only comes nearer",
      type: "v1/pods",
      before: pod({ activeDeadlineSeconds: 5 }),
      after: pod({ activeDeadlineSeconds: 9 }),
      want: ["spec.activeDeadlineSeconds: Invalid value: 9: must be less than or equal to previous value"],
    },
    {
      name: "a Pod's deadline stays",
      type: "v1/pods",
      before: pod({ activeDeadlineSeconds: 5 }),
      after: pod({}),
      want: ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
    },
    { name: "a Pod may tolerate more", type: "v1/pods", before: pod({}), after: pod({ tolerations: [{ operator: "Exists" }] }), want: [] },
    {
      name: "a Pod may not tolerate less",
      type: "v1/pods",
      before: pod({ tolerations: [{ operator: "Exists" }] }),
      after: pod({}),
      want: ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    },
    {
      name: "a Job's parallelism may change",
      type: "batch/v1/jobs",
      before: job({}),
      after: job({ parallelism: 3, completions: 1 }),
      want: [],
    },
    {
      name: "a Job's completions may not",
      type: "batch/v1/jobs",
      before: job({}),
      after: job({ completions: 3, parallelism: 1 }),
      want: ["spec.completions: Invalid value: 3: field is immutable"],
    },
    {
      name: "an indexed Job's may, with its parallelism",
      type: "batch/v1/jobs",
      before: job({ completionMode: "Indexed", completions: 1 }),
      after: job({ completionMode: "Indexed", completions: 3, parallelism: 2 }),
      want: ["spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"],
    },
    {
      name: "a Job's template stays",
      type: "batch/v1/jobs",
      before: job({}),
      after: job({ template: { ...jobTemplate, spec: { ...jobTemplate.spec, nodeSelector: { a: "b" } } } }),
      want: ["spec.template: Invalid value"],
    },
    {
      name: "the scheduling fields of a suspended Job may change",
      type: "batch/v1/jobs",
      before: job({ suspend: true }),
      after: job({ suspend: true, template: { ...jobTemplate, spec: { ...jobTemplate.spec, nodeSelector: { a: "b" } } } }),
      want: [],
    },
    {
      name: "a claim's class stays",
      type: "v1/persistentvolumeclaims",
      before: claim({}),
      after: claim({ storageClassName: "s" }),
      want: ["spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"],
    },
    { name: "a claim may be bound", type: "v1/persistentvolumeclaims", before: claim({}), after: claim({ volumeName: "v" }), want: [] },
    {
      name: "a bound claim may grow",
      type: "v1/persistentvolumeclaims",
      before: claim({}, BOUND),
      after: claim({ resources: { requests: { storage: "3Gi" } } }),
      want: [],
    },
    {
      name: "a bound claim may not shrink below what it has",
      type: "v1/persistentvolumeclaims",
      before: claim({}, BOUND),
      after: claim({ resources: { requests: { storage: "1Gi" } } }),
      want: ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
    },
    {
      name: "an immutable ConfigMap stays as it is",
      type: "v1/configmaps",
      before: { immutable: true, data: { a: "b" } },
      after: { data: { a: "c" }, binaryData: { d: "YQ==" } },
      want: ["immutable", "data", "binaryData"].map((name) => `${name}: Forbidden: field is immutable when \`immutable\` is set`),
    },
    {
      name: "a Secret keeps its type",
      type: "v1/secrets",
      before: { type: "a" },
      after: { type: "b" },
      want: ['type: Invalid value: "b": field is immutable'],
    },
    {
      name: "a revision keeps its data",
      type: "apps/v1/controllerrevisions",
      before: { data: { a: 1 }, revision: 1 },
      after: { data: { a: 2 }, revision: 1 },
      want: ['data: Invalid value: {"a":2}: field is immutable'],
    },
    {
      name: "a PriorityClass keeps its value",
      type: "scheduling.k8s.io/v1/priorityclasses",
      before: { value: 1, metadata: { name: "x", uid: "u" } },
      after: { value: 2, preemptionPolicy: "Never", metadata: { name: "x" } },
      want: ["value: Forbidden: may not be changed in an update.", 'preemptionPolicy: Invalid value: "Never": field is immutable'],
    },
    {
      name: "a slice keeps its kind of addresses",
      type: "discovery.k8s.io/v1/endpointslices",
      before: { addressType: "IPv4", endpoints: [], ports: [] },
      after: { addressType: "IPv6", endpoints: [], ports: [] },
      want: ['addressType: Invalid value: "IPv6": field is immutable'],
    },
    {
      name: "nothing gets a finalizer while it is being deleted",
      type: "v1/configmaps",
      before: { metadata: { name: "x", namespace: "n", finalizers: ["a/b"], deletionTimestamp: "2024-01-01T00:00:00Z" } },
      after: { metadata: { name: "x", namespace: "n", finalizers: ["a/b", "c/d"] } },
      want: [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d"}',
      ],
    },
    {
      name: "names stay",
      type: "v1/configmaps",
      before: {},
      after: { metadata: { name: "y", namespace: "m", uid: "v" } },
      want: [
        'metadata.name: Invalid value: "y": field is immutable',
        'metadata.namespace: Invalid value: "m": field is immutable',
        'metadata.uid: Invalid value: "v": field is immutable',
      ],
    },
  ])("$name", ({ type, before, after, want }) => {
    const causes = refused(type, before, after);
    expect(causes).toHaveLength(want.length);
    for (const [index, text] of want.entries()) expect(causes[index]).toContain(text);
  });
});

describe("metadata", () => {
  const validate = (metadata: object) =>
    types.get("v1/configmaps")?.validate({ apiVersion: "v1", kind: "ConfigMap", metadata } as unknown as KubeObject, undefined, undefined);
  it.each([
    { name: "needs a name", given: { namespace: "n" }, want: "metadata.name: Required value: name or generateName is required" },
    {
      name: "checks prefixes as names in the making",
      given: { name: "x", generateName: "UP-", namespace: "n" },
      want: "metadata.generateName: Invalid value",
    },
    { name: "needs a namespace", given: { name: "x" }, want: "metadata.namespace: Required value" },
    {
      name: "has room for 256 KiB of annotations",
      given: { name: "x", namespace: "n", annotations: { a: "x".repeat(262_144) } },
      want: "metadata.annotations: Too long: may not be more than 262144 bytes",
    },
    {
      name: "names managers in 128 bytes",
      given: {
        name: "x",
        namespace: "n",
        managedFields: [{ operation: "Update", manager: "m".repeat(129), subresource: "s".repeat(257) }],
      },
      want: "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
    },
  ])("$name", ({ given, want }) => {
    const [first] = validate(given) ?? [];
    expect(`${first?.field}: ${first?.detail}`).toContain(want);
  });

  it("belongs to no namespace where the kind does not", () => {
    const causes = types
      .get("v1/namespaces")
      ?.validate({ metadata: { name: "x", namespace: "n" } } as unknown as KubeObject, undefined, undefined);
    expect(causes).toContainEqual({
      reason: "FieldValueForbidden",
      field: "metadata.namespace",
      detail: "Forbidden: not allowed on this type",
    });
  });

  it("a ConfigMap holds a mebibyte, a slice a thousand endpoints", () => {
    const large = made("v1/configmaps", { data: { a: "x".repeat(1_048_577) } });
    expect(types.get("v1/configmaps")?.validate(large, undefined, undefined)).toEqual([
      { reason: "FieldValueTooLong", field: "", detail: "Too long: may not be more than 1048576 bytes" },
    ]);
    const slice = made("discovery.k8s.io/v1/endpointslices", {
      addressType: "IPv4",
      ports: [],
      endpoints: Array.from({ length: 1_001 }, () => ({ addresses: ["10.0.0.1"] })),
    });
    expect(types.get("discovery.k8s.io/v1/endpointslices")?.validate(slice, undefined, undefined)).toMatchObject([
      { detail: "Too many: 1001: must have at most 1000 items" },
    ]);
  });
});

describe("what a controller may write", () => {
  it("a Pod's status keeps its class and owners", () => {
    const type = types.get("v1/pods");
    const previous = { ...made("v1/pods", pod({})), status: { qosClass: "Burstable" } } as unknown as KubeObject;
    const sent = {
      ...previous,
      metadata: { ...previous.metadata, ownerReferences: [{ apiVersion: "v1", kind: "A", name: "a", uid: "u" }] },
      status: { phase: "Running" },
    };
    expect(type?.prepareForUpdate(sent as unknown as KubeObject, previous, "status")).toMatchObject({
      status: { phase: "Running", qosClass: "Burstable" },
    });
    expect(type?.prepareForUpdate(sent as unknown as KubeObject, previous, "status").metadata.ownerReferences).toBeUndefined();
  });

  it("a DaemonSet counts its templates", () => {
    const type = types.get("apps/v1/daemonsets");
    const spec = (image: string) => ({
      spec: {
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image }] } },
      },
    });
    const first = type?.prepareForCreate(made("apps/v1/daemonsets", spec("i"))) as KubeObject;
    const second = type?.prepareForUpdate(made("apps/v1/daemonsets", spec("j")), first, undefined);
    expect(second?.metadata.annotations).toEqual({ "deprecated.daemonset.template.generation": "2" });
  });

  it("a Namespace's finalizers are not for clients to take", () => {
    const type = types.get("v1/namespaces");
    const first = type?.prepareForCreate(made("v1/namespaces", { metadata: { name: "x" } })) as KubeObject;
    expect(type?.prepareForUpdate(made("v1/namespaces", { metadata: { name: "x" } }), first, undefined)).toMatchObject({
      spec: { finalizers: ["kubernetes"] },
    });
  });

  const cidrs = (...ranges: readonly string[]) => ({ metadata: { name: "x" }, spec: { cidrs: ranges } });
  it.each([
    {
      name: "a driver keeps its name for a node",
      type: "storage.k8s.io/v1/csinodes",
      before: { spec: { drivers: [{ name: "d", nodeID: "n", allocatable: { count: 1 } }] } },
      after: { spec: { drivers: [{ name: "d", nodeID: "m", topologyKeys: ["k"], allocatable: { count: 2 } }] } },
      want: ['spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":["k"],"Allocatable":null}: field is immutable'],
    },
    {
      name: "an address keeps its owner",
      type: "networking.k8s.io/v1/ipaddresses",
      before: { spec: { parentRef: { resource: "services", name: "s" } } },
      after: { spec: { parentRef: { resource: "services", name: "t" } } },
      want: ['spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"","Name":"t"}: field is immutable'],
    },
    {
      name: "a range stays",
      type: "networking.k8s.io/v1/servicecidrs",
      before: cidrs("10.1.0.0/24"),
      after: cidrs("10.2.0.0/24"),
      want: ['spec.cidrs[0]: Invalid value: "10.2.0.0/24": field is immutable'],
    },
    {
      name: "a range may be joined by one of the other family",
      type: "networking.k8s.io/v1/servicecidrs",
      before: cidrs("10.1.0.0/24"),
      after: cidrs("10.1.0.0/24", "fd00::/112"),
      want: [],
    },
    {
      name: "a range does not go",
      type: "networking.k8s.io/v1/servicecidrs",
      before: cidrs("10.1.0.0/24", "fd00::/112"),
      after: cidrs("10.1.0.0/24"),
      want: ['spec.cidrs: Invalid value: ["10.1.0.0/24"]: field is immutable'],
    },
  ])("$name", ({ type, before, after, want }) => {
    const named = (body: object) => ({ ...body, metadata: { name: "x", uid: "u", resourceVersion: "1" } });
    expect(refused(type, named(before), named(after))).toEqual(want);
  });
});
