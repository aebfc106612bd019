/** Subsets of Endpoints. */
import { describe, expect, test } from "vitest";
import type { EndpointSubset, Pod, Service } from "#kube";
import { MAX_ADDRESSES, sameSubsets, subsetsOf, truncated } from "./subsets.ts";

function service(spec: NonNullable<Service["spec"]> = {}): Service {
  const ports = [{ name: "http", port: 80, targetPort: 8080 }];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "shop", namespace: "default" },
    spec: { clusterIP: "10.0.0.1", ipFamilies: ["IPv4"], ports, ...spec },
  };
}

function pod(
  name: string,
  ips: readonly string[],
  { ready = true, deleted = false, spec = {} }: { ready?: boolean; deleted?: boolean; spec?: Partial<Pod["spec"]> } = {},
): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: name, ...(deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
    spec: { nodeName: "n", containers: [], ...spec },
    status: { phase: "Running", podIPs: ips.map((ip) => ({ ip })), conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

const address = (name: string, ip: string) => ({
  ip,
  nodeName: "n",
  targetRef: { kind: "Pod" as const, namespace: "default", name, uid: name },
});
const http = { name: "http", port: 8080, protocol: "TCP" };

describe("subsets", () => {
  test("ready and not ready addresses are separate, ports with the same addresses share a subset", () => {
    const two = service({
      ports: [
        { name: "http", port: 80, targetPort: 8080 },
        { name: "admin", port: 81, targetPort: 8081 },
      ],
    });
    expect(
      subsetsOf(two, [pod("b", ["10.1.0.2"]), pod("a", ["10.1.0.1"], { ready: false }), pod("gone", ["10.1.0.3"], { deleted: true })]),
    ).toEqual([
      {
        addresses: [address("b", "10.1.0.2")],
        notReadyAddresses: [address("a", "10.1.0.1")],
        ports: [{ name: "admin", port: 8081, protocol: "TCP" }, http],
      },
    ]);
  });

  test("a named port that only some Pods have gets its own subset", () => {
    const named = service({
      ports: [
        { name: "http", port: 80, targetPort: "web", appProtocol: "h2c" },
        { port: 9, targetPort: 9 },
      ],
    });
    const web = { containers: [{ name: "c", ports: [{ name: "web", containerPort: 1 }] }] };
    expect(
      subsetsOf(named, [pod("a", ["10.1.0.1"], { spec: web }), pod("b", ["10.1.0.2"])]).map(({ ports, addresses }) => [
        ports,
        addresses?.length,
      ]),
    ).toEqual([
      [[{ port: 9, protocol: "TCP" }], 2],
      [[{ name: "http", port: 1, protocol: "TCP", appProtocol: "h2c" }], 1],
    ]);
  });

  test.each([
    { name: "the Service's first family", spec: { ipFamilies: ["IPv6", "IPv4"] }, want: "fd00::1" },
    { name: "that of its address", spec: { ipFamilies: [], clusterIP: "fd00::9" }, want: "fd00::1" },
    { name: "the Pod's first, for headless ones that do not say", spec: { ipFamilies: [], clusterIP: "None" }, want: "10.1.0.1" },
  ])("one family: $name", ({ spec, want }) => {
    expect(subsetsOf(service(spec), [pod("a", ["10.1.0.1", "fd00::1"])])[0]?.addresses?.[0]?.ip).toBe(want);
  });

  test("a Pod without the family is left out; a headless Service needs no ports, any other Service does", () => {
    expect(subsetsOf(service(), [pod("a", ["fd00::1"])])).toEqual([]);
    expect(subsetsOf(service({ ports: [], clusterIP: "None" }), [pod("a", ["10.1.0.1"])])).toEqual([
      { addresses: [address("a", "10.1.0.1")] },
    ]);
    expect(subsetsOf(service({ ports: [] }), [pod("a", ["10.1.0.1"])])).toEqual([]);
  });

  test("with publishNotReadyAddresses all Pods are ready, terminating or not", () => {
    const hostname = { hostname: "h", subdomain: "shop" };
    const [subset] = subsetsOf(service({ publishNotReadyAddresses: true }), [
      pod("a", ["10.1.0.1"], { ready: false, deleted: true, spec: hostname }),
    ]);
    expect(subset?.addresses?.map((one) => one.hostname)).toEqual(["h"]);
  });

  test("the order does not matter", () => {
    const a: EndpointSubset = { addresses: [address("a", "1")], ports: [http, { port: 1 }] };
    const b: EndpointSubset = { addresses: [address("b", "2")], ports: [http] };
    expect([sameSubsets([a, b], [b, { ...a, ports: [{ port: 1 }, http] }]), sameSubsets([a], [b])]).toEqual([true, false]);
  });
});

describe("more than a thousand addresses", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ip: `${at}` }));
  const sizes = (subsets: readonly EndpointSubset[] | undefined) =>
    subsets?.map((subset) => [subset.addresses?.length ?? 0, subset.notReadyAddresses?.length ?? 0]);

  test.each([
    { name: "all fit", given: [[600, 400]], want: undefined },
    {
      name: "those that are not ready are cut",
      given: [
        [600, 600],
        [100, 200],
      ],
      want: [
        [600, 225],
        [100, 75],
      ],
    },
    {
      name: "then the ready ones, in proportion",
      given: [
        [1500, 10],
        [500, 10],
      ],
      want: [
        [750, 0],
        [250, 0],
      ],
    },
  ])("$name", ({ given, want }) => {
    const subsets = given.map(([ready = 0, notReady = 0]) => ({ addresses: many(ready), notReadyAddresses: many(notReady) }));
    expect(sizes(truncated(subsets))).toEqual(want);
    expect(MAX_ADDRESSES).toBe(1_000);
  });
});
