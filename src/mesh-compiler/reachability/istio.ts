/**
 * Evaluates AuthorizationPolicies for ztunnel and waypoints, as istiod translates them.
 *
 * ztunnel matches identities and pod ports and not the request: an ALLOW rule with methods or paths is ignored
 * as a whole; a DENY rule is enforced without them. Only a waypoint enforces a policy with targetRefs. A condition that cannot be evaluated
 * here (addresses, hosts, tokens) never allows, and denies wherever it could match.
 */
import { fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { objectsIn, textsIn, type LabelSet } from "./peers.ts";
import { istioSelects } from "./selectors.ts";

export type Request = {
  /** Absent for a caller outside the mesh. */
  readonly principal: string | undefined;
  readonly port: number;
  /** Absent: any request; allowed when at least one request is. */
  readonly method?: string | undefined;
  readonly path?: string | undefined;
};

export type IstioVerdict = { readonly allowed: boolean; readonly by: readonly string[] };

const ROOT_NAMESPACE = "istio-system";
const WAYPOINT_CLASS = "istio-waypoint";

type Policy = { readonly name: string; readonly namespace: string; readonly spec: JsonObject; readonly action: string };

export class AuthorizationPolicies {
  readonly #policies = new Map<string, Policy[]>();

  constructor(objects: Iterable<KubeObject>) {
    for (const object of objects) {
      if (object.kind !== "AuthorizationPolicy") continue;
      const policy = policyOf(object);
      const known = this.#policies.get(policy.namespace);
      if (known === undefined) this.#policies.set(policy.namespace, [policy]);
      else known.push(policy);
    }
  }

  #in(namespace: string): readonly Policy[] {
    return this.#policies.get(namespace) ?? [];
  }

  /** At the destination's ztunnel: by selector, and namespace-wide. */
  atWorkload(workload: { readonly namespace: string; readonly labels: LabelSet }, request: Request): IstioVerdict {
    const near = [...this.#in(workload.namespace), ...(workload.namespace === ROOT_NAMESPACE ? [] : this.#in(ROOT_NAMESPACE))];
    const applying = near.filter(({ spec }) => targetsOf(spec).length === 0 && istioSelects(spec, workload.labels));
    return judge(applying, request, "ztunnel");
  }

  /** At the waypoint: by Service, those on the waypoint itself, and those on all waypoints. */
  atWaypoint(service: { readonly namespace: string; readonly name: string; readonly waypoint: string }, request: Request): IstioVerdict {
    const own = this.#in(service.namespace).filter(({ spec }) =>
      targetsOf(spec).some(
        ({ kind, name }) => (kind === "Service" && name === service.name) || (kind === "Gateway" && name === service.waypoint),
      ),
    );
    const all = this.#in(ROOT_NAMESPACE).filter(({ spec }) =>
      targetsOf(spec).some(({ kind, name }) => kind === "GatewayClass" && name === WAYPOINT_CLASS),
    );
    return judge([...own, ...all], request, "waypoint");
  }
}

function policyOf(object: KubeObject): Policy {
  const namespace = object.metadata.namespace ?? "default";
  const { spec = {} } = object as { readonly spec?: JsonObject };
  const action = spec["action"];
  return { name: `${namespace}/${object.metadata.name}`, namespace, spec, action: typeof action === "string" ? action : "ALLOW" };
}

function targetsOf(spec: JsonObject): readonly JsonObject[] {
  return [...objectsIn(spec["targetRefs"]), ...objectsIn([spec["targetRef"]])];
}

type Reader = "ztunnel" | "waypoint";

/** DENY policies take precedence; where ALLOW policies exist, one of them must match. */
function judge(policies: readonly Policy[], request: Request, reader: Reader): IstioVerdict {
  const matching = (action: "ALLOW" | "DENY") =>
    policies.find(
      ({ action: own, spec, namespace }) =>
        own === action && objectsIn(spec["rules"]).some((rule) => ruleMatches(rule, request, { reader, action, namespace })),
    );
  const denied = matching("DENY");
  if (denied !== undefined) return { allowed: false, by: [denied.name] };
  const allowing = policies.filter(({ action }) => action === "ALLOW");
  if (allowing.length === 0) return { allowed: true, by: [] };
  const allowed = matching("ALLOW");
  return allowed === undefined ? { allowed: false, by: allowing.map(({ name }) => name) } : { allowed: true, by: [allowed.name] };
}

type Reading = { readonly reader: Reader; readonly action: "ALLOW" | "DENY"; readonly namespace: string };

/** An empty list matches everything, like an absent one. */
function ruleMatches(rule: JsonObject, request: Request, reading: Reading): boolean {
  const from = objectsIn(rule["from"]).map((one) => fieldAt(one, "source"));
  const to = objectsIn(rule["to"]).map((one) => fieldAt(one, "operation"));
  const when = objectsIn(rule["when"]);
  if (reading.reader === "ztunnel" && reading.action === "ALLOW" && readsRequests(from, to, when)) return false;
  return (
    (from.length === 0 || from.some((source) => sourceMatches(source, request, reading))) &&
    (to.length === 0 || to.some((operation) => operationMatches(operation, request, reading))) &&
    when.every((condition) => conditionHolds(condition, request, reading))
  );
}

