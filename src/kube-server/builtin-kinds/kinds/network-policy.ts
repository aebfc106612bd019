/** NetworkPolicy. */
import type { JsonObject } from "#kube";
import { networkPolicyCells } from "../cells/networking.ts";
import { at, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, forbidden, invalid, invalidEach, notSupported, required } from "../rules/causes.ts";
import { portName, portNumber } from "../rules/formats.ts";
import { CIDR_MESSAGE, ifSetOneOf, ipFamilyOf, isCidr, validateLabelSelector } from "../rules/shared.ts";
import { specOf } from "../rules/workloads.ts";

export const networkPolicy: KindRules = {
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
      ...validatePolicyTypes(textsAt(spec, "policyTypes")),
    ];
  },
  cells: networkPolicyCells,
};

function validatePolicyTypes(types: readonly string[]): Causes {
  if (types.length > 2) return [invalid("spec.policyTypes", [...types], "may not specify more than two policyTypes")];
  return types.flatMap((type, index) =>
    ["Ingress", "Egress"].includes(type) ? [] : [notSupported(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"])],
  );
}

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
    ...(hasHostBits(cidr) ? [invalid(`${path}.cidr`, cidr, "must not have bits set beyond the prefix length")] : []),
    ...textsAt(block, "except").flatMap((except, index) => validateExcept(cidr, except, `${path}.except[${index}]`)),
  ];
}

/** 10.0.0.1/8 names a host, where a network is wanted. */
function hasHostBits(cidr: string): boolean {
  const [address = "", bits = ""] = cidr.split("/");
  if (ipFamilyOf(address) !== "IPv4" || !isCidr(cidr)) return false;
  const value = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return value % 2 ** (32 - Number(bits)) !== 0;
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
