/** What ztunnel and waypoints let through, fact by fact, as istiod translates policies for them. */
import { describe, expect, test } from "vitest";
import type { JsonObject, KubeObject } from "#kube";
import { AuthorizationPolicies, type Request } from "./istio.ts";

function policy(spec: JsonObject, namespace = "prod", name = "p"): KubeObject {
  return { apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", metadata: { name, namespace }, spec } as KubeObject;
}

const WEB = "cluster.local/ns/prod/sa/web";
const DEV_WEB = "cluster.local/ns/dev/sa/web";
const DENY_ALL = policy({}, "prod", "deny");
const workload = { namespace: "prod", labels: { app: "api" } };
const behind = { namespace: "prod", name: "api", waypoint: "waypoint" };
const request = (more: Partial<Request> = {}): Request => ({ principal: WEB, port: 8080, ...more });

const atWorkload = (policies: readonly KubeObject[], more: Partial<Request> = {}) =>
  new AuthorizationPolicies(policies).atWorkload(workload, request(more)).allowed;
const atWaypoint = (policies: readonly KubeObject[], more: Partial<Request> = {}) =>
  new AuthorizationPolicies(policies).atWaypoint(behind, request({ port: 80, ...more })).allowed;

type Row = { name: string; given: readonly KubeObject[]; ask?: Partial<Request>; want: boolean };

const rule = (source: JsonObject, operation?: JsonObject): JsonObject => ({
  from: [{ source }],
  ...(operation === undefined ? {} : { to: [{ operation }] }),
});

describe("at ztunnel: who is bound", () => {
  const allow = (spec: JsonObject, namespace?: string) => policy({ rules: [rule({ principals: [WEB] })], ...spec }, namespace);
  const rows: readonly Row[] = [
    { name: "without policies all is open", given: [], want: true },
    { name: "spec: {} closes its namespace", given: [DENY_ALL], want: false },
    { name: "another namespace's does not", given: [policy({}, "dev")], want: true },
    { name: "fact 3: in the root namespace it closes everybody", given: [policy({}, "istio-system")], want: false },
    {
      name: "fact 3: gateways too",
      given: [policy({}, "istio-system")],
      ask: { principal: "cluster.local/ns/istio-ingress/sa/gateway-istio" },
      want: false,
    },
    { name: "a selector that fits", given: [DENY_ALL, allow({ selector: { matchLabels: { app: "api" } } })], want: true },
    { name: "one that does not", given: [DENY_ALL, allow({ selector: { matchLabels: { app: "web" } } })], want: false },
    {
      name: "a root policy with a selector",
      given: [DENY_ALL, allow({ selector: { matchLabels: { app: "api" } } }, "istio-system")],
      want: true,
    },
    {
      name: "fact 5: targetRefs are not for ztunnel: the agreed call is refused",
      given: [DENY_ALL, allow({ targetRefs: [{ kind: "Service", name: "api" }] })],
      want: false,
    },
    { name: "fact 5: the old targetRef neither", given: [DENY_ALL, allow({ targetRef: { kind: "Service", name: "api" } })], want: false },
    {
      name: "AUDIT and CUSTOM decide nothing",
      given: [policy({ action: "AUDIT", rules: [{}] }), policy({ action: "CUSTOM", rules: [{}] })],
      want: true,
    },
    { name: "other kinds are none", given: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }], want: true },
    {
      name: "a policy without a spec is spec: {}",
      given: [{ apiVersion: "security.istio.io/v1", kind: "AuthorizationPolicy", metadata: { name: "p", namespace: "prod" } }],
      want: false,
    },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(atWorkload(given, ask)).toBe(want));
});

