/** What ztunnel and waypoints allow, as istiod translates policies for them. */
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

describe("at ztunnel: which workloads a policy selects", () => {
  const allow = (spec: JsonObject, namespace?: string) => policy({ rules: [rule({ principals: [WEB] })], ...spec }, namespace);
  const rows: readonly Row[] = [
    { name: "without policies all is open", given: [], want: true },
    { name: "spec: {} closes its namespace", given: [DENY_ALL], want: false },
    { name: "spec: {} of another namespace does not", given: [policy({}, "dev")], want: true },
    { name: "spec: {} in the root namespace closes every workload", given: [policy({}, "istio-system")], want: false },
    {
      name: "spec: {} in the root namespace closes gateways too",
      given: [policy({}, "istio-system")],
      ask: { principal: "cluster.local/ns/istio-ingress/sa/gateway-istio" },
      want: false,
    },
    { name: "a selector that matches", given: [DENY_ALL, allow({ selector: { matchLabels: { app: "api" } } })], want: true },
    { name: "a selector that does not match", given: [DENY_ALL, allow({ selector: { matchLabels: { app: "web" } } })], want: false },
    {
      name: "a root policy with a selector",
      given: [DENY_ALL, allow({ selector: { matchLabels: { app: "api" } } }, "istio-system")],
      want: true,
    },
    {
      name: "ztunnel ignores policies with targetRefs, so the agreed call is denied",
      given: [DENY_ALL, allow({ targetRefs: [{ kind: "Service", name: "api" }] })],
      want: false,
    },
    { name: "the old targetRef neither", given: [DENY_ALL, allow({ targetRef: { kind: "Service", name: "api" } })], want: false },
    {
      name: "AUDIT and CUSTOM neither allow nor deny",
      given: [policy({ action: "AUDIT", rules: [{}] }), policy({ action: "CUSTOM", rules: [{}] })],
      want: true,
    },
    { name: "other kinds are none", given: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }], want: true },
    {
      name: "a policy without a spec equals spec: {}",
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
    { name: "a principal includes its namespace", given: only(rule({ principals: [WEB] })), ask: { principal: DEV_WEB }, want: false },
    { name: "a principal has no spiffe:// prefix", given: only(rule({ principals: [`spiffe://${WEB}`] })), want: false },
    {
      name: "another trust domain is another principal",
      given: only(rule({ principals: [WEB] })),
      ask: { principal: "corp.test/ns/prod/sa/web" },
      want: false,
    },
    {
      name: "a caller outside the mesh has no principal",
      given: only(rule({ principals: ["*"] })),
      ask: { principal: undefined },
      want: false,
    },
    { name: "* matches every caller with a principal", given: only(rule({ principals: ["*"] })), want: true },
    { name: "a prefix", given: only(rule({ principals: ["cluster.local/ns/prod/*"] })), want: true },
    { name: "a suffix", given: only(rule({ principals: ["*/sa/web"] })), ask: { principal: DEV_WEB }, want: true },
    { name: "notPrincipals", given: only(rule({ notPrincipals: [WEB] })), want: false },
    { name: "notPrincipals allows other principals", given: only(rule({ notPrincipals: [WEB] })), ask: { principal: DEV_WEB }, want: true },
    { name: "namespaces", given: only(rule({ namespaces: ["prod"] })), want: true },
    { name: "notNamespaces", given: only(rule({ notNamespaces: ["prod"] })), want: false },
    { name: "serviceAccounts of the policy's namespace", given: only(rule({ serviceAccounts: ["web"] })), want: true },
    { name: "serviceAccounts of another", given: only(rule({ serviceAccounts: ["dev/web"] })), ask: { principal: DEV_WEB }, want: true },
    { name: "serviceAccounts that are others", given: only(rule({ serviceAccounts: ["web"] })), ask: { principal: DEV_WEB }, want: false },
    { name: "notServiceAccounts", given: only(rule({ notServiceAccounts: ["web"] })), want: false },
    { name: "addresses are unknown, and never allow", given: only(rule({ ipBlocks: ["0.0.0.0/0"] })), want: false },
    { name: "addresses are unknown, and always deny in a DENY", given: deny(rule({ ipBlocks: ["10.0.0.0/8"] })), want: false },
    { name: "all fields of a source must match", given: only(rule({ principals: [WEB], namespaces: ["dev"] })), want: false },
    {
      name: "several sources are alternatives",
      given: only({ from: [{ source: { namespaces: ["x"] } }, { source: { principals: [WEB] } }] }),
      want: true,
    },
    { name: "an empty rule matches every caller", given: only({}), ask: { principal: undefined }, want: true },
    { name: "no rule allows no caller", given: only(), want: false },
    { name: "empty lists match everything", given: only({ from: [], to: [], when: [] }), want: true },
    { name: "ports are those of the pod", given: only(rule({ principals: [WEB] }, { ports: ["8080"] })), want: true },
    { name: "ports are not those of the Service", given: only(rule({ principals: [WEB] }, { ports: ["80"] })), want: false },
    { name: "notPorts", given: only(rule({ principals: [WEB] }, { notPorts: ["8080"] })), want: false },
    {
      name: "ztunnel ignores an ALLOW rule with methods",
      given: only(rule({ principals: [WEB] }, { methods: ["GET"] })),
      want: false,
    },
    {
      name: "ztunnel ignores the whole rule, with its other operations",
      given: only({ to: [{ operation: { ports: ["8080"] } }, { operation: { paths: ["/"] } }] }),
      want: false,
    },
    { name: "ztunnel ignores an ALLOW rule with request principals", given: only(rule({ requestPrincipals: ["*"] })), want: false },
    {
      name: "an empty list of request principals has no effect",
      given: only(rule({ principals: [WEB] }, { methods: [], ports: ["8080"] })),
      want: true,
    },
    {
      name: "a DENY is enforced without its methods",
      given: deny(rule({ principals: [WEB] }, { methods: ["POST"] })),
      want: false,
    },
    {
      name: "a DENY is enforced with its ports",
      given: deny(rule({ principals: [WEB] }, { methods: ["POST"], ports: ["1"] })),
      want: true,
    },
    { name: "a DENY takes precedence over every ALLOW", given: [...only({}), ...deny(rule({ principals: [WEB] }))], want: false },
    { name: "a DENY that does not match denies nothing", given: deny(rule({ principals: [DEV_WEB] })), want: true },
    { name: "a condition on the connection", given: only({ when: [{ key: "source.namespace", values: ["prod"] }] }), want: true },
    {
      name: "a condition on the connection that is false",
      given: only({ when: [{ key: "source.principal", notValues: [WEB] }] }),
      want: false,
    },
    { name: "a condition on the port", given: only({ when: [{ key: "destination.port", values: ["8080"] }] }), want: true },
    { name: "a condition on an unknown attribute", given: only({ when: [{ key: "source.ip", values: ["1.1.1.1"] }] }), want: false },
    {
      name: "a condition on the request makes ztunnel ignore the rule",
      given: only({ when: [{ key: "request.headers[x]", values: ["y"] }] }),
      want: false,
    },
    {
      name: "a DENY with such a condition denies every caller that it might match",
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
    { name: "spec: {} of a namespace does not apply to the waypoint", given: [DENY_ALL], want: true },
    { name: "spec: {} of the root namespace does not apply to the waypoint", given: [policy({}, "istio-system")], want: true },
    { name: "a policy on the Gateway applies", given: [closed], want: false },
    {
      name: "a policy on the GatewayClass in the root namespace applies to all waypoints",
      given: [policy({ targetRefs: [{ kind: "GatewayClass", name: "istio-waypoint" }] }, "istio-system")],
      want: false,
    },
    {
      name: "a policy on the GatewayClass in another namespace does not apply",
      given: [policy({ targetRefs: [{ kind: "GatewayClass", name: "istio-waypoint" }] }, "dev")],
      want: true,
    },
    { name: "a policy on the Service applies", given: [closed, onService([rule({ principals: [WEB] })])], want: true },
    {
      name: "a policy on another Service does not apply",
      given: [closed, policy({ targetRefs: [{ kind: "Service", name: "web" }], rules: [{}] })],
      want: false,
    },
    { name: "ports are those of the Service", given: [onService([rule({ principals: [WEB] }, { ports: ["80"] })])], want: true },
    { name: "a method that matches", given: [onService([rule({}, { methods: ["GET"] })])], ask: { method: "GET" }, want: true },
    { name: "a method that does not match", given: [onService([rule({}, { methods: ["GET"] })])], ask: { method: "POST" }, want: false },
    { name: "without a given method, one allowed method is enough", given: [onService([rule({}, { methods: ["GET"] })])], want: true },
    { name: "notMethods", given: [onService([rule({}, { notMethods: ["GET"] })])], ask: { method: "GET" }, want: false },
    { name: "a path by prefix", given: [onService([rule({}, { paths: ["/api/*"] })])], ask: { path: "/api/x" }, want: true },
    { name: "a path by suffix", given: [onService([rule({}, { paths: ["*/health"] })])], ask: { path: "/a/health" }, want: true },
    { name: "another path", given: [onService([rule({}, { paths: ["/api/*"] })])], ask: { path: "/other" }, want: false },
    { name: "notPaths", given: [onService([rule({}, { notPaths: ["/admin"] })])], ask: { path: "/admin" }, want: false },
    { name: "hosts are unknown, and never allow", given: [onService([rule({}, { hosts: ["a.test"] })])], want: false },
    {
      name: "a DENY for a method denies it",
      given: [onService([rule({}, { methods: ["POST"] })], "DENY")],
      ask: { method: "POST" },
      want: false,
    },
    { name: "a DENY for one method does not deny the others", given: [onService([rule({}, { methods: ["POST"] })], "DENY")], want: true },
    { name: "a DENY of everything denies", given: [onService([{}], "DENY")], want: false },
  ];
  test.each(rows)("$name", ({ given, ask, want }) => expect(atWaypoint(given, ask)).toBe(want));
});

test("a verdict lists the policies that apply", () => {
  const policies = new AuthorizationPolicies([
    DENY_ALL,
    policy({ selector: { matchLabels: { app: "api" } }, rules: [rule({ principals: [WEB] })] }),
  ]);
  expect(policies.atWorkload(workload, request())).toEqual({ allowed: true, by: ["prod/p"] });
  expect(policies.atWorkload(workload, request({ principal: DEV_WEB }))).toEqual({ allowed: false, by: ["prod/deny", "prod/p"] });
  expect(policies.atWorkload({ namespace: "dev", labels: {} }, request())).toEqual({ allowed: true, by: [] });
});
