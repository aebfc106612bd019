/**
 * What Cilium allows. The same evaluator was compared with Cilium 1.20.2's own code on random
 * policies; `test/conformance/cilium` keeps a sample of these cases.
 */
import { describe, expect, test } from "vitest";
import type { JsonObject, KubeObject } from "#kube";
import { CiliumPolicies, type Side } from "./cilium.ts";
import type { Outside, Peer, PodIdentity } from "./peers.ts";

function pod(
  namespace: string,
  labels: Readonly<Record<string, string>>,
  namespaceLabels: Readonly<Record<string, string>> = {},
): PodIdentity {
  return { kind: "pod", namespace, labels, namespaceLabels, serviceAccount: "default" };
}

const API = pod("prod", { app: "api", "lattice.dev/service": "api" }, { "lattice.dev/environment": "prod" });
const WEB = pod("prod", { app: "web" }, { "lattice.dev/environment": "prod" });
const DEV_WEB = pod("dev", { app: "web" }, { "lattice.dev/environment": "dev" });
const KUBELET: Outside = { kind: "outside", host: "", address: "169.254.7.127" };
const outside = (address: string | undefined, host = ""): Outside => ({ kind: "outside", host, address });

function policy(spec: JsonObject, { name = "p", namespace = "prod", kind = "CiliumNetworkPolicy" } = {}): KubeObject {
  const metadata = kind === "CiliumNetworkPolicy" ? { name, namespace } : { name };
  return { apiVersion: "cilium.io/v2", kind, metadata, spec } as KubeObject;
}

const clusterwide = (spec: JsonObject) => policy(spec, { name: "cw", kind: "CiliumClusterwideNetworkPolicy" });
const onApi = (spec: JsonObject) => policy({ endpointSelector: { matchLabels: { app: "api" } }, ...spec });
const DENY_ALL = policy({ endpointSelector: {}, ingress: [{}], egress: [{}] }, { name: "deny" });

type Ask = { readonly side?: Side; readonly at?: PodIdentity; readonly peer?: Peer; readonly port?: number; readonly protocol?: string };

function asks(policies: readonly KubeObject[], { side = "ingress", at = API, peer = WEB, port = 80, protocol = "TCP" }: Ask = {}): boolean {
  return new CiliumPolicies(policies).allows(side, at, peer, { port, protocol }).allowed;
}

type Row = { name: string; given: readonly KubeObject[]; ask?: Ask; want: boolean };

describe("default deny", () => {
  const rows: readonly Row[] = [
    { name: "without policies all is open", given: [], want: true },
    { name: "ingress: [{}] closes", given: [DENY_ALL], want: false },
    { name: "egress: [{}] closes", given: [DENY_ALL], ask: { side: "egress" }, want: false },
    {
      name: "ingress: [] with nothing else is refused, and denies nothing",
      given: [policy({ endpointSelector: {}, ingress: [], egress: [] })],
      want: true,
    },
    { name: "the same clusterwide", given: [clusterwide({ endpointSelector: {}, ingress: [], egress: [] })], want: true },
    {
      name: "ingress: [] beside real egress rules leaves ingress open",
      given: [policy({ endpointSelector: {}, ingress: [], egress: [{}] })],
      want: true,
    },
    { name: "a policy without a selector is refused", given: [policy({ ingress: [{}] })], want: true },
    {
      name: "a selector value that no label can have voids the whole policy",
      given: [
        policy({
          endpointSelector: { matchExpressions: [{ key: "io.kubernetes.pod.namespace", operator: "NotIn", values: ["capi-*"] }] },
          ingress: [{}],
        }),
      ],
      want: true,
    },
    {
      name: "also when it stands in a peer",
      given: [onApi({ ingress: [{ fromEndpoints: [{ matchLabels: { app: "capi-*" } }] }, {}] })],
      want: true,
    },
    {
      name: "one bad spec of several voids them all",
      given: [
        {
          ...policy({}),
          spec: undefined,
          specs: [{ endpointSelector: {}, ingress: [{}] }, { endpointSelector: {} }],
        } as unknown as KubeObject,
      ],
      want: true,
    },
    {
      name: "several good specs all count",
      given: [
        {
          ...policy({}),
          spec: undefined,
          specs: [
            { endpointSelector: {}, ingress: [{}] },
            { endpointSelector: {}, egress: [{}] },
          ],
        } as unknown as KubeObject,
      ],
      ask: { side: "egress" },
      want: false,
    },
    {
      name: "another namespace's policy closes nothing here",
      given: [policy({ endpointSelector: {}, ingress: [{}] }, { namespace: "dev" })],
      want: true,
    },
    {
      name: "an ingress policy leaves egress open",
      given: [policy({ endpointSelector: {}, ingress: [{}] })],
      ask: { side: "egress" },
      want: true,
    },
    { name: "other kinds are none", given: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }], want: true },
    {
      name: "Lattice's own namespaces are selected by their labels",
      given: [
        clusterwide({
          endpointSelector: { matchLabels: { "k8s:io.cilium.k8s.namespace.labels.lattice.dev/environment": "prod" } },
          ingress: [{}],
        }),
      ],
      want: false,
    },
    {
      name: "namespaces without these labels are not selected",
      given: [
        clusterwide({
          endpointSelector: { matchLabels: { "k8s:io.cilium.k8s.namespace.labels.lattice.dev/environment": "prod" } },
          ingress: [{}],
        }),
      ],
      ask: { at: DEV_WEB },
      want: true,
    },
    {
      name: "enableDefaultDeny: false allows without closing the rest",
      given: [
        clusterwide({
          endpointSelector: {},
          ingress: [{ fromCIDR: ["169.254.7.127/32"] }],
          enableDefaultDeny: { ingress: false, egress: false },
        }),
      ],
      want: true,
    },
    {
      name: "without enableDefaultDeny: false the same policy denies all other peers",
      given: [clusterwide({ endpointSelector: {}, ingress: [{ fromCIDR: ["169.254.7.127/32"] }] })],
      want: false,
    },
    {
      name: "it allows what another policy denies by default",
      given: [
        DENY_ALL,
        clusterwide({
          endpointSelector: {},
          ingress: [{ fromCIDR: ["169.254.7.127/32"] }],
          enableDefaultDeny: { ingress: false, egress: false },
        }),
      ],
      ask: { peer: KUBELET },
      want: true,
    },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(asks(given, ask)).toBe(want));
});

