/** Service: its rules, and the addresses and ports it is given when it is created or changes its type. */
import type { JsonObject, KubeObject } from "#kube";
import { serviceCells } from "../cells/networking.ts";
import { at, childOf, draftsAt, entriesAt, listAt, numberAt, objectAt, objectsAt, textAt, textsAt, type Draft } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { duplicate, forbidden, inRange, invalid, invalidEach, required, type Causes } from "../rules/causes.ts";
import { dnsLabel, dnsSubdomain, portNumber, qualifiedName } from "../rules/formats.ts";
import { validateLabels } from "../rules/object-meta.ts";
import { validatePort } from "../rules/pod/probes.ts";
import { ifSetOneOf, ipFamilyOf, oneOf, requiredText, validateIP } from "../rules/shared.ts";
import type { ServiceAddresses } from "../service-addresses.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

const typeOf = (service: unknown) => textAt(service, "spec", "type");
const hasClusterIP = (service: unknown) => typeOf(service) !== "ExternalName";
const isHeadless = (service: unknown) => textAt(service, "spec", "clusterIP") === "None";
const hasNodePorts = (service: unknown) =>
  typeOf(service) === "NodePort" || (typeOf(service) === "LoadBalancer" && at(service, "spec", "allocateLoadBalancerNodePorts") !== false);
const isExternal = (service: unknown) =>
  ["NodePort", "LoadBalancer"].includes(typeOf(service)) ||
  (typeOf(service) === "ClusterIP" && listAt(service, "spec", "externalIPs").length > 0);
const needsHealthCheck = (service: unknown) =>
  typeOf(service) === "LoadBalancer" && textAt(service, "spec", "externalTrafficPolicy") === "Local";

export function serviceRules(addresses: ServiceAddresses | undefined): KindRules {
  return {
    name: dnsLabel,
    createOnUpdate: true,
    onUpdate: "meta-and-spec-last",
    prepareCreate: (draft) => allocate(draft, addresses),
    prepareUpdate: (draft, previous) => {
      carryAllocated(childOf(draft, "spec"), previous);
      dropUnneeded(draft, previous);
      allocate(draft, addresses);
    },
    validate: (object, previous) => [...validateService(object), ...(previous === undefined ? validateRequested(object, addresses) : [])],
    validateUpdate: (next, previous) => validateAddressChange(next, previous),
    warnings: (next) =>
      listAt(next, "spec", "externalIPs").length > 0
        ? ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"]
        : [],
    deletion: { answersObject: true },
    fieldSelectors: {
      "spec.clusterIP": (object) => textAt(object, "spec", "clusterIP"),
      "spec.type": (object) => typeOf(object),
    },
    cells: serviceCells,
  };
}

function allocate(draft: Draft, addresses: ServiceAddresses | undefined): void {
  const spec = childOf(draft, "spec");
  if (!hasClusterIP(draft)) return;
  if (textAt(spec, "clusterIP") === "" && textsAt(spec, "clusterIPs").length === 0) {
    const address = addresses?.freeClusterIP();
    if (address !== undefined) spec["clusterIP"] = address;
  }
  if (textAt(spec, "clusterIP") === "" && textsAt(spec, "clusterIPs").length > 0) spec["clusterIP"] = textsAt(spec, "clusterIPs")[0];
  if (textsAt(spec, "clusterIPs").length === 0 && textAt(spec, "clusterIP") !== "") spec["clusterIPs"] = [textAt(spec, "clusterIP")];
  fillFamilies(spec, isHeadless(draft));
  if (hasNodePorts(draft)) for (const port of objectsAt(spec, "ports")) givePort(port, spec, addresses);
  if (needsHealthCheck(draft) && (numberAt(spec, "healthCheckNodePort") ?? 0) === 0) {
    const port = addresses?.freeNodePort();
    if (port !== undefined) spec["healthCheckNodePort"] = port;
  }
}

