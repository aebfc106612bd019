/** EndpointSlices from Pods: the planned writes, and their number. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EndpointSlice, Node, Pod, PodPhase, Service } from "#kube";
import { MAX_ENDPOINTS, planSlices } from "./plan-slices.ts";

type ServiceSpec = NonNullable<Service["spec"]>;

function service(spec: ServiceSpec = {}, metadata: Partial<Service["metadata"]> = {}): Service {
  const ports = [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "shop", namespace: "default", uid: "service-uid", ...metadata },
    spec: { clusterIP: "10.0.0.1", ipFamilies: ["IPv4"], selector: { app: "shop" }, ports, ...spec },
  };
}

function pod(
  name: string,
  {
    ready = true,
    ip = `10.1.0.${name.length}`,
    ips = [ip],
    ...more
  }: Partial<Pod["spec"]> & { ready?: boolean; ip?: string; ips?: string[]; deleted?: boolean; phase?: PodPhase } = {},
): Pod {
  const { deleted, phase = "Running", ...spec } = more;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      labels: { app: "shop" },
      ...(deleted === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { nodeName: "node", containers: [], ...spec },
    status: { phase, podIPs: ips.map((one) => ({ ip: one })), conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

const node: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "node", labels: { "topology.kubernetes.io/zone": "z1" } } };
const nodeOf = (name: string) => (name === "node" ? node : undefined);
const plan = (given: Service, pods: readonly Pod[], existing: readonly EndpointSlice[] = []) =>
  planSlices({ service: given, pods, nodeOf }, existing);

/** The slices on the server after the plan. */
function performed(given: Service, pods: readonly Pod[], existing: readonly EndpointSlice[] = []): readonly EndpointSlice[] {
  const { create, update, remove } = plan(given, pods, existing);
  const gone = new Set([...remove, ...update].map(({ metadata }) => metadata.name));
  let serial = existing.length;
  const made = create.map((slice) => ({
    ...slice,
    metadata: { ...slice.metadata, name: `${slice.metadata.generateName}${(serial += 1)}` },
  }));
  return [...existing.filter(({ metadata }) => !gone.has(metadata.name)), ...update, ...made];
}

describe("an endpoint", () => {
  test("has the Pod, its node, its zone and its conditions", () => {
    const [slice] = plan(service(), [pod("a")]).create;
    expect(slice).toEqual({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "",
        generateName: "shop-",
        namespace: "default",
        labels: { "kubernetes.io/service-name": "shop", "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" },
        ownerReferences: [
          { apiVersion: "v1", kind: "Service", name: "shop", uid: "service-uid", controller: true, blockOwnerDeletion: true },
        ],
      },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints: [
        {
          addresses: ["10.1.0.1"],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: "node",
          zone: "z1",
          targetRef: { kind: "Pod", namespace: "default", name: "a", uid: "uid-a" },
        },
      ],
    });
  });

  test.each([
    { name: "not ready", given: pod("a", { ready: false }), publish: false, want: { ready: false, serving: false, terminating: false } },
    { name: "going", given: pod("a", { deleted: true }), publish: false, want: { ready: false, serving: true, terminating: true } },
    {
      name: "not ready, but published",
      given: pod("a", { ready: false }),
      publish: true,
      want: { ready: true, serving: false, terminating: false },
    },
  ])("of a Pod that is $name", ({ given, publish, want }) => {
    const [slice] = plan(service({ publishNotReadyAddresses: publish }), [given]).create;
    expect(slice?.endpoints?.[0]?.conditions).toEqual(want);
  });

  test("has a hostname under a Service of the Pod's subdomain", () => {
    const [slice] = plan(service(), [pod("a", { hostname: "h", subdomain: "shop" })]).create;
    expect(slice?.endpoints?.[0]?.hostname).toBe("h");
  });

  test.each([
    { given: "PreferClose", want: { forZones: [{ name: "z1" }] } },
    { given: "PreferSameNode", want: { forZones: [{ name: "z1" }], forNodes: [{ name: "node" }] } },
    { given: "Anywhere", want: undefined },
  ])("has the hints of $given", ({ given, want }) => {
    const [slice] = plan(service({ trafficDistribution: given }), [pod("a")]).create;
    expect(slice?.endpoints?.[0]?.hints).toEqual(want);
  });
});

