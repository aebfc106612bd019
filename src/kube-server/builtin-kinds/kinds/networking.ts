/** NetworkPolicy, Ingress, IngressClass, EndpointSlice, IPAddress, ServiceCIDR. */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { ingressCells, ingressClassCells, ipAddressCells, serviceCidrCells } from "../cells/networking.ts";
import { at, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, forbidden, immutable, invalid, invalidEach, notSupported, required } from "../rules/causes.ts";
import { dnsLabel, dnsSubdomain, pathSegment, portName, portNumber, wildcardSubdomain } from "../rules/formats.ts";
import { CIDR_MESSAGE, ifSetOneOf, IP_MESSAGE, ipFamilyOf, isCidr, requiredText, textIfSet, validateIP } from "../rules/shared.ts";
import { networkPolicy } from "./network-policy.ts";

const specOf = (object: KubeObject): Json | undefined => at(object, "spec");

const CLASS_ANNOTATION = "kubernetes.io/ingress.class";

const ingress: KindRules = {
  generation: specOf,
  onUpdate: "meta-and-spec-last",
  validate: (object, previous) => {
    const spec = objectAt(object, "spec") ?? {};
    const rules = objectsAt(spec, "rules");
    const backend = objectAt(spec, "defaultBackend");
    const annotation = textAt(object, "metadata", "annotations", CLASS_ANNOTATION);
    const className = textAt(spec, "ingressClassName");
    const differs = previous === undefined && annotation !== "" && className !== "" && annotation !== className;
    return [
      ...(rules.length === 0 && backend === undefined
        ? [invalid("spec", null, "either `defaultBackend` or `rules` must be specified")]
        : []),
      ...(backend === undefined ? [] : validateBackend(backend, "spec.defaultBackend")),
      ...rules.flatMap((rule, index) => validateIngressRule(rule, `spec.rules[${index}]`)),
      ...objectsAt(spec, "tls").flatMap((tls, index) => validateTls(tls, `spec.tls[${index}]`)),
      ...(at(spec, "ingressClassName") === undefined ? [] : invalidEach("spec.ingressClassName", className, dnsSubdomain(className))),
      ...(differs ? [invalid(`annotations.${CLASS_ANNOTATION}`, annotation, "must match `ingressClassName` when both are specified")] : []),
    ];
  },
  validateStatus: (next) => validateIngressStatus(next),
  warnings: (next, previous) =>
    previous === undefined && textAt(next, "metadata", "annotations", CLASS_ANNOTATION) !== ""
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  cells: ingressCells,
};

/** Where a load balancer says it can be reached; of Services too. */
export function validateIngressStatus(object: KubeObject): Causes {
  return objectsAt(object, "status", "loadBalancer", "ingress").flatMap((place, index) => {
    const path = `status.loadBalancer.ingress[${index}]`;
    const [ip, hostname] = [textAt(place, "ip"), textAt(place, "hostname")];
    return [
      ...(ip === "" ? [] : validateIP(`${path}.ip`, ip)),
      ...validateIpMode(place, `${path}.ipMode`),
      ...(hostname === "" ? [] : invalidEach(`${path}.hostname`, hostname, dnsSubdomain(hostname))),
      ...(hostname !== "" && ipFamilyOf(hostname) !== undefined
        ? [invalid(`${path}.hostname`, hostname, "must be a DNS name, not an IP address")]
        : []),
    ];
  });
}

/** An Ingress has none of these. */
function validateIpMode(place: JsonObject, path: string): Causes {
  const mode = at(place, "ipMode");
  if (mode === undefined) return [];
  return textAt(place, "ip") === ""
    ? [forbidden(path, "may not be specified when `ip` is not set")]
    : ifSetOneOf(path, mode, ["Proxy", "VIP"]);
}

function validateHost(host: string, path: string): Causes {
  if (host === "") return [];
  const isAddress = ipFamilyOf(host) === undefined ? [] : [invalid(path, host, "must be a DNS name, not an IP address")];
  return [...isAddress, ...invalidEach(path, host, host.includes("*") ? wildcardSubdomain(host) : dnsSubdomain(host))];
}

function validateIngressRule(rule: JsonObject, path: string): Causes {
  const http = objectAt(rule, "http");
  const paths = objectsAt(http, "paths");
  return [
    ...validateHost(textAt(rule, "host"), `${path}.host`),
    ...(http !== undefined && paths.length === 0 ? [required(`${path}.http.paths`)] : []),
    ...paths.flatMap((entry, index) => validateIngressPath(entry, `${path}.http.paths[${index}]`)),
  ];
}

const BAD_PARTS = ["//", "/./", "/../", "%2f", "%2F"];

const BAD_ENDS = ["/..", "/."];

function validateIngressPath(entry: JsonObject, path: string): Causes {
  const [type, target] = [at(entry, "pathType"), textAt(entry, "path")];
  if (type === undefined) return [required(`${path}.pathType`, "pathType must be specified")];
  return [...validatePathText(type, target, path), ...validateBackend(objectAt(entry, "backend") ?? {}, `${path}.backend`)];
}

function validatePathText(type: Json, target: string, path: string): Causes {
  const absolute = target.startsWith("/") ? [] : [invalid(`${path}.path`, target, "must be an absolute path")];
  switch (type) {
    case "Exact":
    case "Prefix":
      return [
        ...absolute,
        ...BAD_PARTS.filter((part) => target.includes(part)).map((part) => invalid(`${path}.path`, target, `must not contain '${part}'`)),
        ...BAD_ENDS.filter((end) => target.endsWith(end)).map((end) => invalid(`${path}.path`, target, `cannot end with '${end}'`)),
      ];
    case "ImplementationSpecific":
      return target === "" ? [] : absolute;
    default:
      return [notSupported(`${path}.pathType`, type, ["Exact", "ImplementationSpecific", "Prefix"])];
  }
}

