/** Endpoints, the kind that EndpointSlices replace. */
import type { JsonObject } from "#kube";
import { endpointsCells } from "../cells/networking.ts";
import { at, numberAt, objectsAt, textAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, invalid, invalidEach, required } from "../rules/causes.ts";
import { dnsLabel, dnsSubdomain, portNumber, qualifiedName } from "../rules/formats.ts";
import { ipFamilyOf, oneOf, specialAddress, textIfSet, validateIP } from "../rules/shared.ts";

export const endpoints: KindRules = {
  createOnUpdate: true,
  onUpdate: "meta-then-all",
  validate: (object) => objectsAt(object, "subsets").flatMap((subset, index) => validateSubset(subset, `subsets[${index}]`)),
  cells: endpointsCells,
};

function validateSubset(subset: JsonObject, path: string): Causes {
  const lists = ["addresses", "notReadyAddresses"] as const;
  const empty = lists.every((list) => objectsAt(subset, list).length === 0);
  const ports = objectsAt(subset, "ports");
  return [
    ...(empty ? [required(path, "must specify `addresses` or `notReadyAddresses`")] : []),
    ...lists.flatMap((list) => objectsAt(subset, list).flatMap((address, index) => validateAddress(address, `${path}.${list}[${index}]`))),
    ...ports.flatMap((port, index) => validateEndpointPort(port, `${path}.ports[${index}]`, ports.length > 1)),
  ];
}

function validateAddress(address: JsonObject, path: string): Causes {
  const [ip, hostname, nodeName] = [textAt(address, "ip"), textAt(address, "hostname"), at(address, "nodeName")];
  return [
    ...validateIP(`${path}.ip`, ip),
    ...(hostname === "" ? [] : invalidEach(`${path}.hostname`, hostname, dnsLabel(hostname))),
    ...(typeof nodeName !== "string" ? [] : invalidEach(`${path}.nodeName`, nodeName, dnsSubdomain(nodeName))),
    ...(ipFamilyOf(ip) === undefined ? [invalid(`${path}.ip`, ip, "must be a valid IP address")] : specialAddress(`${path}.ip`, ip)),
  ];
}

function validateEndpointPort(port: JsonObject, path: string, needsName: boolean): Causes {
  const [name, number] = [textAt(port, "name"), numberAt(port, "port") ?? 0];
  return [
    ...(needsName && name === "" ? [required(`${path}.name`)] : []),
    ...(name === "" ? [] : invalidEach(`${path}.name`, name, dnsLabel(name))),
    ...invalidEach(`${path}.port`, number, portNumber(number)),
    ...oneOf(`${path}.protocol`, textAt(port, "protocol"), ["SCTP", "TCP", "UDP"]),
    ...textIfSet(`${path}.appProtocol`, textAt(port, "appProtocol"), qualifiedName),
  ];
}
