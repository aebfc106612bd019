/** Partly valid requests: real paths with broken segments, real options with invalid values, real bodies with missing fields. */
import { apiVersionOf, type Json } from "#kube";
import type { ResourceType } from "#kube-server";
import { binaryBody, bodyText, damagedText } from "./fuzz-bodies.ts";
import { hostile } from "./fuzz-hostile-specs.ts";
import { objectFor } from "./fuzz-objects.ts";
import { chance, NASTY_NAMES, pick, type Random } from "./fuzz-values.ts";

/** Everything that a replay needs, as plain JSON. */
export type FuzzRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One character per byte when it is binary. */
  readonly body: string | undefined;
  readonly binary?: true;
  readonly sender?: Sender;
};

/** The senders of requests. The world has their tokens, if any. */
export const SENDERS = ["admin", "editor", "viewer", "outsider", "account", "anonymous", "wrong token"] as const;
export type Sender = (typeof SENDERS)[number];

const USUAL: ReadonlySet<string> = new Set(["configmaps", "secrets", "pods", "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "services", "ingresses", "networkpolicies", "horizontalpodautoscalers", "persistentvolumeclaims", "roles", "leases", "events", "widgets", "customresourcedefinitions", "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "resourcequotas", "limitranges", "rolebindings", "clusterroles", "clusterrolebindings", "serviceaccounts", "gears"]); // prettier-ignore

