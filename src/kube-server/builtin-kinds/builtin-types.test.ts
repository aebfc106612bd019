import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, KubeObject } from "#kube";
import type { ResourceType } from "../resource-type.ts";
import { builtinTypes } from "./builtin-types.ts";
import { builtinDiscovery } from "./discovery.ts";
import { freeNodePorts, serviceAddresses } from "./service-addresses.ts";

const types = builtinTypes();

function typeOf(key: string, from = types): ResourceType {
  const type = from.get(key);
  if (type === undefined) throw new Error(`no type ${key}`);
  return type;
}

function objectOf(type: ResourceType, body: object): KubeObject {
  const decoded = type.decode(body as Json);
  if (!decoded.ok) throw new Error(decoded.error);
  return decoded.value.object;
}

describe("the registry", () => {
  it("has every kind of discovery, each with its schema", () => {
    expect(types.size).toBe(builtinDiscovery().length);
    expect(types.size).toBeGreaterThan(60);
    for (const type of types.values()) expect(type.typeSchema.map, type.resource.kind).toBeDefined();
  });

  it("says what discovery says", () => {
    const pods = typeOf("v1/pods");
    expect(pods).toMatchObject({ singular: "pod", shortNames: ["po"], categories: ["all"], custom: false, collection: "/pods" });
    expect(pods.subresources.has("eviction")).toBe(true);
    expect(pods.strategicSchema).toEqual({ group: "", version: "v1", kind: "Pod" });
    expect(builtinDiscovery().find(({ plural }) => plural === "deployments")?.subresources[0]).toEqual({
      name: "scale",
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      verbs: ["get", "patch", "update"],
    });
  });

  it.each([
    "v1/services",
    "v1/endpoints",
    "v1/events",
    "v1/limitranges",
    "coordination.k8s.io/v1/leases",
    "rbac.authorization.k8s.io/v1/roles",
  ])("PUT creates %s", (key) => expect(typeOf(key).createOnUpdate).toBe(true));

  it.each(["v1/configmaps", "v1/serviceaccounts", "apps/v1/deployments"])("PUT does not create %s", (key) => {
    expect(typeOf(key).createOnUpdate).toBe(false);
  });

  it("some kinds want a resourceVersion on every PUT", () => {
    expect(typeOf("coordination.k8s.io/v1/leases").unconditionalUpdate).toBe(false);
    expect(typeOf("v1/configmaps").unconditionalUpdate).toBe(true);
  });

  it("DELETE answers the object for these, and Jobs orphan their Pods", () => {
    const answering = [...types.values()].filter(({ deletion }) => deletion.answersObject).map(({ resource }) => resource.plural);
    expect(answering).toEqual(
      expect.arrayContaining([
        "pods",
        "services",
        "serviceaccounts",
        "persistentvolumeclaims",
        "persistentvolumes",
        "resourcequotas",
        "podtemplates",
      ]),
    );
    expect(answering).not.toContain("configmaps");
    expect(typeOf("batch/v1/jobs").deletion.defaultPropagation).toBe("Orphan");
    expect(typeOf("apps/v1/deployments").deletion.defaultPropagation).toBe("Background");
    expect(typeOf("v1/configmaps").deletion.gracePeriodSeconds({} as KubeObject)).toBe(0);
  });

  it("columns are the server's, with a name and an age where it has none", () => {
    expect(typeOf("v1/configmaps").columns.map(({ name }) => name)).toEqual(["Name", "Data", "Age"]);
    expect(typeOf("authentication.k8s.io/v1/tokenreviews").columns.map(({ name }) => name)).toEqual(["Name", "Age"]);
  });
});

describe("a Pod's grace", () => {
  const grace = (object: object) => typeOf("v1/pods").deletion.gracePeriodSeconds(object as KubeObject);
  it.each([
    { name: "none before it has a node", given: { spec: { terminationGracePeriodSeconds: 30 } }, want: 0 },
    { name: "its own on a node", given: { spec: { nodeName: "n", terminationGracePeriodSeconds: 30 } }, want: 30 },
    { name: "a second when it is negative", given: { spec: { nodeName: "n", terminationGracePeriodSeconds: -1 } }, want: 1 },
    {
      name: "none when it is done",
      given: { spec: { nodeName: "n", terminationGracePeriodSeconds: 30 }, status: { phase: "Failed" } },
      want: 0,
    },
  ])("is $name", ({ given, want }) => expect(grace(given)).toBe(want));
});

