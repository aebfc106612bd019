/** NetworkPolicy, Ingress, IngressClass, EndpointSlice, IPAddress, ServiceCIDR. */
import { jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import {
  endpointSliceCells,
  ingressCells,
  ingressClassCells,
  ipAddressCells,
  networkPolicyCells,
  serviceCidrCells,
} from "../cells/networking.ts";
import { at, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { duplicate, forbidden, immutable, invalid, invalidEach, notSupported, required, tooMany, type Causes } from "../rules/causes.ts";
import { dnsLabel, dnsSubdomain, pathSegment, portName, portNumber, wildcardSubdomain } from "../rules/formats.ts";
import { CIDR_MESSAGE, ifSetOneOf, ipFamilyOf, isCidr, requiredText, textIfSet, validateLabelSelector } from "../rules/shared.ts";

const specOf = (object: KubeObject): Json | undefined => at(object, "spec");

const networkPolicy: KindRules = {
  generation: specOf,
  onUpdate: "spec-between",
  validate: (object) => {
    const spec = objectAt(object, "spec") ?? {};
    return [
      ...validateLabelSelector(objectAt(spec, "podSelector"), "spec.podSelector"),
      ...(["ingress", "egress"] as const).flatMap((direction) =>
        objectsAt(spec, direction).flatMap((rule, index) =>
          validatePolicyRule(rule, `spec.${direction}[${index}]`, direction === "ingress" ? "from" : "to"),
        ),
      ),
      ...textsAt(spec, "policyTypes").flatMap((type, index) =>
        ["Ingress", "Egress"].includes(type) ? [] : [notSupported(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"])],
      ),
    ];
  },
  cells: networkPolicyCells,
};

function validatePolicyRule(rule: JsonObject, path: string, peers: "from" | "to"): Causes {
  return [
    ...objectsAt(rule, "ports").flatMap((port, index) => validatePolicyPort(port, `${path}.ports[${index}]`)),
    ...objectsAt(rule, peers).flatMap((peer, index) => validatePeer(peer, `${path}.${peers}[${index}]`)),
  ];
}

function validatePolicyPort(port: JsonObject, path: string): Causes {
  const [value, end] = [at(port, "port"), numberAt(port, "endPort")];
  const protocol = ifSetOneOf(`${path}.protocol`, port["protocol"], ["TCP", "UDP", "SCTP"]);
  if (value === undefined)
    return [
      ...protocol,
      ...(end === undefined ? [] : [invalid(`${path}.endPort`, end, "may not be specified when `port` is not specified")]),
    ];
  if (typeof value === "string") {
    const named = end === undefined ? [] : [invalid(`${path}.endPort`, end, "may not be specified when `port` is non-numeric")];
    return [...protocol, ...named, ...invalidEach(`${path}.port`, value, portName(value))];
  }
  const number = typeof value === "number" ? value : 0;
  const ended =
    end === undefined
      ? []
      : [
          ...(end < number ? [invalid(`${path}.endPort`, number, "must be greater than or equal to `port`")] : []),
          ...invalidEach(`${path}.endPort`, end, portNumber(end)),
        ];
  return [...protocol, ...invalidEach(`${path}.port`, number, portNumber(number)), ...ended];
}

function validatePeer(peer: JsonObject, path: string): Causes {
  const [pods, namespaces, block] = ["podSelector", "namespaceSelector", "ipBlock"].map((name) => objectAt(peer, name)) as [
    JsonObject?,
    JsonObject?,
    JsonObject?,
  ];
  const none = pods === undefined && namespaces === undefined && block === undefined;
  const mixed = block !== undefined && (pods !== undefined || namespaces !== undefined);
  return [
    ...validateLabelSelector(pods, `${path}.podSelector`),
    ...validateLabelSelector(namespaces, `${path}.namespaceSelector`),
    ...(block === undefined ? [] : validateBlock(block, `${path}.ipBlock`)),
    ...(none ? [required(path, "must specify a peer")] : []),
    ...(mixed ? [forbidden(path, "may not specify both ipBlock and another peer")] : []),
  ];
}

function validateBlock(block: JsonObject, path: string): Causes {
  const cidr = textAt(block, "cidr");
  return [
    ...(cidr === "" ? [required(`${path}.cidr`)] : []),
    ...(cidr === "" || isCidr(cidr) ? [] : [invalid(`${path}.cidr`, cidr, CIDR_MESSAGE)]),
    ...textsAt(block, "except").flatMap((except, index) => validateExcept(cidr, except, `${path}.except[${index}]`)),
  ];
}

function validateExcept(cidr: string, except: string, path: string): Causes {
  if (!isCidr(except)) return [invalid(path, except, CIDR_MESSAGE)];
  return isCidr(cidr) && !isInside(except, cidr) ? [invalid(path, except, "must be a strict subset of `cidr`")] : [];
}

/** IPv4 by its bits; for IPv6 only the lengths are compared. */
function isInside(inner: string, outer: string): boolean {
  const [[address = "", bits = ""], [base = "", length = ""]] = [inner.split("/"), outer.split("/")] as [string[], string[]];
  if (Number(bits) <= Number(length)) return false;
  if (ipFamilyOf(address) !== "IPv4" || ipFamilyOf(base) !== "IPv4") return ipFamilyOf(address) === ipFamilyOf(base);
  const prefix = (text: string) =>
    Math.floor(text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0) / 2 ** (32 - Number(length)));
  return prefix(address) === prefix(base);
}

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
  warnings: (next, previous) =>
    previous === undefined && textAt(next, "metadata", "annotations", CLASS_ANNOTATION) !== ""
      ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  cells: ingressCells,
};

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

const endpointSlice: KindRules = {
  generation: (object) => [at(object, "endpoints") ?? null, at(object, "ports") ?? null, at(object, "metadata", "labels") ?? null],
  validate: (object) => {
    const type = textAt(object, "addressType");
    const endpoints = objectsAt(object, "endpoints");
    return [
      ...(type === "" ? [required("addressType")] : ifSetOneOf("addressType", type, ["FQDN", "IPv4", "IPv6"])),
      ...(endpoints.length > 1000 ? [tooMany("endpoints", endpoints.length, 1000)] : []),
      ...endpoints.flatMap((endpoint, index) => validateEndpoint(endpoint, `endpoints[${index}]`, type)),
      ...validateSlicePorts(objectsAt(object, "ports")),
    ];
  },
  validateUpdate: (next, previous) =>
    jsonEqual(at(next, "addressType"), at(previous, "addressType")) ? [] : [immutable("addressType", at(next, "addressType"))],
  cells: endpointSliceCells,
};

function validateEndpoint(endpoint: JsonObject, path: string, type: string): Causes {
  const addresses = textsAt(endpoint, "addresses");
  const wrong = (address: string, index: number): Causes => {
    if (type === "FQDN") return invalidEach(`${path}.addresses[${index}]`, address, dnsSubdomain(address));
    if (type !== "IPv4" && type !== "IPv6") return [];
    return ipFamilyOf(address) === type ? [] : [invalid(`${path}.addresses[${index}]`, address, `must be an ${type} address`)];
  };
  return [
    ...(addresses.length === 0 ? [required(`${path}.addresses`, "must contain at least 1 address")] : []),
    ...addresses.flatMap(wrong),
    ...nodeNameCauses(endpoint, path),
  ];
}

function nodeNameCauses(endpoint: JsonObject, path: string): Causes {
  const name = at(endpoint, "nodeName");
  return typeof name === "string" ? invalidEach(`${path}.nodeName`, name, dnsSubdomain(name)) : [];
}

function validateSlicePorts(ports: readonly JsonObject[]): Causes {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const name = textAt(port, "name");
    const again = names.has(name);
    names.add(name);
    return [
      ...(name === "" ? [] : invalidEach(`ports[${index}].name`, name, dnsLabel(name))),
      ...(again ? [duplicate(`ports[${index}].name`, name)] : []),
      ...ifSetOneOf(`ports[${index}].protocol`, port["protocol"], ["SCTP", "TCP", "UDP"]),
    ];
  });
}

export const networkingKinds: RulesByKind = {
  NetworkPolicy: networkPolicy,
  Ingress: ingress,
  IngressClass: ingressClass,
  IPAddress: { cells: ipAddressCells },
  ServiceCIDR: {
    validate: (object) => (listAt(object, "spec", "cidrs").length === 0 ? [required("spec.cidrs", "at least one CIDR required")] : []),
    cells: serviceCidrCells,
  },
};

export const discoveryKinds: RulesByKind = { EndpointSlice: endpointSlice };