describe("peers", () => {
  const from = (rule: JsonObject) => [onApi({ ingress: [rule] })];
  const to = (...rules: readonly JsonObject[]) => [onApi({ egress: rules })];
  const web = { matchLabels: { app: "web" } };
  const rows: readonly Row[] = [
    { name: "a selector without a namespace means the policy's own", given: from({ fromEndpoints: [web] }), want: true },
    {
      name: "a selector without a namespace does not match other namespaces",
      given: from({ fromEndpoints: [web] }),
      ask: { peer: DEV_WEB },
      want: false,
    },
    {
      name: "a selector with a namespace matches that namespace",
      given: from({ fromEndpoints: [{ matchLabels: { app: "web", "k8s:io.kubernetes.pod.namespace": "dev" } }] }),
      ask: { peer: DEV_WEB },
      want: true,
    },
    {
      name: "a selector with a namespace does not match the policy's own",
      given: from({ fromEndpoints: [{ matchLabels: { app: "web", "io.kubernetes.pod.namespace": "dev" } }] }),
      want: false,
    },
    {
      name: "clusterwide, no namespace means any",
      given: [clusterwide({ endpointSelector: { matchLabels: { app: "api" } }, ingress: [{ fromEndpoints: [web] }] })],
      ask: { peer: DEV_WEB },
      want: true,
    },
    { name: "an empty selector is all of the namespace", given: from({ fromEndpoints: [{}] }), want: true },
    {
      name: "an empty selector does not match other namespaces",
      given: from({ fromEndpoints: [{}] }),
      ask: { peer: DEV_WEB },
      want: false,
    },
    { name: "an empty list matches no peer", given: from({ fromEndpoints: [] }), want: false },
    {
      name: "Flagger's pods have another app.kubernetes.io/name",
      given: from({ fromEndpoints: [{ matchLabels: { "app.kubernetes.io/name": "api" } }] }),
      ask: { peer: pod("prod", { "app.kubernetes.io/name": "api-primary", "lattice.dev/service": "api" }) },
      want: false,
    },
    {
      name: "Flagger's pods keep lattice.dev/service",
      given: from({ fromEndpoints: [{ matchLabels: { "lattice.dev/service": "api" } }] }),
      ask: { peer: pod("prod", { "app.kubernetes.io/name": "api-primary", "lattice.dev/service": "api" }) },
      want: true,
    },
    ...(["In", "NotIn", "Exists", "DoesNotExist", "Gt"] as const).map((operator, at) => ({
      name: `operator ${operator}`,
      given: from({ fromEndpoints: [{ matchExpressions: [{ key: "any:app", operator, ...(at < 2 ? { values: ["web"] } : {}) }] }] }),
      want: [true, false, true, false, false][at] ?? false,
    })),
    { name: "entity all matches every peer", given: from({ fromEntities: ["all"] }), ask: { peer: outside("1.2.3.4") }, want: true },
    { name: "entity cluster matches pods", given: from({ fromEntities: ["cluster"] }), ask: { peer: DEV_WEB }, want: true },
    {
      name: "entity cluster matches no peer outside the cluster",
      given: from({ fromEntities: ["cluster"] }),
      ask: { peer: outside("1.2.3.4") },
      want: false,
    },
    {
      name: "entity world matches peers outside the cluster",
      given: from({ fromEntities: ["world"] }),
      ask: { peer: outside("1.2.3.4") },
      want: true,
    },
    { name: "entity world matches no pod", given: from({ fromEntities: ["world"] }), want: false },
    { name: "entity world-ipv4", given: from({ fromEntities: ["world-ipv4"] }), ask: { peer: outside("1.2.3.4") }, want: true },
    {
      name: "entity world-ipv6 is the other",
      given: from({ fromEntities: ["world-ipv6"] }),
      ask: { peer: outside("1.2.3.4") },
      want: false,
    },
    { name: "entity world-ipv6", given: from({ fromEntities: ["world-ipv6"] }), ask: { peer: outside("fd00::1") }, want: true },
    { name: "host does not cover kubelet's probes", given: from({ fromEntities: ["host"] }), ask: { peer: KUBELET }, want: false },
    {
      name: "the address of kubelet's probes covers them",
      given: from({ fromCIDR: ["169.254.7.127/32"] }),
      ask: { peer: KUBELET },
      want: true,
    },
    { name: "CIDRs never match pods", given: from({ fromCIDR: ["0.0.0.0/0"] }), want: false },
    {
      name: "a CIDR matches an address in it",
      given: to({ toCIDR: ["10.0.0.0/8"] }),
      ask: { side: "egress", peer: outside("10.9.8.7") },
      want: true,
    },
    {
      name: "a CIDR does not match an address outside it",
      given: to({ toCIDR: ["10.0.0.0/8"] }),
      ask: { side: "egress", peer: outside("11.0.0.1") },
      want: false,
    },
    {
      name: "an address without a prefix length matches itself",
      given: to({ toCIDR: ["10.0.0.1"] }),
      ask: { side: "egress", peer: outside("10.0.0.1") },
      want: true,
    },
    { name: "IPv6 too", given: to({ toCIDR: ["2001:db8::/32"] }), ask: { side: "egress", peer: outside("2001:db8:1::9") }, want: true },
    {
      name: "an IPv4 CIDR does not match an IPv6 address",
      given: to({ toCIDR: ["0.0.0.0/0"] }),
      ask: { side: "egress", peer: outside("::1") },
      want: false,
    },
    {
      name: "a host without an address lies in no CIDR",
      given: to({ toCIDR: ["0.0.0.0/0"] }),
      ask: { side: "egress", peer: outside(undefined, "a.test") },
      want: false,
    },
    {
      name: "a CIDR set",
      given: to({ toCIDRSet: [{ cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] }] }),
      ask: { side: "egress", peer: outside("10.2.0.1") },
      want: true,
    },
    {
      name: "a CIDR set does not match its exceptions",
      given: to({ toCIDRSet: [{ cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] }] }),
      ask: { side: "egress", peer: outside("10.1.0.1") },
      want: false,
    },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(asks(given, ask)).toBe(want));
});