describe("field selectors", () => {
  it.each([
    { type: "v1/pods", field: "spec.nodeName", given: { spec: { nodeName: "n" } }, want: "n" },
    { type: "v1/pods", field: "spec.hostNetwork", given: {}, want: "false" },
    { type: "v1/pods", field: "status.podIP", given: { status: { podIPs: [{ ip: "1.1.1.1" }] } }, want: "1.1.1.1" },
    { type: "v1/services", field: "spec.type", given: { spec: { type: "NodePort" } }, want: "NodePort" },
    { type: "v1/services", field: "spec.clusterIP", given: { spec: { clusterIP: "None" } }, want: "None" },
    { type: "v1/namespaces", field: "status.phase", given: { status: { phase: "Active" } }, want: "Active" },
    { type: "v1/nodes", field: "spec.unschedulable", given: { spec: { unschedulable: true } }, want: "true" },
    { type: "v1/secrets", field: "type", given: { type: "Opaque" }, want: "Opaque" },
    { type: "v1/events", field: "involvedObject.name", given: { involvedObject: { name: "x" } }, want: "x" },
    { type: "v1/events", field: "source", given: { reportingComponent: "r" }, want: "r" },
    { type: "events.k8s.io/v1/events", field: "regarding.name", given: { regarding: { name: "x" } }, want: "x" },
    { type: "batch/v1/jobs", field: "status.successful", given: { status: { succeeded: 2 } }, want: "2" },
    { type: "v1/replicationcontrollers", field: "status.replicas", given: {}, want: "0" },
  ])("$type $field", ({ type, field, given, want }) => {
    expect(typeOf(type).fieldSelectors.get(field)?.(given as unknown as KubeObject)).toBe(want);
  });

  it("every selector of every kind answers with text", () => {
    for (const type of types.values())
      for (const read of type.fieldSelectors.values()) expect(typeof read({ metadata: { name: "x" } } as KubeObject)).toBe("string");
  });
});

describe("generation", () => {
  const generation = (key: string, object: object) => typeOf(key).generationOf?.(object as KubeObject);

  it("follows a Deployment's spec and annotations", () => {
    expect(generation("apps/v1/deployments", { spec: { a: 1 }, metadata: { annotations: { b: "c" } } })).toEqual([{ a: 1 }, { b: "c" }]);
    expect(typeOf("v1/configmaps").generationOf).toBeUndefined();
    expect(generation("scheduling.k8s.io/v1/priorityclasses", { value: 1 })).toBeNull();
  });

  it("begins at one, and no client can set it", () => {
    const type = typeOf("apps/v1/deployments");
    const made = type.prepareForCreate(objectOf(type, { metadata: { name: "x", generation: 7 } }));
    expect(made.metadata.generation).toBe(1);
    const next = type.prepareForUpdate(objectOf(type, { metadata: { name: "x", generation: 9 } }), made, undefined);
    expect(next.metadata.generation).toBe(1);
  });
});

describe("status and spec stay apart", () => {
  const type = typeOf("apps/v1/deployments");
  const previous = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "x", uid: "u", labels: { a: "b" } },
    spec: { replicas: 1 },
    status: { replicas: 1 },
  } as unknown as KubeObject;
  const sent = {
    ...previous,
    metadata: { name: "x", labels: { c: "d" }, annotations: { e: "f" } },
    spec: { replicas: 5 },
    status: { replicas: 5 },
  } as unknown as KubeObject;

  it("a write of the object keeps the status", () => {
    expect(type.prepareForUpdate(sent, previous, undefined)).toMatchObject({
      spec: { replicas: 5 },
      status: { replicas: 1 },
      metadata: { uid: "u" },
    });
  });

  it("a write of the status keeps the spec and the labels, and takes annotations", () => {
    const next = type.prepareForUpdate(sent, previous, "status");
    expect(next).toMatchObject({
      spec: { replicas: 1 },
      status: { replicas: 5 },
      metadata: { labels: { a: "b" }, annotations: { e: "f" } },
    });
  });

  it("what was there from the beginning stays", () => {
    const old = {
      ...previous,
      metadata: { ...previous.metadata, creationTimestamp: "a", deletionTimestamp: "b", deletionGracePeriodSeconds: 3 },
    };
    const { metadata } = type.prepareForUpdate(sent, old, undefined);
    expect(metadata).toMatchObject({ creationTimestamp: "a", deletionTimestamp: "b", deletionGracePeriodSeconds: 3 });
  });
});