describe("at ztunnel: rules", () => {
  const only = (...rules: readonly JsonObject[]) => [policy({ action: "ALLOW", rules })];
  const deny = (...rules: readonly JsonObject[]) => [policy({ action: "DENY", rules })];
  const rows: readonly Row[] = [
    { name: "a principal", given: only(rule({ principals: [WEB] })), want: true },
    { name: "is one of its namespace", given: only(rule({ principals: [WEB] })), ask: { principal: DEV_WEB }, want: false },
    { name: "fact 9: and has no spiffe:// before it", given: only(rule({ principals: [`spiffe://${WEB}`] })), want: false },
    {
      name: "fact 9: another trust domain is another principal",
      given: only(rule({ principals: [WEB] })),
      ask: { principal: "corp.test/ns/prod/sa/web" },
      want: false,
    },
    { name: "who is not in the mesh has none", given: only(rule({ principals: ["*"] })), ask: { principal: undefined }, want: false },
    { name: "* is anybody who has one", given: only(rule({ principals: ["*"] })), want: true },
    { name: "a prefix", given: only(rule({ principals: ["cluster.local/ns/prod/*"] })), want: true },
    { name: "a suffix", given: only(rule({ principals: ["*/sa/web"] })), ask: { principal: DEV_WEB }, want: true },
    { name: "notPrincipals", given: only(rule({ notPrincipals: [WEB] })), want: false },
    { name: "notPrincipals lets others in", given: only(rule({ notPrincipals: [WEB] })), ask: { principal: DEV_WEB }, want: true },
    { name: "namespaces", given: only(rule({ namespaces: ["prod"] })), want: true },
    { name: "notNamespaces", given: only(rule({ notNamespaces: ["prod"] })), want: false },
    { name: "serviceAccounts of the policy's namespace", given: only(rule({ serviceAccounts: ["web"] })), want: true },
    { name: "serviceAccounts of another", given: only(rule({ serviceAccounts: ["dev/web"] })), ask: { principal: DEV_WEB }, want: true },
    { name: "serviceAccounts that are others", given: only(rule({ serviceAccounts: ["web"] })), ask: { principal: DEV_WEB }, want: false },
    { name: "notServiceAccounts", given: only(rule({ notServiceAccounts: ["web"] })), want: false },
    { name: "addresses are not known here: never relied on", given: only(rule({ ipBlocks: ["0.0.0.0/0"] })), want: false },
    { name: "and feared in a DENY", given: deny(rule({ ipBlocks: ["10.0.0.0/8"] })), want: false },
    { name: "all fields of a source together", given: only(rule({ principals: [WEB], namespaces: ["dev"] })), want: false },
    {
      name: "several sources are alternatives",
      given: only({ from: [{ source: { namespaces: ["x"] } }, { source: { principals: [WEB] } }] }),
      want: true,
    },
    { name: "an empty rule is everybody", given: only({}), ask: { principal: undefined }, want: true },
    { name: "no rule allows no caller", given: only(), want: false },
    { name: "empty lists ask for nothing", given: only({ from: [], to: [], when: [] }), want: true },
    { name: "fact 8: ports are the pod's", given: only(rule({ principals: [WEB] }, { ports: ["8080"] })), want: true },
    { name: "fact 8: and not the Service's", given: only(rule({ principals: [WEB] }, { ports: ["80"] })), want: false },
    { name: "notPorts", given: only(rule({ principals: [WEB] }, { notPorts: ["8080"] })), want: false },
    {
      name: "fact 6: methods make ztunnel leave an ALLOW rule out",
      given: only(rule({ principals: [WEB] }, { methods: ["GET"] })),
      want: false,
    },
    {
      name: "fact 6: the whole of it, with its other operations",
      given: only({ to: [{ operation: { ports: ["8080"] } }, { operation: { paths: ["/"] } }] }),
      want: false,
    },
    { name: "fact 6: request principals too", given: only(rule({ requestPrincipals: ["*"] })), want: false },
    {
      name: "fact 6: an empty list of them asks for nothing",
      given: only(rule({ principals: [WEB] }, { methods: [], ports: ["8080"] })),
      want: true,
    },
    {
      name: "fact 6: a DENY is enforced without its methods",
      given: deny(rule({ principals: [WEB] }, { methods: ["POST"] })),
      want: false,
    },
    { name: "fact 6: but with its ports", given: deny(rule({ principals: [WEB] }, { methods: ["POST"], ports: ["1"] })), want: true },
    { name: "a DENY goes before every ALLOW", given: [...only({}), ...deny(rule({ principals: [WEB] }))], want: false },
    { name: "a DENY that does not fit denies nothing", given: deny(rule({ principals: [DEV_WEB] })), want: true },
    { name: "a condition on the connection", given: only({ when: [{ key: "source.namespace", values: ["prod"] }] }), want: true },
    { name: "that does not hold", given: only({ when: [{ key: "source.principal", notValues: [WEB] }] }), want: false },
    { name: "on the port", given: only({ when: [{ key: "destination.port", values: ["8080"] }] }), want: true },
    { name: "on what is not known here", given: only({ when: [{ key: "source.ip", values: ["1.1.1.1"] }] }), want: false },
    {
      name: "on the request, which leaves the rule out",
      given: only({ when: [{ key: "request.headers[x]", values: ["y"] }] }),
      want: false,
    },
    {
      name: "and denies every caller that it might match",
      given: deny({ when: [{ key: "request.headers[x]", values: ["y"] }] }),
      want: false,
    },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(atWorkload(given, ask)).toBe(want));
});