const CONTENT_TYPES: readonly [string, ...string[]] = ["application/json", "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml", "application/apply-patch+yaml", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor", "application/apply-patch+cbor", "multipart/form-data; boundary=x", "text/plain", "", "nonsense", "application/json; charset=latin-1", "application/json;;;"]; // prettier-ignore

const ACCEPTS: readonly [string, ...string[]] = ["application/json", "*/*", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/vnd.kubernetes.protobuf", "application/json;as=Nonsense;v=v9", "text/html;q=0.1", ";;;", "a/b/c", "application/json;q=nan", ""]; // prettier-ignore

const continued = (token: Json): string => Buffer.from(JSON.stringify(token)).toString("base64url");
const CONTINUES: readonly string[] = [{ v: "meta.k8s.io/v1", rv: 5, start: "default/a\u0000" }, { v: "meta.k8s.io/v1", rv: -1, start: "a/b\u0000" }, { v: "meta.k8s.io/v1", rv: 1e30, start: "../../" }, { v: "meta.k8s.io/v1", rv: 90, start: "/" }, { v: "meta.k8s.io/v2", rv: 1 }, { v: 1, start: {} }].map(continued); // prettier-ignore

const OPTIONS: readonly [readonly [string, ...string[]], ...(readonly [string, ...string[]])[]] = [
  ["limit", "0", "1", "-1", "3", "99999999999999999999", "x", ""],
  ["continue", "abc", ...CONTINUES, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8ifQ", "%00", "e30", "bnVsbA", "W10"],
  ["resourceVersion", "0", "1", "5", "99999999", "-1", "x", "1.5", "18446744073709551616"],
  ["resourceVersionMatch", "Exact", "NotOlderThan", "Nonsense"],
  ["labelSelector", "app=a", "app in (a,b)", "app in (", "!app", "a=b=c", "app>1", "x!=", ",,", "__proto__=a", "app notin (,)", "(".repeat(500), "a in (".repeat(300), "app=a,".repeat(3_000), "\u0000", `${"x".repeat(64)}=a`, `a/b/c`, "app in (a),app notin (a)", "tier,!tier"],
  ["fieldSelector", "metadata.name=a", "metadata.namespace!=b", "spec.nodeName=", "nonsense=1", "metadata.name", "a\\,b=c", "__proto__=x", "==", "metadata.name=\\"],
  ["watch", "1", "true", "0", "x", ""],
  ["timeoutSeconds", "1", "0", "-1", "x", "1e99"],
  ["allowWatchBookmarks", "1", "x"],
  ["sendInitialEvents", "true", "false", "x"],
  ["dryRun", "All", "None", "", "all"],
  ["fieldManager", "a", "b", "", "x".repeat(200), "\u0000", "__proto__"],
  ["force", "true", "false", "x"],
  ["fieldValidation", "Strict", "Warn", "Ignore", "Nonsense", ""],
  ["propagationPolicy", "Foreground", "Orphan", "Background", "Nonsense"],
  ["gracePeriodSeconds", "0", "-1", "5", "x", "99999999999"],
  ["orphanDependents", "true", "x"],
  ["pretty", "true", "x"],
  ["includeObject", "None", "Object", "Nonsense"],
  ["__proto__", "1"],
  ["limit=1&limit", "2"],
]; // prettier-ignore

const usualTypes = new WeakMap<readonly ResourceType[], readonly ResourceType[]>();

function usualOf(types: readonly ResourceType[]): readonly ResourceType[] {
  const known = usualTypes.get(types) ?? types.filter(({ resource }) => USUAL.has(resource.plural));
  usualTypes.set(types, known);
  return known;
}

/** `types` must not change during a run, so that a seed alone reproduces the requests, whatever the state of the server. */
export function fuzzRequest(random: Random, types: readonly ResourceType[]): FuzzRequest {
  const usual = usualOf(types);
  const from = chance(random, 0.75) && usual.length > 0 ? usual : types;
  const type = from[Math.floor(random() * from.length)];
  if (type === undefined) return { method: "GET", url: "/api", headers: {}, body: undefined };
  return requestOn(random, type);
}

function requestOn(random: Random, type: ResourceType): FuzzRequest {
  const { resource } = type;
  const method = chance(random, 0.02) ? pick(random, ["HEAD", "OPTIONS", "BREW", "CONNECT", "TRACE"]) : pick(random, METHODS);
  const name = chance(random, 0.1) ? pick(random, NASTY_NAMES) : pick(random, ["a", "b", "c", "gears.fuzz.test"]);
  const contentType = chance(random, 0.1) ? pick(random, CONTENT_TYPES) : usualType(random, method);
  const usualObject = objectFor(resource.plural, apiVersionOf(resource), resource.kind, name);
  const object = chance(random, 0.3) ? hostile(random, resource.plural, usualObject) : usualObject;
  const isBodiless = method === "GET" || method === "HEAD" || (method === "DELETE" && chance(random, 0.6));
  const headers = {
    accept: chance(random, 0.2) ? pick(random, ACCEPTS) : "application/json",
    "content-type": contentType,
    "user-agent": chance(random, 0.1) ? pick(random, ["", "/", "x".repeat(500), "é", "kubectl/v1.36 (linux)"]) : "fuzz/1",
    ...(chance(random, 0.05) ? oddHeaders(random) : {}),
  };
  const sender = chance(random, 0.8) ? "admin" : pick(random, SENDERS);
  const url = `${pathOf(random, type, { method, name })}${queryOf(random)}`;
  if (isBodiless) return { method, url, headers, body: undefined, sender };
  if (/protobuf|cbor/.test(contentType)) return { method, url, headers, body: binaryBody(random, object), binary: true, sender };
  const body = bodyText(random, object, contentType);
  return chance(random, 0.03)
    ? { method, url, headers, body: damagedText(random, body), binary: true, sender }
    : { method, url, headers, body, sender };
}

/** Well-formed tokens that belong to no user. */
const jwt = (head: Json, claims: Json | string): string =>
  `Bearer ${[JSON.stringify(head), typeof claims === "string" ? claims : JSON.stringify(claims), "signature"].map((part) => Buffer.from(part).toString("base64url")).join(".")}`;
const issuer = "https://kubernetes.default.svc.cluster.local";
const TOKENS: readonly string[] = [
  jwt({ alg: "none" }, { iss: issuer, sub: "system:serviceaccount:default:a" }),
  jwt({ alg: "RS256", kid: "__proto__" }, { iss: issuer, aud: 1, exp: "x" }),
  jwt({ alg: "ES256", kid: ["constructor"] }, { iss: issuer, "kubernetes.io": { namespace: { ["__proto__"]: 1 } }, exp: 1e308 }),
  jwt([], "[".repeat(10_000)),
  jwt(null, "null"),
  "Bearer ..",
  "Bearer e30.e30.",
];

const ODD_HEADERS: readonly [readonly [string, ...string[]], ...(readonly [string, ...string[]])[]] = [
  ["impersonate-user", "viewer", "", "system:serviceaccount:default:a", "system:node:n", "__proto__", "x".repeat(3_000)],
  ["impersonate-group", "system:masters", "a", ""],
  ["impersonate-uid", "1", ""],
  ["impersonate-extra-__proto__", "x"],
  ["impersonate-extra-a%2fb%zz", "x"],
  ["content-encoding", "gzip", "br", "nonsense"],
  ["accept-encoding", "gzip", "*;q=0"],
  ["x-forwarded-for", "127.0.0.1", "a, b, c"],
  ["expect", "100-continue", "nonsense"],
  ["upgrade", "websocket", "SPDY/3.1"],
  ["connection", "upgrade", "close"],
  ["x-http-method-override", "DELETE"],
  ["authorization", "Bearer", "Bearer ", "bearer admin-token", "Bearer admin-token extra", "Basic YWRtaW46", "Basic %%%", "Negotiate x", "\u00ff", `Bearer ${"x".repeat(30_000)}`, ...TOKENS],
  ["sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.YWRtaW4tdG9rZW4, v4.channel.k8s.io", "base64url.bearer.authorization.k8s.io.%%%"],
  ["if-match", "*", "1"],
  ["cookie", "a=b; __proto__=c"],
  ["__proto__", "polluted"],
  ["constructor", "polluted"],
  ["x-long", "y".repeat(20_000)],
]; // prettier-ignore

function oddHeaders(random: Random): Readonly<Record<string, string>> {
  const many = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const [name, ...values] = pick(random, ODD_HEADERS);
    return [name, values[Math.floor(random() * values.length)] ?? ""] as const;
  });
  return Object.fromEntries(many);
}

const METHODS: readonly [string, ...string[]] = [
  "POST",
  "POST",
  "POST",
  "PUT",
  "PUT",
  "PATCH",
  "PATCH",
  "PATCH",
  "PATCH",
  "PATCH",
  "GET",
  "GET",
  "DELETE",
];

function usualType(random: Random, method: string): string {
  if (method !== "PATCH") return chance(random, 0.1) ? "application/yaml" : "application/json";
  return pick(random, [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+yaml",
    "application/apply-patch+yaml",
  ]);
}

function pathOf(random: Random, { resource, subresources }: ResourceType, { method, name }: { method: string; name: string }): string {
  if (chance(random, 0.04)) return pick(random, ["/", "/api", "/apis", "/openapi/v2", "/openapi/v3", "/version", "/healthz", "/livez/etcd", "/readyz?verbose", "//", "/api/v1/", "/apis/apps", "/openapi/v3/apis/apps/v1", "/%", "/api/%ff", "/api/v1/namespaces/%00/pods", `/${"a/".repeat(3_000)}`, "/api/v1/watch", "/api/v1/namespaces//pods", "*", "/apis/__proto__/v1/x", "/openapi/v3/api/__proto__", "/api/v1/namespaces/default%2Fpods/a", "/api/v1/namespaces/default/configmaps/a%2Fstatus", "/api/v1/namespaces/default/pods/a%00b/log", "/api%2Fv1%2Fnamespaces", "/api/v1/namespaces/%E0%A4%A/pods", "/api/v1/../../etc/passwd", "/api/v1/namespaces/default/services/http:a:80/proxy/%2e%2e/x", "/api/v1/nodes/a/proxy/logs/..%2f..%2f", "/metrics", "/logs/", "/debug/pprof/", "/.well-known/openid-configuration", "/openid/v1/jwks", "/api/v1/namespaces/default/pods/a/exec?command=x", "/apis/metrics.k8s.io/v1beta1/pods", "/api/v1/namespaces/default/pods/a/eviction", "/\u0000"]); // prettier-ignore
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const space =
    resource.namespaced && !chance(random, 0.08)
      ? `/namespaces/${chance(random, 0.08) ? pick(random, ["kube-system", "a", "b", "nowhere", "__proto__", "%2e%2e"]) : "default"}`
      : "";
  const named = method === "POST" ? chance(random, 0.08) : !chance(random, 0.05);
  const below = [...subresources];
  const sub = named && chance(random, 0.1) ? `/${below[Math.floor(random() * below.length)] ?? "nonsense"}` : "";
  const path = `${root}${chance(random, 0.03) ? "/watch" : ""}${space}/${resource.plural}${named ? `/${encodeName(name)}` : ""}${sub}`;
  return chance(random, 0.03) ? path.replace(/\/[^/]*$/, `/${encodeName(pick(random, NASTY_NAMES))}`) : path;
}

function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}

function queryOf(random: Random): string {
  const options: string[] = chance(random, 0.5) ? ["fieldManager=a"] : [];
  for (let more = Math.floor(random() * random() * 5); more > 0; more -= 1) {
    const [name, ...values] = pick(random, OPTIONS);
    options.push(`${name}=${encodeURIComponent(values[Math.floor(random() * values.length)] ?? "")}`);
  }
  return options.length === 0 ? "" : `?${options.join("&")}`;
}