describe("DNS names outside the cluster", () => {
  const dns = (matchPattern: string) => ({ toPorts: [{ ports: [{ port: "53", protocol: "ANY" }], rules: { dns: [{ matchPattern }] } }] });
  const fqdn = (rule: JsonObject, port = "443") => ({ toFQDNs: [rule], toPorts: [{ ports: [{ port, protocol: "TCP" }] }] });
  const host = (name: string) => ({ side: "egress" as const, peer: outside(undefined, name), port: 443 });
  const rows: readonly { name: string; rules: readonly JsonObject[]; host: string; want: boolean }[] = [
    {
      name: "a name without a DNS rule matches no address",
      rules: [fqdn({ matchName: "api.test" })],
      host: "api.test",
      want: false,
    },
    {
      name: "a name with a DNS rule matches its addresses",
      rules: [dns("*"), fqdn({ matchName: "api.test" })],
      host: "api.test",
      want: true,
    },
    {
      name: "the DNS rule must cover the name",
      rules: [dns("*.other"), fqdn({ matchName: "api.test" })],
      host: "api.test",
      want: false,
    },
    { name: "names are compared without case", rules: [dns("*"), fqdn({ matchName: "API.test" })], host: "api.TEST", want: true },
    { name: "another name does not match", rules: [dns("*"), fqdn({ matchName: "api.test" })], host: "web.test", want: false },
    { name: "a pattern covers one label", rules: [dns("*"), fqdn({ matchPattern: "*.test" })], host: "api.test", want: true },
    { name: "a pattern does not cover two labels", rules: [dns("*"), fqdn({ matchPattern: "*.test" })], host: "a.api.test", want: false },
    { name: "a pattern inside a label", rules: [dns("*"), fqdn({ matchPattern: "a*i.te*t" })], host: "api.test", want: true },
    {
      name: "a pattern inside a label must match both ends",
      rules: [dns("*"), fqdn({ matchPattern: "a*b*c.test" })],
      host: "axbx.test",
      want: false,
    },
    { name: "* alone matches every name", rules: [dns("*"), fqdn({ matchPattern: "*" })], host: "a.b.c", want: true },
    { name: "the port must match too", rules: [dns("*"), fqdn({ matchName: "api.test" }, "80")], host: "api.test", want: false },
    { name: "a rule without a name matches no host", rules: [dns("*"), fqdn({})], host: "api.test", want: false },
  ];
  test.each(rows)("$name", ({ rules, host: name, want }) => expect(asks([onApi({ egress: rules })], host(name))).toBe(want));
});

