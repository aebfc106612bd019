/** EndpointSlice. */
import { jsonEqual, type JsonObject } from "#kube";
import { endpointSliceCells } from "../cells/networking.ts";
import { at, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, duplicate, immutable, invalid, invalidEach, required, tooMany } from "../rules/causes.ts";
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName, type TextRule } from "../rules/formats.ts";
import { ifSetOneOf, ipFamilyOf, specialAddress, validateIP } from "../rules/shared.ts";

const endpointSlice: KindRules = {
  generation: (object) => [at(object, "endpoints") ?? null, at(object, "ports") ?? null, at(object, "metadata", "labels") ?? null],
  validate: (object) => {
    const type = textAt(object, "addressType");
    const endpoints = objectsAt(object, "endpoints");
    return [
      ...(type === "" ? [required("addressType")] : ifSetOneOf("addressType", type, ["FQDN", "IPv4", "IPv6"])),
      ...validateSlicePorts(objectsAt(object, "ports")),
      ...(endpoints.length > 1000
        ? [tooMany("endpoints", endpoints.length, 1000)]
        : endpoints.flatMap((endpoint, index) => validateEndpoint(endpoint, `endpoints[${index}]`, type))),
    ];
  },
  validateUpdate: (next, previous) =>
    jsonEqual(at(next, "addressType"), at(previous, "addressType")) ? [] : [immutable("addressType", at(next, "addressType"))],
  warnings: (next, previous) =>
    previous === undefined && textAt(next, "addressType") === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [],
  cells: endpointSliceCells,
};

function validateEndpoint(endpoint: JsonObject, path: string, type: string): Causes {
  const addresses = textsAt(endpoint, "addresses");
  const wrong = (address: string, index: number): Causes => {
    if (type === "FQDN") return invalidEach(`${path}.addresses[${index}]`, address, dnsSubdomain(address));
    if (type !== "IPv4" && type !== "IPv6") return [];
    const wrongIP = validateIP(`${path}.addresses[${index}]`, address);
    if (wrongIP.length > 0) return wrongIP;
    return ipFamilyOf(address) === type
      ? specialAddress(`${path}.addresses[${index}]`, address)
      : [invalid(`${path}.addresses[${index}]`, address, `must be an ${type} address`)];
  };
  return [
    ...(addresses.length === 0 ? [required(`${path}.addresses`, "must contain at least 1 address")] : []),
    ...addresses.flatMap(wrong),
    ...nodeNameCauses(endpoint, path),
    ...hostnameCauses(endpoint, path),
    ...hintCauses(objectsAt(endpoint, "hints", "forZones"), `${path}.hints.forZones`, labelValue),
    ...hintCauses(objectsAt(endpoint, "hints", "forNodes"), `${path}.hints.forNodes`, dnsSubdomain),
  ];
}

const MAX_HINTS = 8;

function hintCauses(hints: readonly JsonObject[], path: string, rule: TextRule): Causes {
  if (hints.length > MAX_HINTS) return [tooMany(path, hints.length, MAX_HINTS)];
  const names = hints.map((hint) => textAt(hint, "name"));
  return names.flatMap((name, index) => [
    ...(names.indexOf(name) < index ? [duplicate(`${path}[${index}].name`, name)] : []),
    ...invalidEach(`${path}[${index}].name`, name, rule(name)),
  ]);
}

function hostnameCauses(endpoint: JsonObject, path: string): Causes {
  const name = at(endpoint, "hostname");
  return typeof name === "string" ? invalidEach(`${path}.hostname`, name, dnsLabel(name)) : [];
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
      ...(typeof port["appProtocol"] === "string"
        ? invalidEach(`ports[${index}].appProtocol`, port["appProtocol"], qualifiedName(port["appProtocol"]))
        : []),
    ];
  });
}

export const discoveryKinds: RulesByKind = { EndpointSlice: endpointSlice };