/** A port that this Service has already given to another of its ports is taken as well. */
function givePort(port: Draft, spec: Draft, addresses: ServiceAddresses | undefined): void {
  if (addresses === undefined || (numberAt(port, "nodePort") ?? 0) !== 0) return;
  const own = new Set(objectsAt(spec, "ports").map((other) => numberAt(other, "nodePort") ?? 0));
  let free = addresses.freeNodePort();
  while (free !== undefined && (own.has(free) || addresses.isNodePortTaken(free))) free += 1;
  if (free !== undefined) port["nodePort"] = free;
}

function fillFamilies(spec: Draft, headless: boolean): void {
  const selectorless = headless && entriesAt(spec, "selector").length === 0;
  if (textAt(spec, "ipFamilyPolicy") === "") spec["ipFamilyPolicy"] = selectorless ? "RequireDualStack" : "SingleStack";
  if (textsAt(spec, "ipFamilies").length > 0) return;
  spec["ipFamilies"] = selectorless ? ["IPv4", "IPv6"] : [ipFamilyOf(textAt(spec, "clusterIP")) ?? "IPv4"];
}

function carryAllocated(spec: Draft, previous: KubeObject): void {
  const both = textAt(spec, "type") !== "ExternalName" && hasClusterIP(previous);
  if (both && textAt(spec, "clusterIP") === "" && textsAt(spec, "clusterIPs").length === 0) {
    spec["clusterIP"] = at(previous, "spec", "clusterIP");
    spec["clusterIPs"] = at(previous, "spec", "clusterIPs");
  }
  if (both && textAt(spec, "ipFamilyPolicy") === "") spec["ipFamilyPolicy"] = at(previous, "spec", "ipFamilyPolicy");
  if (both && textsAt(spec, "ipFamilies").length === 0) spec["ipFamilies"] = at(previous, "spec", "ipFamilies");
  const key = (port: JsonObject) => `${textAt(port, "protocol")}/${numberAt(port, "port") ?? 0}`;
  const old = new Map(objectsAt(previous, "spec", "ports").map((port) => [key(port), at(port, "nodePort")]));
  if (hasNodePorts({ spec }) && hasNodePorts(previous)) {
    for (const port of objectsAt(spec, "ports") as readonly Draft[])
      if ((numberAt(port, "nodePort") ?? 0) === 0) setOrDrop(port, "nodePort", old.get(key(port)));
  }
  const health = at(previous, "spec", "healthCheckNodePort");
  if (needsHealthCheck({ spec }) && needsHealthCheck(previous) && at(spec, "healthCheckNodePort") === undefined)
    setOrDrop(spec, "healthCheckNodePort", health);
}

function setOrDrop(draft: Draft, name: string, value: Draft[string]): void {
  if (value === undefined) delete draft[name];
  else draft[name] = value;
}

/** A change of type drops what only the old type had, unless the client asks for it anew. */
function dropUnneeded(draft: Draft, previous: KubeObject): void {
  const spec = childOf(draft, "spec");
  const same = (name: string) => JSON.stringify(at(spec, name)) === JSON.stringify(at(previous, "spec", name));
  const drop = (...names: readonly string[]) => {
    for (const name of names) if (same(name)) delete spec[name];
  };
  if (hasClusterIP(previous) && !hasClusterIP(draft)) {
    if (same("clusterIP") && same("clusterIPs")) drop("clusterIP", "clusterIPs");
    drop("ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy");
  }
  if (hasNodePorts(previous) && !hasNodePorts(draft) && sameNodePorts(spec, previous))
    for (const port of objectsAt(spec, "ports")) delete port["nodePort"];
  if (needsHealthCheck(previous) && !needsHealthCheck(draft)) drop("healthCheckNodePort");
  if (typeOf(previous) === "LoadBalancer" && typeOf(draft) !== "LoadBalancer") drop("allocateLoadBalancerNodePorts", "loadBalancerClass");
  if (isExternal(previous) && !isExternal(draft)) drop("externalTrafficPolicy");
}

function sameNodePorts(spec: Draft, previous: KubeObject): boolean {
  const known = new Set(objectsAt(previous, "spec", "ports").map((port) => numberAt(port, "nodePort") ?? 0));
  return objectsAt(spec, "ports").every((port) => known.has(numberAt(port, "nodePort") ?? 0) || (numberAt(port, "nodePort") ?? 0) === 0);
}