describe("ports", () => {
  const on = (...ports: readonly JsonObject[]) => [onApi({ ingress: [{ fromEndpoints: [{}], toPorts: [{ ports }] }] })];
  const rows: readonly Row[] = [
    { name: "the listed port is open", given: on({ port: "80", protocol: "TCP" }), want: true },
    { name: "another port is not open", given: on({ port: "81", protocol: "TCP" }), want: false },
    { name: "another protocol is not open", given: on({ port: "80", protocol: "UDP" }), want: false },
    { name: "without a protocol every protocol matches", given: on({ port: "80" }), ask: { protocol: "UDP" }, want: true },
    { name: "ANY matches every protocol", given: on({ port: "80", protocol: "ANY" }), want: true },
    { name: "port 0 matches every port", given: on({ port: "0", protocol: "TCP" }), ask: { port: 9_999 }, want: true },
    { name: "endPort makes a range", given: on({ port: "70", endPort: 90, protocol: "TCP" }), want: true },
    { name: "a port after endPort is not open", given: on({ port: "70", endPort: 79, protocol: "TCP" }), want: false },
    { name: "several ports are alternatives", given: on({ port: "1", protocol: "TCP" }, { port: "80", protocol: "TCP" }), want: true },
    {
      name: "ports without a peer apply to every peer",
      given: [onApi({ ingress: [{ toPorts: [{ ports: [{ port: "80" }] }] }] })],
      ask: { peer: outside("1.1.1.1") },
      want: true,
    },
    {
      name: "mesh traffic uses 15008, whatever the target port",
      given: on({ port: "80", protocol: "TCP" }),
      ask: { port: 15_008 },
      want: false,
    },
    { name: "toPorts without ports matches every port", given: [onApi({ ingress: [{ fromEndpoints: [{}], toPorts: [{}] }] })], want: true },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(asks(given, ask)).toBe(want));
});

describe("deny rules", () => {
  const both = [
    onApi({
      ingress: [{ fromEndpoints: [{}] }],
      ingressDeny: [{ fromEndpoints: [{ matchLabels: { app: "web" } }], toPorts: [{ ports: [{ port: "80" }] }] }],
    }),
  ];
  test("take precedence over allow rules", () => expect(asks(both)).toBe(false));
  test("apply only to what they match", () => expect(asks(both, { port: 81 })).toBe(true));
  test("a policy with deny rules only denies everything else by default", () => {
    expect(asks([onApi({ egressDeny: [{ toCIDR: ["10.0.0.0/8"] }] })], { side: "egress" })).toBe(false);
  });
});

test("a verdict lists the policies that apply", () => {
  const policies = new CiliumPolicies([DENY_ALL, onApi({ ingress: [{ fromEndpoints: [{ matchLabels: { app: "web" } }] }] })]);
  const traffic = { port: 80, protocol: "TCP" };
  expect(policies.allows("ingress", API, WEB, traffic)).toEqual({ allowed: true, by: ["prod/p"] });
  expect(policies.allows("ingress", API, DEV_WEB, traffic)).toEqual({ allowed: false, by: ["prod/deny", "prod/p"] });
  expect(policies.allows("egress", DEV_WEB, API, traffic)).toEqual({ allowed: true, by: [] });
});