function validateBackend(backend: JsonObject, path: string): Causes {
  const [service, resource] = [objectAt(backend, "service"), objectAt(backend, "resource")];
  if (service !== undefined && resource !== undefined) return [invalid(path, "", "cannot set both resource and service backends")];
  if (resource !== undefined) {
    return validateReference(resource, `${path}.resource`);
  }
  if (service === undefined) return [invalid(path, "", "resource or service backend is required")];
  const [name, portText, port] = [textAt(service, "name"), textAt(service, "port", "name"), numberAt(service, "port", "number") ?? 0];
  const named = name === "" ? [required(`${path}.service.name`)] : invalidEach(`${path}.service.name`, name, dnsLabel(name));
  if (portText !== "" && port !== 0) return [...named, invalid(path, "", "cannot set both port name & port number")];
  if (portText !== "") return [...named, ...invalidEach(`${path}.service.port.name`, portText, portName(portText))];
  return [
    ...named,
    ...(port === 0
      ? [required(path, "port name or number is required")]
      : invalidEach(`${path}.service.port.number`, port, portNumber(port))),
  ];
}

function validateReference(reference: JsonObject, path: string): Causes {
  const group = at(reference, "apiGroup");
  return [
    ...(typeof group === "string" ? invalidEach(`${path}.apiGroup`, group, dnsSubdomain(group)) : []),
    ...["kind", "name"].flatMap((name) => requiredText(`${path}.${name}`, textAt(reference, name), pathSegment)),
  ];
}

function validateTls(tls: JsonObject, path: string): Causes {
  return [
    ...textsAt(tls, "hosts").flatMap((host, index) =>
      invalidEach(`${path}.hosts[${index}]`, host, host.includes("*") ? wildcardSubdomain(host) : dnsSubdomain(host)),
    ),
    ...textIfSet(`${path}.secretName`, textAt(tls, "secretName"), dnsSubdomain),
  ];
}

const ingressClass: KindRules = {
  generation: specOf,
  onUpdate: "meta-and-spec-last",
  validate: (object) => {
    const parameters = objectAt(object, "spec", "parameters");
    return [
      ...validateController(textAt(object, "spec", "controller")),
      ...(parameters === undefined ? [] : validateReference(parameters, "spec.parameters")),
    ];
  },
  validateUpdate: (next, previous) =>
    textAt(next, "spec", "controller") === textAt(previous, "spec", "controller")
      ? []
      : [immutable("spec.controller", textAt(next, "spec", "controller"))],
  cells: ingressClassCells,
};

function validateController(controller: string): Causes {
  if (controller === "") return [required("spec.controller")];
  const [host = "", rest = ""] = controller.split(/\/(.*)/s);
  if (host === "" || rest === "") return [invalid("spec.controller", controller, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return invalidEach("spec.controller", host, dnsSubdomain(host));
}

function validateParent(parent: JsonObject | undefined, path: string): Causes {
  if (parent === undefined) return [required(path)];
  return [
    ...textIfSet(`${path}.group`, textAt(parent, "group"), dnsSubdomain),
    ...requiredText(`${path}.resource`, textAt(parent, "resource"), pathSegment),
    ...requiredText(`${path}.name`, textAt(parent, "name"), pathSegment),
    ...textIfSet(`${path}.namespace`, textAt(parent, "namespace"), pathSegment),
  ];
}

/** The server shows its internal struct here. */
function shownParent(parent: JsonObject): Json {
  return Object.fromEntries(["Group", "Resource", "Namespace", "Name"].map((name) => [name, textAt(parent, name.toLowerCase())]));
}

function validateRanges(ranges: readonly string[]): Causes {
  if (ranges.length === 0) return [required("spec.cidrs", "at least one CIDR required")];
  return ranges.flatMap((range, index) => (isCidr(range) ? [] : [invalid(`spec.cidrs[${index}]`, range, CIDR_MESSAGE)]));
}

/** A range stays; a second one, of the other family, may join it. */
function validateRangeChange(now: readonly string[], before: readonly string[]): Causes {
  const joins = before.length === 1 && now.length === 2;
  if (now.length !== before.length && !joins) return [immutable("spec.cidrs", [...now])];
  const moved = before.flatMap((range, index) => (range === now[index] ? [] : [immutable(`spec.cidrs[${index}]`, now[index])]));
  return joins ? [...moved, ...validateRanges(now)] : moved;
}

export const networkingKinds: RulesByKind = {
  NetworkPolicy: networkPolicy,
  Ingress: ingress,
  IngressClass: ingressClass,
  IPAddress: {
    name: (name) => (ipFamilyOf(name) === undefined ? [IP_MESSAGE] : []),
    onUpdate: "no-spec",
    validate: (object) => validateParent(objectAt(object, "spec", "parentRef"), "spec.parentRef"),
    validateUpdate: (next, previous) =>
      jsonEqual(at(next, "spec", "parentRef"), at(previous, "spec", "parentRef"))
        ? []
        : [immutable("spec.parentRef", shownParent(objectAt(next, "spec", "parentRef") ?? {}))],
    cells: ipAddressCells,
  },
  ServiceCIDR: {
    statusKeepsMeta: true,
    onUpdate: "no-spec",
    validate: (object) => validateRanges(textsAt(object, "spec", "cidrs")),
    validateUpdate: (next, previous) => validateRangeChange(textsAt(next, "spec", "cidrs"), textsAt(previous, "spec", "cidrs")),
    cells: serviceCidrCells,
  },
};