function validateService(service: KubeObject): Causes {
  const spec = objectAt(service, "spec") ?? {};
  const type = typeOf(service);
  const ports = objectsAt(spec, "ports");
  const portless = ports.length === 0 && !isHeadless(service) && type !== "ExternalName";
  return [
    ...(portless ? [required("spec.ports")] : []),
    ...(type === "ExternalName" ? validateExternalName(spec) : []),
    ...validatePorts(ports),
    ...validateLabels(at(spec, "selector"), "spec.selector"),
    ...validateAffinity(spec),
    ...validateAddresses(service),
    ...textsAt(spec, "externalIPs").flatMap((address, index) => validateIP(`spec.externalIPs[${index}]`, address)),
    ...oneOf("spec.type", type, TYPES),
    ...validateNodePorts(service),
    ...repeatedPorts(service),
    ...validateBalancerClass(service),
    ...validateTraffic(service),
  ];
}

function validateExternalName(spec: JsonObject): Causes {
  const name = textAt(spec, "externalName").replace(/\.$/, "");
  return [
    ...(textAt(spec, "clusterIP") === "" ? [] : [forbidden("spec.clusterIPs", "may not be set when `type` is 'ExternalName'")]),
    ...(textsAt(spec, "ipFamilies").length === 0 ? [] : [forbidden("spec.ipFamilies", "may not be set when `type` is 'ExternalName'")]),
    ...requiredText("spec.externalName", name, dnsSubdomain),
  ];
}

function validatePorts(ports: readonly JsonObject[]): Causes {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `spec.ports[${index}]`;
    const [name, number, protocol] = [textAt(port, "name"), numberAt(port, "port") ?? 0, textAt(port, "protocol")];
    const again = name !== "" && names.has(name);
    names.add(name);
    const appProtocol = at(port, "appProtocol");
    return [
      ...(ports.length > 1 && name === "" ? [required(`${path}.name`)] : []),
      ...(name === "" ? [] : invalidEach(`${path}.name`, name, dnsLabel(name))),
      ...(again ? [duplicate(`${path}.name`, name)] : []),
      ...invalidEach(`${path}.port`, number, portNumber(number)),
      ...oneOf(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
      ...validatePort(`${path}.targetPort`, port["targetPort"]),
      ...(typeof appProtocol !== "string" ? [] : invalidEach(`${path}.appProtocol`, appProtocol, qualifiedName(appProtocol))),
    ];
  });
}

/** The server shows its internal struct here. */
function repeatedPorts(service: KubeObject): Causes {
  const taken = new Set<string>();
  return objectsAt(service, "spec", "ports").flatMap((port, index) => {
    const [number, protocol] = [numberAt(port, "port") ?? 0, textAt(port, "protocol")];
    const again = taken.has(`${protocol}/${number}`);
    taken.add(`${protocol}/${number}`);
    const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 };
    return again ? [duplicate(`spec.ports[${index}]`, shown)] : [];
  });
}