describe("at the waypoint", () => {
  const onService = (rules: readonly JsonObject[], action = "ALLOW") =>
    policy({ action, targetRefs: [{ kind: "Service", name: "api" }], rules });
  const closed = policy({ targetRefs: [{ kind: "Gateway", name: "waypoint" }] }, "prod", "deny-waypoint");
  const rows: readonly Row[] = [
    { name: "fact 3: a namespace's spec: {} does not bind it", given: [DENY_ALL], want: true },
    { name: "fact 3: nor one of the root namespace", given: [policy({}, "istio-system")], want: true },
    { name: "fact 3: one on the Gateway does", given: [closed], want: false },
    {
      name: "fact 3: and one on the class in the root namespace binds all",
      given: [policy({ targetRefs: [{ kind: "GatewayClass", name: "istio-waypoint" }] }, "istio-system")],
      want: false,
    },
    {
      name: "but not from elsewhere",
      given: [policy({ targetRefs: [{ kind: "GatewayClass", name: "istio-waypoint" }] }, "dev")],
      want: true,
    },
    { name: "fact 5: a rule on the Service is read here", given: [closed, onService([rule({ principals: [WEB] })])], want: true },
    {
      name: "of another Service it is not",
      given: [closed, policy({ targetRefs: [{ kind: "Service", name: "web" }], rules: [{}] })],
      want: false,
    },
    { name: "fact 8: ports are the Service's", given: [onService([rule({ principals: [WEB] }, { ports: ["80"] })])], want: true },
    { name: "a method that fits", given: [onService([rule({}, { methods: ["GET"] })])], ask: { method: "GET" }, want: true },
    { name: "one that does not", given: [onService([rule({}, { methods: ["GET"] })])], ask: { method: "POST" }, want: false },
    { name: "whichever method: some is allowed", given: [onService([rule({}, { methods: ["GET"] })])], want: true },
    { name: "notMethods", given: [onService([rule({}, { notMethods: ["GET"] })])], ask: { method: "GET" }, want: false },
    { name: "a path by prefix", given: [onService([rule({}, { paths: ["/api/*"] })])], ask: { path: "/api/x" }, want: true },
    { name: "a path by suffix", given: [onService([rule({}, { paths: ["*/health"] })])], ask: { path: "/a/health" }, want: true },
    { name: "another path", given: [onService([rule({}, { paths: ["/api/*"] })])], ask: { path: "/other" }, want: false },
    { name: "notPaths", given: [onService([rule({}, { notPaths: ["/admin"] })])], ask: { path: "/admin" }, want: false },
    { name: "hosts are not known here: never relied on", given: [onService([rule({}, { hosts: ["a.test"] })])], want: false },
    {
      name: "a DENY for a method denies it",
      given: [onService([rule({}, { methods: ["POST"] })], "DENY")],
      ask: { method: "POST" },
      want: false,
    },
    { name: "and not all of them", given: [onService([rule({}, { methods: ["POST"] })], "DENY")], want: true },
    { name: "a DENY of everything denies", given: [onService([{}], "DENY")], want: false },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(atWaypoint(given, ask)).toBe(want));
});

test("a verdict names the policies that stand there", () => {
  const policies = new AuthorizationPolicies([
    DENY_ALL,
    policy({ selector: { matchLabels: { app: "api" } }, rules: [rule({ principals: [WEB] })] }),
  ]);
  expect(policies.atWorkload(workload, request())).toEqual({ allowed: true, by: ["prod/p"] });
  expect(policies.atWorkload(workload, request({ principal: DEV_WEB }))).toEqual({ allowed: false, by: ["prod/deny", "prod/p"] });
  expect(policies.atWorkload({ namespace: "dev", labels: {} }, request())).toEqual({ allowed: true, by: [] });
});
