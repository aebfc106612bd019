/**
 * What Cilium lets through, fact by fact. The same reader was compared with Cilium 1.20.2's own code on random
 * policies; `test/conformance/cilium` keeps a part of that.
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
    { name: "fact 1: ingress: [{}] closes", given: [DENY_ALL], want: false },
    { name: "fact 1: egress: [{}] closes", given: [DENY_ALL], ask: { side: "egress" }, want: false },
    {
      name: "fact 1: ingress: [] with nothing else is refused, and denies nothing",
      given: [policy({ endpointSelector: {}, ingress: [], egress: [] })],
      want: true,
    },
    { name: "fact 1: the same clusterwide", given: [clusterwide({ endpointSelector: {}, ingress: [], egress: [] })], want: true },
    {
      name: "ingress: [] beside real egress rules leaves ingress open",
      given: [policy({ endpointSelector: {}, ingress: [], egress: [{}] })],
      want: true,
    },
    { name: "a policy without a selector is refused", given: [policy({ ingress: [{}] })], want: true },
    {
      name: "fact 2: a selector value that no label can have voids the whole policy",
      given: [
        policy({
          endpointSelector: { matchExpressions: [{ key: "io.kubernetes.pod.namespace", operator: "NotIn", values: ["capi-*"] }] },
          ingress: [{}],
        }),
      ],
      want: true,
    },
    {
      name: "fact 2: also when it stands in a peer",
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
      name: "fact 2: Lattice's own namespaces are selected by their labels",
      given: [
        clusterwide({
          endpointSelector: { matchLabels: { "k8s:io.cilium.k8s.namespace.labels.lattice.dev/environment": "prod" } },
          ingress: [{}],
        }),
      ],
      want: false,
    },
    {
      name: "and others are not touched",
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
      name: "fact 12: enableDefaultDeny: false allows without closing the rest",
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
      name: "fact 12: without it the same policy cuts everybody else off",
      given: [clusterwide({ endpointSelector: {}, ingress: [{ fromCIDR: ["169.254.7.127/32"] }] })],
      want: false,
    },
    {
      name: "fact 12: and it opens what another closed",
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
    { name: "fact 11: a selector without a namespace means the policy's own", given: from({ fromEndpoints: [web] }), want: true },
    { name: "fact 11: and not another's", given: from({ fromEndpoints: [web] }), ask: { peer: DEV_WEB }, want: false },
    {
      name: "fact 11: with a namespace it means that one",
      given: from({ fromEndpoints: [{ matchLabels: { app: "web", "k8s:io.kubernetes.pod.namespace": "dev" } }] }),
      ask: { peer: DEV_WEB },
      want: true,
    },
    {
      name: "fact 11: and no longer its own",
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
    { name: "and no other", given: from({ fromEndpoints: [{}] }), ask: { peer: DEV_WEB }, want: false },
    { name: "an empty list matches no peer", given: from({ fromEndpoints: [] }), want: false },
    {
      name: "fact 16: Flagger's pods have another app.kubernetes.io/name",
      given: from({ fromEndpoints: [{ matchLabels: { "app.kubernetes.io/name": "api" } }] }),
      ask: { peer: pod("prod", { "app.kubernetes.io/name": "api-primary", "lattice.dev/service": "api" }) },
      want: false,
    },
    {
      name: "fact 16: and keep lattice.dev/service",
      given: from({ fromEndpoints: [{ matchLabels: { "lattice.dev/service": "api" } }] }),
      ask: { peer: pod("prod", { "app.kubernetes.io/name": "api-primary", "lattice.dev/service": "api" }) },
      want: true,
    },
    ...(["In", "NotIn", "Exists", "DoesNotExist", "Gt"] as const).map((operator, at) => ({
      name: `operator ${operator}`,
      given: from({ fromEndpoints: [{ matchExpressions: [{ key: "any:app", operator, ...(at < 2 ? { values: ["web"] } : {}) }] }] }),
      want: [true, false, true, false, false][at] ?? false,
    })),
    { name: "entity all is everybody", given: from({ fromEntities: ["all"] }), ask: { peer: outside("1.2.3.4") }, want: true },
    { name: "entity cluster is pods", given: from({ fromEntities: ["cluster"] }), ask: { peer: DEV_WEB }, want: true },
    { name: "and no peer outside the cluster", given: from({ fromEntities: ["cluster"] }), ask: { peer: outside("1.2.3.4") }, want: false },
    { name: "entity world is outside", given: from({ fromEntities: ["world"] }), ask: { peer: outside("1.2.3.4") }, want: true },
    { name: "and no pod", given: from({ fromEntities: ["world"] }), want: false },
    { name: "entity world-ipv4", given: from({ fromEntities: ["world-ipv4"] }), ask: { peer: outside("1.2.3.4") }, want: true },
    {
      name: "entity world-ipv6 is the other",
      given: from({ fromEntities: ["world-ipv6"] }),
      ask: { peer: outside("1.2.3.4") },
      want: false,
    },
    { name: "entity world-ipv6", given: from({ fromEntities: ["world-ipv6"] }), ask: { peer: outside("fd00::1") }, want: true },
    { name: "fact 12: host does not cover kubelet's probes", given: from({ fromEntities: ["host"] }), ask: { peer: KUBELET }, want: false },
    { name: "fact 12: their address does", given: from({ fromCIDR: ["169.254.7.127/32"] }), ask: { peer: KUBELET }, want: true },
    { name: "CIDRs never name pods", given: from({ fromCIDR: ["0.0.0.0/0"] }), want: false },
    {
      name: "a CIDR names what lies in it",
      given: to({ toCIDR: ["10.0.0.0/8"] }),
      ask: { side: "egress", peer: outside("10.9.8.7") },
      want: true,
    },
    { name: "and nothing else", given: to({ toCIDR: ["10.0.0.0/8"] }), ask: { side: "egress", peer: outside("11.0.0.1") }, want: false },
    {
      name: "a bare address is itself",
      given: to({ toCIDR: ["10.0.0.1"] }),
      ask: { side: "egress", peer: outside("10.0.0.1") },
      want: true,
    },
    { name: "IPv6 too", given: to({ toCIDR: ["2001:db8::/32"] }), ask: { side: "egress", peer: outside("2001:db8:1::9") }, want: true },
    { name: "families do not mix", given: to({ toCIDR: ["0.0.0.0/0"] }), ask: { side: "egress", peer: outside("::1") }, want: false },
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
      name: "without its exception",
      given: to({ toCIDRSet: [{ cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] }] }),
      ask: { side: "egress", peer: outside("10.1.0.1") },
      want: false,
    },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(asks(given, ask)).toBe(want));
});

describe("names outside", () => {
  const dns = (matchPattern: string) => ({ toPorts: [{ ports: [{ port: "53", protocol: "ANY" }], rules: { dns: [{ matchPattern }] } }] });
  const fqdn = (rule: JsonObject, port = "443") => ({ toFQDNs: [rule], toPorts: [{ ports: [{ port, protocol: "TCP" }] }] });
  const host = (name: string) => ({ side: "egress" as const, peer: outside(undefined, name), port: 443 });
  const rows: readonly { name: string; rules: readonly JsonObject[]; host: string; want: boolean }[] = [
    {
      name: "fact 13: a name without a DNS rule stands for no address",
      rules: [fqdn({ matchName: "api.test" })],
      host: "api.test",
      want: false,
    },
    { name: "fact 13: with one it does", rules: [dns("*"), fqdn({ matchName: "api.test" })], host: "api.test", want: true },
    {
      name: "fact 13: the DNS rule must cover the name",
      rules: [dns("*.other"), fqdn({ matchName: "api.test" })],
      host: "api.test",
      want: false,
    },
    { name: "names are compared without case", rules: [dns("*"), fqdn({ matchName: "API.test" })], host: "api.TEST", want: true },
    { name: "another name is another", rules: [dns("*"), fqdn({ matchName: "api.test" })], host: "web.test", want: false },
    { name: "a pattern covers one label", rules: [dns("*"), fqdn({ matchPattern: "*.test" })], host: "api.test", want: true },
    { name: "and not two", rules: [dns("*"), fqdn({ matchPattern: "*.test" })], host: "a.api.test", want: false },
    { name: "a pattern inside a label", rules: [dns("*"), fqdn({ matchPattern: "a*i.te*t" })], host: "api.test", want: true },
    { name: "that has to fit at both ends", rules: [dns("*"), fqdn({ matchPattern: "a*b*c.test" })], host: "axbx.test", want: false },
    { name: "a lone star is everything", rules: [dns("*"), fqdn({ matchPattern: "*" })], host: "a.b.c", want: true },
    { name: "the port counts", rules: [dns("*"), fqdn({ matchName: "api.test" }, "80")], host: "api.test", want: false },
    { name: "a rule without a name matches no host", rules: [dns("*"), fqdn({})], host: "api.test", want: false },
  ];
  test.each(rows)("$name", ({ rules, host: name, want }) => expect(asks([onApi({ egress: rules })], host(name))).toBe(want));
});

describe("ports", () => {
  const on = (...ports: readonly JsonObject[]) => [onApi({ ingress: [{ fromEndpoints: [{}], toPorts: [{ ports }] }] })];
  const rows: readonly Row[] = [
    { name: "the port that is named", given: on({ port: "80", protocol: "TCP" }), want: true },
    { name: "and no other", given: on({ port: "81", protocol: "TCP" }), want: false },
    { name: "nor another protocol", given: on({ port: "80", protocol: "UDP" }), want: false },
    { name: "without a protocol, any", given: on({ port: "80" }), ask: { protocol: "UDP" }, want: true },
    { name: "ANY is any", given: on({ port: "80", protocol: "ANY" }), want: true },
    { name: "0 is every port", given: on({ port: "0", protocol: "TCP" }), ask: { port: 9_999 }, want: true },
    { name: "endPort makes a range", given: on({ port: "70", endPort: 90, protocol: "TCP" }), want: true },
    { name: "with an end", given: on({ port: "70", endPort: 79, protocol: "TCP" }), want: false },
    { name: "several are alternatives", given: on({ port: "1", protocol: "TCP" }, { port: "80", protocol: "TCP" }), want: true },
    {
      name: "ports without a peer are for everybody",
      given: [onApi({ ingress: [{ toPorts: [{ ports: [{ port: "80" }] }] }] })],
      ask: { peer: outside("1.1.1.1") },
      want: true,
    },
    {
      name: "fact 10: what the mesh carries is on 15008, whatever the port behind it",
      given: on({ port: "80", protocol: "TCP" }),
      ask: { port: 15_008 },
      want: false,
    },
    { name: "toPorts without ports are all", given: [onApi({ ingress: [{ fromEndpoints: [{}], toPorts: [{}] }] })], want: true },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(asks(given, ask)).toBe(want));
});

describe("denials", () => {
  const both = [
    onApi({
      ingress: [{ fromEndpoints: [{}] }],
      ingressDeny: [{ fromEndpoints: [{ matchLabels: { app: "web" } }], toPorts: [{ ports: [{ port: "80" }] }] }],
    }),
  ];
  test("go before what is allowed", () => expect(asks(both)).toBe(false));
  test("only as far as they reach", () => expect(asks(both, { port: 81 })).toBe(true));
  test("a policy of denials alone closes all the rest", () => {
    expect(asks([onApi({ egressDeny: [{ toCIDR: ["10.0.0.0/8"] }] })], { side: "egress" })).toBe(false);
  });
});

test("a verdict names the policies that stand there", () => {
  const policies = new CiliumPolicies([DENY_ALL, onApi({ ingress: [{ fromEndpoints: [{ matchLabels: { app: "web" } }] }] })]);
  const traffic = { port: 80, protocol: "TCP" };
  expect(policies.allows("ingress", API, WEB, traffic)).toEqual({ allowed: true, by: ["prod/p"] });
  expect(policies.allows("ingress", API, DEV_WEB, traffic)).toEqual({ allowed: false, by: ["prod/deny", "prod/p"] });
  expect(policies.allows("egress", DEV_WEB, API, traffic)).toEqual({ allowed: true, by: [] });
});