function validateAffinity(spec: JsonObject): Causes {
  const seconds = numberAt(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds");
  const path = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  return [
    ...oneOf("spec.sessionAffinity", textAt(spec, "sessionAffinity"), ["ClientIP", "None"]),
    ...(seconds === undefined || (seconds > 0 && seconds <= 86_400)
      ? []
      : [invalid(path, seconds, "must be greater than 0 and less than 86400")]),
  ];
}

function validateAddresses(service: KubeObject): Causes {
  if (!hasClusterIP(service)) return [];
  const [address, all] = [textAt(service, "spec", "clusterIP"), textsAt(service, "spec", "clusterIPs")];
  const families = textsAt(service, "spec", "ipFamilies");
  return [
    ...(address !== "" && all[0] !== address ? [invalid("spec.clusterIPs", all, "first value must match `clusterIP`")] : []),
    ...families.flatMap((family, index) => [
      ...ifSetOneOf(`spec.ipFamilies[${index}]`, family, ["IPv4", "IPv6"]),
      ...(families.indexOf(family) < index ? [duplicate(`spec.ipFamilies[${index}]`, family)] : []),
    ]),
    ...ifSetOneOf("spec.ipFamilyPolicy", at(service, "spec", "ipFamilyPolicy"), ["PreferDualStack", "RequireDualStack", "SingleStack"]),
    ...all.flatMap((ip, index) => (index === 0 && ip === "None" ? [] : validateIP(`spec.clusterIPs[${index}]`, ip))),
  ];
}

function validateNodePorts(service: KubeObject): Causes {
  const allowed = ["NodePort", "LoadBalancer"].includes(typeOf(service));
  const seen = new Set<string>();
  return objectsAt(service, "spec", "ports").flatMap((port, index) => {
    const number = numberAt(port, "nodePort") ?? 0;
    if (number === 0) return [];
    if (!allowed) return [forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")];
    const key = `${textAt(port, "protocol")}/${number}`;
    const again = seen.has(key);
    seen.add(key);
    return again ? [duplicate(`spec.ports[${index}].nodePort`, number)] : [];
  });
}

function validateTraffic(service: KubeObject): Causes {
  const policy = textAt(service, "spec", "externalTrafficPolicy");
  const external = isExternal(service)
    ? oneOf("spec.externalTrafficPolicy", policy, ["Cluster", "Local"])
    : policy === ""
      ? []
      : [invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")];
  return [
    ...external,
    ...validateHealthCheck(service),
    ...ifSetOneOf("spec.internalTrafficPolicy", at(service, "spec", "internalTrafficPolicy"), ["Cluster", "Local"]),
  ];
}

function validateHealthCheck(service: KubeObject): Causes {
  const port = numberAt(service, "spec", "healthCheckNodePort") ?? 0;
  const path = "spec.healthCheckNodePort";
  if (port === 0) return [];
  if (needsHealthCheck(service)) return invalidEach(path, port, portNumber(port));
  return [invalid(path, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")];
}

function validateBalancerClass(service: KubeObject): Causes {
  const name = at(service, "spec", "loadBalancerClass");
  if (typeof name !== "string") return [];
  const path = "spec.loadBalancerClass";
  if (typeOf(service) !== "LoadBalancer") return [forbidden(path, "may only be used when `type` is 'LoadBalancer'")];
  return invalidEach(path, name, qualifiedName(name));
}

/** What a client asks for by name must be free and in range. */
function validateRequested(service: KubeObject, addresses: ServiceAddresses | undefined): Causes {
  const address = textAt(service, "spec", "clusterIP");
  if (addresses === undefined || address === "None" || ipFamilyOf(address) !== "IPv4") return [];
  const all = [...textsAt(service, "spec", "clusterIPs")];
  if (!addresses.holds(address)) {
    return [
      invalid(
        "spec.clusterIPs",
        all,
        `failed to allocate IP ${address}: the provided IP (${address}) is not in the valid range. The range of valid IPs is ${addresses.range}`,
      ),
    ];
  }
  if (addresses.isClusterIPTaken(address))
    return [invalid("spec.clusterIPs", all, `failed to allocate IP ${address}: provided IP is already allocated`)];
  return objectsAt(service, "spec", "ports").flatMap((port, index) => {
    const number = numberAt(port, "nodePort") ?? 0;
    const path = `spec.ports[${index}].nodePort`;
    if (number === 0) return [];
    if (inRange(path, number, [30_000, 32_767]).length > 0)
      return [invalid(path, number, "provided port is not in the valid range. The range of valid ports is 30000-32767")];
    return addresses.isNodePortTaken(number) ? [invalid(path, number, "provided port is already allocated")] : [];
  });
}

function validateAddressChange(next: KubeObject, previous: KubeObject): Causes {
  if (!hasClusterIP(next) || !hasClusterIP(previous)) return [];
  const [now, before] = [textsAt(next, "spec", "clusterIPs"), textsAt(previous, "spec", "clusterIPs")];
  if (before.length === 0 || now[0] === before[0]) return [];
  return [invalid("spec.clusterIPs[0]", [...now], "may not change once set")];
}