describe("Pods that are left out", () => {
  test.each([
    { name: "finished ones", given: pod("a", { phase: "Succeeded" }) },
    { name: "those without an address", given: pod("a", { ips: [] }) },
    { name: "those of another family", given: pod("a", { ip: "fd00::1" }) },
  ])("$name", ({ given }) => {
    expect(plan(service(), [given]).create.flatMap(({ endpoints }) => endpoints ?? [])).toEqual([]);
  });

  test("Pods whose node is not known, with a message", () => {
    const { create, skipped } = plan(service(), [pod("a", { nodeName: "other" })]);
    expect([create.flatMap(({ endpoints }) => endpoints ?? []), skipped]).toEqual([
      [],
      ["skipping Pod a for Service default/shop: Node other Not Found"],
    ]);
    expect(plan(service({ publishNotReadyAddresses: true }), [pod("a", { nodeName: "other" })]).skipped).toEqual([]);
  });
});

describe("ports", () => {
  const named = service({ ports: [{ name: "http", port: 80, targetPort: "web", appProtocol: "h2c" }] });
  const offering = (name: string, containerPort: number, more: object = {}) =>
    pod(name, { containers: [{ name: "c", ports: [{ name: "web", containerPort }] }], ...more });

  test("a named port may have another number on each Pod: one slice each", () => {
    const { create } = plan(named, [offering("a", 8080), offering("bb", 9090), offering("ccc", 8080)]);
    expect(create.map(({ ports, endpoints }) => [ports, endpoints?.length])).toEqual([
      [[{ name: "http", port: 8080, protocol: "TCP", appProtocol: "h2c" }], 2],
      [[{ name: "http", port: 9090, protocol: "TCP", appProtocol: "h2c" }], 1],
    ]);
  });

  test("a sidecar's port counts; an init container's and another protocol's do not", () => {
    const sidecar = pod("a", { initContainers: [{ name: "s", restartPolicy: "Always", ports: [{ name: "web", containerPort: 7 }] }] });
    const init = pod("bb", { initContainers: [{ name: "s", ports: [{ name: "web", containerPort: 7 }] }] });
    const udp = pod("ccc", { containers: [{ name: "c", ports: [{ name: "web", containerPort: 8, protocol: "UDP" }] }] });
    const { create } = plan(named, [sidecar, init, udp]);
    expect(create.map(({ ports }) => ports?.map(({ port }) => port))).toEqual([[7], []]);
  });

  test("without a targetPort the Service's own port is used", () => {
    expect(plan(service({ ports: [{ port: 80 }] }), [pod("a")]).create[0]?.ports).toEqual([{ name: "", port: 80, protocol: "TCP" }]);
  });
});

describe("families", () => {
  const both = pod("a", { ips: ["10.1.0.1", "fd00::1"] });
  test.each([
    {
      name: "both",
      spec: { ipFamilies: ["IPv4", "IPv6"] },
      want: [
        ["IPv4", ["10.1.0.1"]],
        ["IPv6", ["fd00::1"]],
      ],
    },
    { name: "that of the address", spec: { ipFamilies: [], clusterIP: "fd00::10" }, want: [["IPv6", ["fd00::1"]]] },
    { name: "that of an IPv4 address", spec: { ipFamilies: [], clusterIP: "10.0.0.1" }, want: [["IPv4", ["10.1.0.1"]]] },
    {
      name: "both for headless ones that do not say",
      spec: { ipFamilies: [], clusterIP: "None" },
      want: [
        ["IPv4", ["10.1.0.1"]],
        ["IPv6", ["fd00::1"]],
      ],
    },
  ])("$name", ({ spec, want }) => {
    const { create } = plan(service(spec), [both]);
    expect(create.map(({ addressType, endpoints }) => [addressType, endpoints?.[0]?.addresses])).toEqual(want);
  });

  test("slices of a family that is no longer served are deleted", () => {
    const slices = performed(service({ ipFamilies: ["IPv4", "IPv6"] }), [both]);
    expect(plan(service(), [both], slices).remove.map(({ addressType }) => addressType)).toEqual(["IPv6"]);
  });
});