describe("Services get addresses", () => {
  const held = [
    { spec: { clusterIPs: ["10.0.0.1"], ports: [{ nodePort: 30_000 }], healthCheckNodePort: 30_001 } },
  ] as unknown as KubeObject[];
  const services = typeOf("v1/services", builtinTypes({ addresses: serviceAddresses("10.0.0.0/29", () => held) }));
  const create = (spec: object) =>
    services.prepareForCreate(services.applyDefaults(objectOf(services, { metadata: { name: "x", namespace: "n" }, spec })));

  it("the lowest that is free", () => {
    expect(create({ ports: [{ port: 80 }] })).toMatchObject({
      spec: { clusterIP: "10.0.0.2", clusterIPs: ["10.0.0.2"], ipFamilies: ["IPv4"] },
    });
  });

  it("and a port for each of theirs, when they are of that type", () => {
    const made = create({
      type: "LoadBalancer",
      externalTrafficPolicy: "Local",
      ports: [
        { port: 80, name: "a" },
        { port: 81, name: "b" },
      ],
    });
    expect(made).toMatchObject({ spec: { ports: [{ nodePort: 30_002 }, { nodePort: 30_003 }] } });
  });

  it.each([
    { spec: { clusterIP: "10.0.0.1" }, want: "failed to allocate IP 10.0.0.1: provided IP is already allocated" },
    {
      spec: { clusterIP: "10.9.0.1" },
      want: "failed to allocate IP 10.9.0.1: the provided network does not match the current range",
    },
    {
      spec: { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
      want: "provided port is not in the valid range. The range of valid ports is 30000-32767",
    },
    { spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_000 }] }, want: "provided port is already allocated" },
  ])("not one that $want", ({ spec, want }) => {
    expect(services.validate(create({ ports: [{ port: 80 }], ...spec }), undefined, undefined).map(({ detail }) => detail)).toEqual([
      expect.stringContaining(want),
    ]);
  });

  it("nothing is left when the range is used up", () => {
    const all = Array.from({ length: 6 }, (_, index) => ({ spec: { clusterIPs: [`10.0.0.${index + 1}`] } })) as unknown as KubeObject[];
    expect(serviceAddresses("10.0.0.0/29", () => all).freeClusterIP()).toBeUndefined();
    const ports = Array.from({ length: 2_768 }, (_, index) => ({ nodePort: 30_000 + index }));
    const taken = serviceAddresses("10.0.0.0/29", () => [{ spec: { ports } }] as unknown as KubeObject[]).takenNodePorts();
    expect([...freeNodePorts(taken)]).toEqual([]);
    const more = Array.from({ length: 3_000 }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
    expect(services.validate(create({ type: "NodePort", ports: more }), undefined, undefined)).toMatchObject([
      { detail: expect.stringContaining("failed to allocate a nodePort: range is full") as string },
    ]);
  });

  it("an update keeps what was given, and a new type drops what it has no use for", () => {
    const made = create({ type: "NodePort", ports: [{ port: 80 }], selector: { a: "b" } });
    const put = (spec: object) =>
      services.prepareForUpdate(services.applyDefaults(objectOf(services, { metadata: { name: "x" }, spec })), made, undefined);
    expect(put({ type: "NodePort", ports: [{ port: 80 }] })).toMatchObject({
      spec: { clusterIP: "10.0.0.2", ports: [{ nodePort: 30_002 }] },
    });
    const plain = put({ type: "ClusterIP", ports: [{ port: 80, nodePort: 30_002 }], externalTrafficPolicy: "Cluster" }) as unknown as {
      spec: Record<string, unknown>;
    };
    expect(plain.spec).not.toHaveProperty("externalTrafficPolicy");
    expect(JSON.stringify(plain.spec["ports"])).not.toContain("nodePort");
    const named = put({ type: "ExternalName", externalName: "a.b", clusterIP: "10.0.0.2", clusterIPs: ["10.0.0.2"] }) as unknown as {
      spec: Record<string, unknown>;
    };
    expect(named.spec).not.toHaveProperty("clusterIP");
  });

  it("an address may not change", () => {
    const made = create({ ports: [{ port: 80 }] });
    const next = {
      ...made,
      spec: { ...(made as unknown as { spec: object }).spec, clusterIP: "10.0.0.5", clusterIPs: ["10.0.0.5"] },
    } as KubeObject;
    expect(services.validate(next, made, undefined).map(({ field, detail }) => `${field}: ${detail}`)).toContain(
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.5"]: may not change once set',
    );
  });
});

describe("whatever a client sends", () => {
  const keys = [...types.keys()];
  const hostile = fc.dictionary(
    fc.constantFrom("spec", "status", "data", "metadata", "rules", "subjects", "webhooks", "__proto__", "constructor", "type", "limits"),
    fc.oneof(
      fc.jsonValue(),
      fc.constant({
        selector: { matchExpressions: [{ operator: "x" }] },
        template: { spec: { containers: [{}], volumes: [{}] } },
        ports: [{}],
      }),
    ),
  );

  it("nothing throws, and nothing given is changed", () => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), hostile, (key, body) => {
        const type = typeOf(key);
        const before = JSON.stringify(body);
        const decoded = type.decode(body);
        if (decoded.ok) {
          const made = type.prepareForCreate(type.applyDefaults(decoded.value.object));
          const frozen = JSON.stringify(made);
          type.validate(made, undefined, undefined);
          type.validate(type.prepareForUpdate(decoded.value.object, made, undefined), made, undefined);
          type.validate(type.prepareForUpdate(decoded.value.object, made, "status"), made, "status");
          type.warnings(made, undefined);
          type.warnings(decoded.value.object, made);
          type.cells(made, 0);
          type.fromStorage(type.toStorage(made));
          expect(JSON.stringify(made)).toBe(frozen);
        }
        expect(JSON.stringify(body)).toBe(before);
        expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
      }),
      { numRuns: 600 },
    );
  });

  it("what was read once reads the same again", () => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), hostile, (key, body) => {
        const type = typeOf(key);
        const first = type.decode(body);
        if (!first.ok) return;
        const again = type.decode(JSON.parse(JSON.stringify(first.value.object)) as Json);
        expect(again).toEqual({ ok: true, value: { object: first.value.object, findings: [] } });
        expect(type.applyDefaults(type.applyDefaults(first.value.object))).toEqual(type.applyDefaults(first.value.object));
      }),
      { numRuns: 600 },
    );
  });
});
