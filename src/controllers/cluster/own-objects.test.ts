import { describe, expect, test } from "vitest";
import { childCluster } from "../../../test/builders/observed-child.ts";
import { cellAddressProblem } from "./cell-address.ts";
import { addressPoolObjects, cellService } from "./own-objects.ts";
import { servedEndpoints } from "./served-endpoints.ts";

const endpoints = (host: string, type = "LoadBalancer") => ({ endpoints: { host, service: { type } } });
const endpointsOf = (host: string, type?: string) => {
  const { endpoints: parsed } = childCluster(endpoints(host, type)).spec;
  if (parsed === undefined) throw new Error("no endpoints");
  return parsed;
};

const servedAt = (host: string, ...former: readonly string[]) =>
  servedEndpoints(
    endpointsOf(host),
    former.map((one) => ({ ...endpointsOf(one), grpcPort: 50_052 })),
    () => true,
  );

describe("Service lattice-cell", () => {
  test("keeps former addresses and ports", () => {
    const [service] = cellService(servedAt("10.0.0.1", "10.0.0.9", "cell.example.com"), "lattice-system");
    expect(service?.metadata.annotations).toEqual({ "lbipam.cilium.io/ips": "10.0.0.1,10.0.0.9" });
    expect(service?.spec?.ports?.map(({ name, port }) => `${name} ${port}`)).toEqual([
      "grpc 50051",
      "bootstrap 8443",
      "proxy 8444",
      "grpc-former-1 50052",
    ]);
  });

  test("does not exist for a cluster that is no cell", () => {
    expect(cellService(undefined, "lattice-system")).toEqual([]);
  });

  test("asks Cilium for the address that children connect to", () => {
    expect(cellService(servedAt("10.0.0.1"), "lattice-system")[0]?.metadata.annotations).toEqual({
      "lbipam.cilium.io/ips": "10.0.0.1",
    });
    expect(cellService(servedAt("cell.example.com"), "lattice-system")[0]?.metadata.annotations).toBeUndefined();
  });

  test("uses its ports as node ports where they can be", () => {
    const served = servedEndpoints({ ...endpointsOf("10.0.0.1", "NodePort"), grpcPort: 30_001 }, [], () => true);
    expect(cellService(served, "lattice-system")[0]?.spec?.ports).toMatchObject([
      { port: 30_001, nodePort: 30_001 },
      { port: 8_443 },
      { port: 8_444 },
    ]);
    expect(cellService(served, "lattice-system")[0]?.spec?.ports?.[1]).not.toHaveProperty("nodePort");
  });
});

describe("the address of a cell", () => {
  const service = (...ips: readonly string[]) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "lattice-cell" },
    status: { loadBalancer: { ingress: [...ips.map((ip) => ({ ip })), {}] } },
  });
  const node = (address: string) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "a" },
    status: {
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: "a" },
      ],
    },
  });

  test.each([
    { name: "equal", given: endpointsOf("10.0.0.1"), service: service("10.0.0.1"), want: undefined },
    { name: "missing yet", given: endpointsOf("10.0.0.1"), service: undefined, want: "CellAddressPending" },
    { name: "another", given: endpointsOf("10.0.0.1"), service: service("10.0.0.2"), want: "CellAddressMismatch" },
    { name: "a name", given: endpointsOf("cell.example.com"), service: service("10.0.0.2"), want: undefined },
    { name: "loopback", given: endpointsOf("127.0.0.1"), service: undefined, want: undefined },
    { name: "behind another entrance", given: endpointsOf("10.0.0.1", "ClusterIP"), service: undefined, want: undefined },
    { name: "one of a node", given: endpointsOf("10.0.0.9", "NodePort"), service: undefined, want: undefined },
    { name: "none of a node", given: endpointsOf("10.0.0.8", "NodePort"), service: undefined, want: "CellAddressMismatch" },
  ])("is $name", ({ given, service: live, want }) => {
    expect(cellAddressProblem(given, live, [node("10.0.0.9")])?.reason).toBe(want);
  });
});

describe("the pool of addresses", () => {
  test("is applied for spec.networking.default, and announced by the nodes on Docker", () => {
    const networking = { default: { cidr: "172.18.255.0/28" } };
    expect(addressPoolObjects(childCluster())).toEqual([]);
    expect(addressPoolObjects(childCluster({ networking })).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      "cilium.io/v2 CiliumLoadBalancerIPPool",
      "cilium.io/v2alpha1 CiliumL2AnnouncementPolicy",
    ]);
    const local = childCluster({ networking, provider: { type: "local", kubernetes: { version: "1.36.3" } } });
    expect(addressPoolObjects(local)).toMatchObject([
      { kind: "CiliumLoadBalancerIPPool", spec: { blocks: [{ cidr: "172.18.255.0/28" }] } },
    ]);
  });
});
