/**
 * What ztunnel and waypoints let through, read from AuthorizationPolicies.
 *
 * ztunnel reads identities and pod ports and nothing of the request: a rule that asks for methods or paths never allows anything there.
 * A policy on a Service is read by a waypoint and by nobody else.
 */
import { fieldAt, type JsonObject, type KubeObject } from "#kube";
import { objectsIn, textsIn, type Labels } from "./peers.ts";
import { istioSelects } from "./selectors.ts";

export type Request = {
  /** Whoever is not in the mesh has none. */
  readonly principal: string | undefined;
  readonly port: number;
  /** Absent: whichever; allowed when some request is. */
  readonly method?: string | undefined;
  readonly path?: string | undefined;
};

export type IstioVerdict = { readonly allowed: boolean; readonly by: readonly string[] };

const ROOT_NAMESPACE = "istio-system";

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
  atWorkload(workload: { readonly namespace: string; readonly labels: Labels }, request: Request): IstioVerdict {
    const near = [...this.#in(workload.namespace), ...(workload.namespace === ROOT_NAMESPACE ? [] : this.#in(ROOT_NAMESPACE))];
    const applying = near.filter(({ spec }) => targetsOf(spec).length === 0 && istioSelects(spec, workload.labels));
    return judge(applying, request, "ztunnel");
  }

  /** At the waypoint: by Service, and those on the waypoint itself. */
  atWaypoint(service: { readonly namespace: string; readonly name: string; readonly waypoint: string }, request: Request): IstioVerdict {
    const applying = this.#in(service.namespace).filter(({ spec }) =>
      targetsOf(spec).some(
        ({ kind, name }) => (kind === "Service" && name === service.name) || (kind === "Gateway" && name === service.waypoint),
      ),
    );
    return judge(applying, request, "waypoint");
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

/** A denial counts first; where there is anything that allows, one of them must. */
function judge(policies: readonly Policy[], request: Request, reader: Reader): IstioVerdict {
  const matching = (action: string) =>
    policies.find(
      ({ action: own, spec }) => own === action && objectsIn(spec["rules"]).some((rule) => ruleMatches(rule, request, { reader, action })),
    );
  const denied = matching("DENY");
  if (denied !== undefined) return { allowed: false, by: [denied.name] };
  const allowing = policies.filter(({ action }) => action === "ALLOW");
  if (allowing.length === 0) return { allowed: true, by: [] };
  const allowed = matching("ALLOW");
  return allowed === undefined ? { allowed: false, by: allowing.map(({ name }) => name) } : { allowed: true, by: [allowed.name] };
}

type Reading = { readonly reader: Reader; readonly action: string };

function ruleMatches(rule: JsonObject, request: Request, reading: Reading): boolean {
  const [from, to, when] = [rule["from"], rule["to"], rule["when"]];
  if (from !== undefined && !objectsIn(from).some((one) => sourceMatches(fieldAt(one, "source"), request))) return false;
  if (to !== undefined && !objectsIn(to).some((one) => operationMatches(fieldAt(one, "operation"), request, reading))) return false;
  // no condition is evaluated here: an ALLOW with one is not relied on, a DENY with one is
  return when === undefined || reading.action === "DENY";
}

function sourceMatches(source: unknown, { principal }: Request): boolean {
  const namespace = principal === undefined ? undefined : /\/ns\/([^/]+)\//.exec(principal)?.[1];
  return (
    listMatches(fieldAt(source, "principals"), principal) &&
    !listNames(fieldAt(source, "notPrincipals"), principal) &&
    listMatches(fieldAt(source, "namespaces"), namespace) &&
    !listNames(fieldAt(source, "notNamespaces"), namespace)
  );
}

const REQUEST_FIELDS = ["methods", "notMethods", "paths", "notPaths", "hosts", "notHosts"];

function operationMatches(operation: unknown, request: Request, { reader, action }: Reading): boolean {
  const port = String(request.port);
  if (!listMatches(fieldAt(operation, "ports"), port) || listNames(fieldAt(operation, "notPorts"), port)) return false;
  const asksForRequest = REQUEST_FIELDS.some((name) => fieldAt(operation, name) !== undefined);
  if (reader === "ztunnel") return !asksForRequest || action === "DENY";
  return requestMatches(operation, "methods", request.method) && requestMatches(operation, "paths", request.path);
}

function requestMatches(operation: unknown, field: "methods" | "paths", value: string | undefined): boolean {
  const excluded = fieldAt(operation, field === "methods" ? "notMethods" : "notPaths");
  if (value === undefined) return true;
  return listMatches(fieldAt(operation, field), value) && !listNames(excluded, value);
}

/** No list names anything. */
function listMatches(list: unknown, value: string | undefined): boolean {
  return list === undefined || listNames(list, value);
}

function listNames(list: unknown, value: string | undefined): boolean {
  return value !== undefined && textsIn(list).some((pattern) => textMatches(pattern, value));
}

/** Exact, `prefix*`, `*suffix`, or `*` for anything that is there. */
function textMatches(pattern: string, value: string): boolean {
  if (pattern === "*") return value !== "";
  if (pattern.startsWith("*")) return value.endsWith(pattern.slice(1));
  return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : pattern === value;
}