describe("labels", () => {
  test("are the Service's own, except three that the controller sets", () => {
    const given = service({ clusterIP: "None" }, { labels: { team: "a", "kubernetes.io/service-name": "lie" } });
    const slices = performed(given, [pod("a")]);
    expect(slices[0]?.metadata.labels).toEqual({
      team: "a",
      "service.kubernetes.io/headless": "",
      "kubernetes.io/service-name": "shop",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    });
    const relabelled = service({ clusterIP: "None" }, { labels: { team: "b" } });
    expect(plan(relabelled, [pod("a")], slices).update.map(({ metadata }) => metadata.labels?.["team"])).toEqual(["b"]);
  });
});

describe("the minimum of writes", () => {
  test("a Service without Pods has one empty slice, which is not written again", () => {
    const slices = performed(service(), []);
    expect(slices.map(({ endpoints, ports }) => [endpoints, ports])).toEqual([[[], []]]);
    expect(plan(service(), [], slices)).toEqual({ create: [], update: [], remove: [], skipped: [] });
  });

  test("the empty slice becomes the first one with endpoints, and empty again", () => {
    const empty = performed(service(), []);
    const filled = plan(service(), [pod("a")], empty);
    expect([filled.create, filled.update.map(({ metadata }) => metadata.name), filled.remove]).toEqual([[], ["shop-1"], []]);
    const back = plan(service(), [], filled.update);
    expect([back.create, back.update.map(({ endpoints, ports }) => [endpoints, ports]), back.remove]).toEqual([[], [[[], []]], []]);
  });

  test("a slice of an earlier Service with the same name is replaced, not reused", () => {
    const old = performed(service({}, { uid: "old" }), [pod("a")]);
    const next = plan(service(), [pod("a")], old);
    expect([next.create.length, next.update, next.remove.map(({ metadata }) => metadata.name)]).toEqual([1, [], ["shop-1"]]);
  });

  test("new endpoints are added to a slice that has room for all of them", () => {
    const pods = Array.from({ length: 150 }, (_, at) => pod(`p${at}`, { ip: `10.1.${Math.floor(at / 250)}.${at % 250}` }));
    const slices = performed(service(), pods);
    expect(slices.map(({ endpoints }) => endpoints?.length)).toEqual([100, 50]);
    const more = [...pods, pod("new", { ip: "10.2.0.1" })];
    expect(plan(service(), more, slices).update.map(({ endpoints }) => endpoints?.length)).toEqual([51]);
    const fewer = pods.slice(20);
    expect(plan(service(), [...fewer, pod("new", { ip: "10.2.0.1" })], slices).update.map(({ endpoints }) => endpoints?.length)).toEqual([
      81,
    ]);
  });

  test("from any Pods to any other Pods: every endpoint once, no slice too full, and a second plan is empty", () => {
    const anyPods = fc.uniqueArray(fc.record({ at: fc.nat(400), ready: fc.boolean(), port: fc.constantFrom(1, 2) }), {
      selector: ({ at }) => at,
      maxLength: 260,
    });
    const given = service({ ports: [{ name: "http", port: 80, targetPort: "web" }] });
    const podsOf = (entries: readonly { at: number; ready: boolean; port: number }[]) =>
      entries.map(({ at, ready, port }) =>
        pod(`p${at}`, {
          ready,
          ip: `10.1.${Math.floor(at / 200)}.${at % 200}`,
          containers: [{ name: "c", ports: [{ name: "web", containerPort: port }] }],
        }),
      );
    fc.assert(
      fc.property(fc.array(anyPods, { minLength: 1, maxLength: 4 }), (steps) => {
        let slices: readonly EndpointSlice[] = [];
        for (const entries of steps) {
          const pods = podsOf(entries);
          slices = performed(given, pods, slices);
          const names = slices.flatMap(({ endpoints }) => endpoints ?? []).map(({ targetRef }) => targetRef?.name ?? "");
          expect(names.toSorted()).toEqual(pods.map(({ metadata }) => metadata.name).toSorted());
          expect(slices.every(({ endpoints }) => (endpoints ?? []).length <= MAX_ENDPOINTS)).toBe(true);
          expect(plan(given, pods, slices)).toEqual({ create: [], update: [], remove: [], skipped: [] });
        }
      }),
      { numRuns: 40 },
    );
  });
});