const REQUEST_FIELDS = ["methods", "notMethods", "paths", "notPaths", "hosts", "notHosts"];
const REQUEST_SOURCES = ["requestPrincipals", "notRequestPrincipals", "remoteIpBlocks", "notRemoteIpBlocks"];
const CONNECTION_KEYS = new Set(["source.ip", "source.namespace", "source.principal", "destination.ip", "destination.port"]);

function readsRequests(from: readonly unknown[], to: readonly unknown[], when: readonly JsonObject[]): boolean {
  return (
    from.some((source) => REQUEST_SOURCES.some((name) => listIn(source, name).length > 0)) ||
    to.some((operation) => REQUEST_FIELDS.some((name) => listIn(operation, name).length > 0)) ||
    when.some(({ key }) => typeof key !== "string" || !CONNECTION_KEYS.has(key))
  );
}

function listIn(value: unknown, name: string): readonly string[] {
  return textsIn(fieldAt(value, name));
}

const KNOWN_SOURCES = new Set(["principals", "notPrincipals", "namespaces", "notNamespaces", "serviceAccounts", "notServiceAccounts"]);

function sourceMatches(source: unknown, { principal }: Request, { action, namespace: home }: Reading): boolean {
  const unknown = isJsonObject(source) && Object.keys(source).some((name) => !KNOWN_SOURCES.has(name) && listIn(source, name).length > 0);
  if (unknown && action === "ALLOW") return false;
  const { namespace, account } = identityOf(principal);
  const isAccount = (one: string) => account !== undefined && (one.includes("/") ? one : `${home}/${one}`) === account;
  return (
    listMatches(listIn(source, "principals"), principal) &&
    !listNames(listIn(source, "notPrincipals"), principal) &&
    listMatches(listIn(source, "namespaces"), namespace) &&
    !listNames(listIn(source, "notNamespaces"), namespace) &&
    (listIn(source, "serviceAccounts").length === 0 || listIn(source, "serviceAccounts").some(isAccount)) &&
    !listIn(source, "notServiceAccounts").some(isAccount)
  );
}

function identityOf(principal: string | undefined): { readonly namespace: string | undefined; readonly account: string | undefined } {
  const [, namespace, account] = /\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(principal ?? "") ?? [];
  return { namespace, account: namespace === undefined ? undefined : `${namespace}/${account}` };
}

function operationMatches(operation: unknown, request: Request, { reader, action }: Reading): boolean {
  const port = String(request.port);
  if (!listMatches(listIn(operation, "ports"), port) || listNames(listIn(operation, "notPorts"), port)) return false;
  if (reader === "ztunnel") return true;
  const byHost = ["hosts", "notHosts"].some((name) => listIn(operation, name).length > 0);
  if (byHost && action === "ALLOW") return false;
  return requestMatches(operation, "methods", request.method, action) && requestMatches(operation, "paths", request.path, action);
}

/** When the call has no method or path, an ALLOW matches if some request matches, and a DENY only if every request does. */
function requestMatches(operation: unknown, field: "methods" | "paths", value: string | undefined, action: Reading["action"]): boolean {
  const named = listIn(operation, field);
  const excluded = listIn(operation, field === "methods" ? "notMethods" : "notPaths");
  if (value === undefined) return action === "ALLOW" || (named.length === 0 && excluded.length === 0);
  return listMatches(named, value) && !listNames(excluded, value);
}

/** Conditions on the connection are evaluated; any other condition never allows, and denies every caller that it might match. */
function conditionHolds(condition: JsonObject, { principal, port }: Request, { action }: Reading): boolean {
  const known = new Map([
    ["source.principal", principal],
    ["source.namespace", identityOf(principal).namespace],
    ["destination.port", String(port)],
  ]);
  const { key } = condition;
  if (typeof key !== "string" || !known.has(key)) return action === "DENY";
  return listMatches(listIn(condition, "values"), known.get(key)) && !listNames(listIn(condition, "notValues"), known.get(key));
}

/** An empty list matches everything. */
function listMatches(list: readonly string[], value: string | undefined): boolean {
  return list.length === 0 || listNames(list, value);
}

function listNames(list: readonly string[], value: string | undefined): boolean {
  return value !== undefined && list.some((pattern) => textMatches(pattern, value));
}

/** Exact, `prefix*`, `*suffix`, or `*` for any value that is present. */
function textMatches(pattern: string, value: string): boolean {
  if (pattern === "*") return value !== "";
  if (pattern.startsWith("*")) return value.endsWith(pattern.slice(1));
  return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : pattern === value;
}
