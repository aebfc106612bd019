/** External services: one ServiceEntry per namespace and host, and the egress rules of the caller. */
import { describe, expect, test } from "vitest";
import { fieldAt, formatYamlDocuments, type KubeObject } from "#kube";
import { calls, external, meshOf, service } from "../objects.test-support.ts";

type Nodes = Parameters<typeof meshOf>[0];

const entries = (nodes: Nodes, id = "prod/x") => meshOf(nodes).policiesOf(id);
const brief = (objects: readonly KubeObject[]) =>
  objects.map((object) => {
    const ports = fieldAt(object, "spec", "ports") as readonly { number: number; protocol: string }[];
    return `${object.metadata.name}: ${(fieldAt(object, "spec", "hosts") as readonly string[]).join()} ${ports.map(({ number, protocol }) => `${number}/${protocol}`).join()}`;
  });

test("a DNS name", () =>
  expect(formatYamlDocuments(entries([external("prod/x", [], "https://api.stripe.com")]))).toMatchInlineSnapshot(`
    "---
    apiVersion: networking.istio.io/v1
    kind: ServiceEntry
    metadata:
      name: x
      namespace: prod
      labels:
        app.kubernetes.io/name: x
        app.kubernetes.io/managed-by: lattice
        networking.istio.io/enable-autoallocate-ip: 'false'
        istio.io/use-waypoint: none
    spec:
      hosts:
        - api.stripe.com
      location: MESH_EXTERNAL
      resolution: DNS
      ports:
        - number: 443
          name: tls-443
          protocol: TLS
    "
  `));
test("an IPv4 address", () =>
  expect(formatYamlDocuments(entries([external("prod/x", [], "tcp://203.0.113.7:5432")]))).toMatchInlineSnapshot(`
  "---
  apiVersion: networking.istio.io/v1
  kind: ServiceEntry
  metadata:
    name: x
    namespace: prod
    labels:
      app.kubernetes.io/name: x
      app.kubernetes.io/managed-by: lattice
      networking.istio.io/enable-autoallocate-ip: 'false'
      istio.io/use-waypoint: none
  spec:
    hosts:
      - 203-0-113-7-fec52565.x.prod.external
    addresses:
      - 203.0.113.7/32
    location: MESH_EXTERNAL
    resolution: STATIC
    ports:
      - number: 5432
        name: tcp-5432
        protocol: TCP
    endpoints:
      - address: 203.0.113.7
  "
`));
test("an IPv6 address", () => {
  expect(fieldAt(entries([external("prod/x", [], "tcp://[2001:db8::7]:5432")])[0], "spec")).toMatchObject({
    addresses: ["2001:db8::7/128"],
    endpoints: [{ address: "2001:db8::7" }],
    resolution: "STATIC",
  });
});

test("several hosts have an entry each, several ports of one host share it, and the scheme sets the protocol", () => {
  const urls = ["https://a.test", "http://a.test:8080", "grpc://b.test:9000", "mongodb://b.test:27017", "tcp://b.test:1"];
  expect(brief(entries([external("prod/x", [], ...urls)]))).toEqual([
    expect.stringMatching(/^x-a-test-[0-9a-f]{8}: a\.test 443\/TLS,8080\/HTTP$/),
    expect.stringMatching(/^x-b-test-[0-9a-f]{8}: b\.test 1\/TCP,9000\/GRPC,27017\/MONGO$/),
  ]);
});

test("a long host gives an object name of legal length", () => {
  const [first] = entries([external("prod/x", [], `https://${"very-long.".repeat(20)}test`, "https://b.test")]).toReversed();
  expect(first?.metadata.name).toMatch(/^x-[-a-z0-9]{1,40}-[0-9a-f]{8}$/);
});

describe("two external services with the same host", () => {
  const nodes = [
    external("prod/b", [], "https://s.test:8443"),
    external("prod/a", [], "https://s.test"),
    external("dev/c", [], "https://s.test"),
  ];
  test("share one entry, owned by the first, with the ports of both", () => {
    const mesh = meshOf(nodes);
    expect([brief(mesh.policiesOf("prod/a")), mesh.policiesOf("prod/b")]).toEqual([["a: s.test 443/TLS,8443/TLS"], []]);
    expect(brief(mesh.policiesOf("dev/c"))).toEqual(["c: s.test 443/TLS"]);
  });
  test("when the first is deleted, the other owns the entry, and the services to compile again are returned", () => {
    const mesh = meshOf(nodes);
    mesh.policiesOf("prod/b");
    expect([...mesh.remove("prod/a").services].toSorted()).toEqual(["prod/a", "prod/b"]);
    expect(brief(mesh.policiesOf("prod/b"))).toEqual(["b: s.test 8443/TLS"]);
  });
  test("when one changes its port, the other's entry changes", () => {
    const mesh = meshOf(nodes);
    mesh.policiesOf("prod/a");
    expect([...mesh.put(external("prod/b", [], "https://s.test:9443")).services].toSorted()).toEqual(["prod/a", "prod/b"]);
    expect(brief(mesh.policiesOf("prod/a"))).toEqual(["a: s.test 443/TLS,9443/TLS"]);
  });
});

describe("the caller", () => {
  const egress = (...urls: readonly string[]) => {
    const mesh = meshOf([service("prod/a", [calls("prod/x")]), external("prod/x", ["prod/a"], ...urls)]);
    const policy = mesh.policiesOf("prod/a").find(({ kind }) => kind === "CiliumNetworkPolicy");
    return (fieldAt(policy, "spec", "egress") as readonly unknown[]).slice(1);
  };
  const tcp = (port: string) => [{ ports: [{ port, protocol: "TCP" }] }];
  test("has egress rules by name for DNS names", () =>
    expect(egress("https://b.test", "https://a.test")).toEqual([
      { toFQDNs: [{ matchName: "a.test" }, { matchName: "b.test" }], toPorts: tcp("443") },
    ]));
  test("has egress rules by CIDR for addresses", () =>
    expect(egress("tcp://1.2.3.4:5", "tcp://[fd00::1]:5")).toEqual([{ toCIDR: ["1.2.3.4/32", "fd00::1/128"], toPorts: tcp("5") }]));
  test("has a rule per port", () => {
    expect(egress("https://a.test", "http://b.test", "https://1.2.3.4")).toEqual([
      { toFQDNs: [{ matchName: "b.test" }], toPorts: tcp("80") },
      { toCIDR: ["1.2.3.4/32"], toPorts: tcp("443") },
      { toFQDNs: [{ matchName: "a.test" }], toPorts: tcp("443") },
    ]);
  });
});
