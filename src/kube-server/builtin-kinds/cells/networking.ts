/** Rows of Services, endpoints, Ingresses and NetworkPolicies. */
import type { Json, JsonObject, KubeObject } from "#kube";
import { at, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import { ageOf, cutList, labelsText, nameWithDefault, NONE, orNone, selectorText, UNKNOWN } from "./text.ts";
import type { Cells } from "./workloads.ts";

export const serviceCells: Cells = (object, now) => [
  object.metadata.name,
  textAt(object, "spec", "type"),
  orNone(textsAt(object, "spec", "clusterIPs")[0] ?? ""),
  externalAddress(object),
  orNone(objectsAt(object, "spec", "ports").map(portText).join(",")),
  ageOf(object, now),
  labelsText(at(object, "spec", "selector")),
];

function externalAddress(service: KubeObject): string {
  const external = textsAt(service, "spec", "externalIPs");
  switch (textAt(service, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return orNone(external.join(","));
    case "LoadBalancer":
      return orNone([...balancerAddresses(service), ...external].join(","), "<pending>");
    case "ExternalName":
      return textAt(service, "spec", "externalName");
    default:
      return UNKNOWN;
  }
}

function balancerAddresses(object: KubeObject): readonly string[] {
  const addresses = objectsAt(object, "status", "loadBalancer", "ingress").map((entry) => textAt(entry, "ip") || textAt(entry, "hostname"));
  return [...new Set(addresses.filter((address) => address !== ""))].toSorted();
}

function portText(port: JsonObject): string {
  const node = numberAt(port, "nodePort") ?? 0;
  return `${numberAt(port, "port") ?? 0}${node > 0 ? `:${node}` : ""}/${textAt(port, "protocol")}`;
}

export const endpointsCells: Cells = (object, now) => {
  const all = objectsAt(object, "subsets").flatMap(subsetAddresses);
  const shown = objectsAt(object, "subsets").length === 0 ? NONE : all.length === 0 ? "" : cutList(all, 3);
  return [object.metadata.name, shown, ageOf(object, now)];
};

function subsetAddresses(subset: JsonObject): readonly string[] {
  const addresses = objectsAt(subset, "addresses").map((address) => textAt(address, "ip"));
  const ports = objectsAt(subset, "ports").map((port) => numberAt(port, "port") ?? 0);
  if (ports.length === 0) return addresses;
  return ports.flatMap((port) => addresses.map((address) => `${address.includes(":") ? `[${address}]` : address}:${port}`));
}

export const endpointSliceCells: Cells = (object, now) => [
  object.metadata.name,
  textAt(object, "addressType"),
  cutList(objectsAt(object, "ports").map(slicePort), 3),
  cutList(
    objectsAt(object, "endpoints").flatMap((endpoint) => textsAt(endpoint, "addresses")),
    3,
  ),
  ageOf(object, now),
];

function slicePort(port: JsonObject): string {
  const number = numberAt(port, "port");
  if (number !== undefined) return String(number);
  return at(port, "name") === undefined ? "*" : textAt(port, "name");
}

export const ingressCells: Cells = (object, now) => [
  object.metadata.name,
  orNone(textAt(object, "spec", "ingressClassName")),
  hostsText(objectsAt(object, "spec", "rules")),
  balancerAddresses(object).join(","),
  listAt(object, "spec", "tls").length > 0 ? "80, 443" : "80",
  ageOf(object, now),
];

function hostsText(rules: readonly JsonObject[]): string {
  const hosts = rules.map((rule) => textAt(rule, "host")).filter((host) => host !== "");
  if (hosts.length === 0) return "*";
  const more = hosts.length > 3 || (hosts.length === 3 && textAt(rules.at(-1), "host") === "");
  return more ? `${hosts.slice(0, 3).join(",")} + ${rules.length - 3} more...` : hosts.join(",");
}

export const ingressClassCells: Cells = (object, now) => [
  nameWithDefault(object, "ingressclass.kubernetes.io/is-default-class"),
  textAt(object, "spec", "controller"),
  parametersText(objectAt(object, "spec", "parameters")),
  ageOf(object, now),
];

function parametersText(parameters: JsonObject | undefined): string {
  if (parameters === undefined) return NONE;
  const group = at(parameters, "apiGroup") === undefined ? "" : `.${textAt(parameters, "apiGroup")}`;
  return `${textAt(parameters, "kind")}${group}/${textAt(parameters, "name")}`;
}

export const networkPolicyCells: Cells = (object, now) => [
  object.metadata.name,
  selectorText(objectAt(object, "spec", "podSelector")),
  ageOf(object, now),
];

/** One cell more than there are columns: so it is on a real server. */
export const ipAddressCells: Cells = (object, now) => {
  const parent = objectAt(object, "spec", "parentRef");
  const resource = [textAt(parent, "resource"), textAt(parent, "group")]
    .filter((part) => part !== "")
    .join(".")
    .toLowerCase();
  const parts = [resource, textAt(parent, "namespace"), textAt(parent, "name")].filter((part) => part !== "");
  return [object.metadata.name, parent === undefined ? NONE : parts.join("/"), ageOf(object, now)];
};

export const serviceCidrCells: Cells = (object, now): readonly Json[] => [
  object.metadata.name,
  textsAt(object, "spec", "cidrs").join(","),
  ageOf(object, now),
];
