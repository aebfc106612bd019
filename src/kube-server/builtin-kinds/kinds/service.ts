/** Service: its rules, and the addresses and ports it is given when it is created or changes its type. */
import { repeats } from "#base";
import type { JsonObject, KubeObject } from "#kube";
import { serviceCells } from "../cells/networking.ts";
import { at, childOf, entriesAt, listAt, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, duplicate, forbidden, inRange, invalid, invalidEach, required } from "../rules/causes.ts";
import { dnsLabel, dnsSubdomain, portNumber, qualifiedName } from "../rules/formats.ts";
import { validateLabels } from "../rules/object-meta.ts";
import { repeatedPorts, validateNodePorts, validatePorts } from "../rules/service-ports.ts";
import { CIDR_MESSAGE, ifSetOneOf, ipFamilyOf, isCidr, oneOf, requiredText, specialAddress, validateIP } from "../rules/shared.ts";
import type { ServiceAddresses } from "../service-addresses.ts";
import { validateIngressStatus } from "./networking.ts";
import {
  allocateMore,
  allocateNew,
  carryAllocated,
  dropUnneeded,
  hasClusterIP,
  hasNodePorts,
  isExternal,
  isHeadless,
  needsHealthCheck,
  typeOf,
} from "./service-allocation.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

export function serviceRules(addresses: ServiceAddresses | undefined): KindRules {
  return {
    name: dnsLabel,
    createOnUpdate: true,
    onUpdate: "spec-last",
    prepareCreate: (draft) => allocateNew(draft, addresses),
    prepareUpdate: (draft, previous) => {
      carryAllocated(childOf(draft, "spec"), previous);
      dropUnneeded(draft, previous);
      allocateMore(draft, addresses);
    },
    validate: (object, previous) => {
      const causes = validateService(object, previous === undefined);
      // only a valid Service gets addresses
      return previous === undefined && causes.length === 0 ? validateRequested(object, addresses) : causes;
    },
    validateUpdate: (next, previous) => [...validateAddressChange(next, previous), ...validateNewPorts(next, previous, addresses)],
    validateStatus: (next) => validateIngressStatus(next),
    warnings: serviceWarnings,
    deletion: { answersObject: true },
    fieldSelectors: {
      "spec.clusterIP": (object) => textAt(object, "spec", "clusterIP"),
      "spec.type": (object) => typeOf(object),
    },
    cells: serviceCells,
  };
}

function serviceWarnings(service: KubeObject): readonly string[] {
  const [headless, external] = [isHeadless(service), typeOf(service) === "ExternalName"];
  const outside = listAt(service, "spec", "externalIPs").length > 0;
  const warnings: readonly (readonly [boolean, string])[] = [
    [headless && textAt(service, "spec", "loadBalancerIP") !== "", "spec.loadBalancerIP is ignored for headless services"],
    [headless && outside, "spec.externalIPs is ignored for headless services"],
    [headless && textAt(service, "spec", "sessionAffinity") !== "None", "spec.SessionAffinity is ignored for headless services"],
    [outside && !headless && !external, "spec.externalIPs is deprecated and may no longer be implemented in some clusters"],
    [external && outside, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [!external && textAt(service, "spec", "externalName") !== "", 'spec.externalName is ignored when spec.type is not "ExternalName"'],
    [
      textAt(service, "spec", "trafficDistribution") === "PreferClose",
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ];
  return warnings.filter(([holds]) => holds).map(([, text]) => text);
}

function validateService(service: KubeObject, isNew: boolean): Causes {
  const spec = objectAt(service, "spec") ?? {};
  const type = typeOf(service);
  const ports = objectsAt(spec, "ports");
  const portless = ports.length === 0 && !isHeadless(service) && type !== "ExternalName";
  return [
    ...(portless ? [required("spec.ports")] : []),
    ...(isHeadless(service) && (type === "LoadBalancer" || type === "NodePort")
      ? [invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`)]
      : []),
    ...(type === "ExternalName" ? validateExternalName(spec) : []),
    ...validatePorts(ports),
    ...validateLabels(at(spec, "selector"), "spec.selector"),
    ...validateAffinity(spec),
    ...validateAddresses(service),
    ...textsAt(spec, "externalIPs").flatMap((address, index) => validateOuterIP(`spec.externalIPs[${index}]`, address)),
    ...oneOf("spec.type", type, TYPES),
    ...validateNodePorts(service, isNew),
    ...repeatedPorts(service),
    ...validateSourceRanges(service),
    ...(at(spec, "allocateLoadBalancerNodePorts") !== undefined && type !== "LoadBalancer"
      ? [forbidden("spec.allocateLoadBalancerNodePorts", "may only be used when `type` is 'LoadBalancer'")]
      : []),
    ...validateBalancerClass(service),
    ...validateTraffic(service),
    ...ifSetOneOf("spec.trafficDistribution", at(spec, "trafficDistribution"), ["PreferClose", "PreferSameZone", "PreferSameNode"]),
  ];
}

function validateOuterIP(path: string, address: string): Causes {
  const wrong = validateIP(path, address);
  return wrong.length > 0 ? wrong : specialAddress(path, address);
}

function validateSourceRanges(service: KubeObject): Causes {
  const ranges = textsAt(service, "spec", "loadBalancerSourceRanges");
  const path = "spec.LoadBalancerSourceRanges";
  if (ranges.length === 0) return [];
  if (typeOf(service) !== "LoadBalancer") return [forbidden(path, "may only be used when `type` is 'LoadBalancer'")];
  return ranges.flatMap((range, index) => (isCidr(range.trim()) ? [] : [invalid(`${path}[${index}]`, range, CIDR_MESSAGE)]));
}

function validateExternalName(spec: JsonObject): Causes {
  const name = textAt(spec, "externalName").replace(/\.$/, "");
  return [
    ...(textAt(spec, "clusterIP") === "" ? [] : [forbidden("spec.clusterIPs", "may not be set for ExternalName services")]),
    ...(textsAt(spec, "ipFamilies").length === 0 ? [] : [forbidden("spec.ipFamilies", "may not be set for ExternalName services")]),
    ...requiredText("spec.externalName", name, dnsSubdomain),
  ];
}

function validateAffinity(spec: JsonObject): Causes {
  const sticky = textAt(spec, "sessionAffinity") === "ClientIP";
  const seconds = sticky ? numberAt(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") : undefined;
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
  const stoodBefore = repeats(families);
  return [
    ...(address === "" && all.length > 0 ? [invalid("spec.clusterIPs", all, "must be empty when `clusterIP` is not specified")] : []),
    ...(address !== "" && all[0] !== address ? [invalid("spec.clusterIPs", all, "first value must match `clusterIP`")] : []),
    ...families.flatMap((family, index) => [
      ...ifSetOneOf(`spec.ipFamilies[${index}]`, family, ["IPv4", "IPv6"]),
      ...(stoodBefore(family, index) ? [duplicate(`spec.ipFamilies[${index}]`, family)] : []),
    ]),
    ...ifSetOneOf("spec.ipFamilyPolicy", at(service, "spec", "ipFamilyPolicy"), ["PreferDualStack", "RequireDualStack", "SingleStack"]),
    ...(all[0] === "None" && all.length > 1 ? [invalid("spec.clusterIPs", all, "'None' must be the first and only value")] : []),
    ...validateSeveral(all),
  ];
}

/** Several are one of each family; for text that is no address, only that is reported. */
function validateSeveral(all: readonly string[]): Causes {
  const wrong = all.flatMap((ip, index) => (index === 0 && ip === "None" ? [] : validateIP(`spec.clusterIPs[${index}]`, ip)));
  const isDual = new Set(all.map(ipFamilyOf)).size === 2;
  return [
    ...wrong,
    ...(all.length > 2 ? [invalid("spec.clusterIPs", [...all], "may only hold up to 2 values")] : []),
    ...(all.length > 1 && wrong.length === 0 && all[0] !== "None" && !isDual
      ? [invalid("spec.clusterIPs", [...all], "may specify no more than one IP for each IP family")]
      : []),
  ];
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
  const single = addresses === undefined ? [] : validateSingleStack(service);
  if (single.length > 0) return single;
  const isAsked = hasClusterIP(service) && address !== "None" && ipFamilyOf(address) === "IPv4";
  if (addresses === undefined || !isAsked) return [];
  const all = [...textsAt(service, "spec", "clusterIPs")];
  if (!addresses.holds(address)) {
    return [invalid("spec.clusterIPs", all, `failed to allocate IP ${address}: the provided network does not match the current range`)];
  }
  if (addresses.isClusterIPTaken(address))
    return [invalid("spec.clusterIPs", all, `failed to allocate IP ${address}: provided IP is already allocated`)];
  return validateAskedPorts(service, addresses, undefined);
}

function validateNewPorts(next: KubeObject, previous: KubeObject, addresses: ServiceAddresses | undefined): Causes {
  if (addresses === undefined) return [];
  return validateAskedPorts(next, addresses, new Set(objectsAt(previous, "spec", "ports").map((port) => numberAt(port, "nodePort") ?? 0)));
}

/** `own`: the node ports that the Service has already; undefined for a new one, where only ports with the same number may share one. */
function validateAskedPorts(service: KubeObject, addresses: ServiceAddresses, own: ReadonlySet<number> | undefined): Causes {
  const sharers = new Map<number, number>();
  const ports = objectsAt(service, "spec", "ports");
  const isAsked = ports.some((port) => (numberAt(port, "nodePort") ?? 0) !== 0);
  const taken: ReadonlySet<number> = isAsked ? addresses.takenNodePorts() : new Set();
  const without = hasNodePorts(service) ? ports.findIndex((port) => (numberAt(port, "nodePort") ?? 0) === 0) : -1;
  if (without >= 0) return [invalid(`spec.ports[${without}].nodePort`, 0, "failed to allocate a nodePort: range is full")];
  return ports.flatMap((port, index) => {
    const number = numberAt(port, "nodePort") ?? 0;
    const path = `spec.ports[${index}].nodePort`;
    const sharer = sharers.get(number);
    const again = own === undefined && sharer !== undefined && sharer !== numberAt(port, "port");
    sharers.set(number, numberAt(port, "port") ?? 0);
    if (number === 0 || own?.has(number) === true) return [];
    if (inRange(path, number, [30_000, 32_767]).length > 0)
      return [invalid(path, number, "provided port is not in the valid range. The range of valid ports is 30000-32767")];
    return again || taken.has(number) ? [invalid(path, number, "provided port is already allocated")] : [];
  });
}

/** The cluster has only IPv4. A headless Service without a selector is not checked. */
function validateSingleStack(service: KubeObject): Causes {
  if (typeOf(service) === "ExternalName" || (isHeadless(service) && entriesAt(service, "spec", "selector").length === 0)) return [];
  const policy = textAt(service, "spec", "ipFamilyPolicy");
  const six = textsAt(service, "spec", "clusterIPs").findIndex((address) => ipFamilyOf(address) === "IPv6");
  const family = textsAt(service, "spec", "ipFamilies").indexOf("IPv6");
  if (policy === "RequireDualStack")
    return [invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")];
  if (six >= 0)
    return [invalid(`spec.clusterIPs[${six}]`, [...textsAt(service, "spec", "clusterIPs")], "IPv6 is not configured on this cluster")];
  return family >= 0 ? [invalid(`spec.ipFamilies[${family}]`, "IPv6", "not configured on this cluster")] : [];
}

function validateAddressChange(next: KubeObject, previous: KubeObject): Causes {
  if (!hasClusterIP(next) || !hasClusterIP(previous)) return [];
  const [now, before] = [textsAt(next, "spec", "clusterIPs"), textsAt(previous, "spec", "clusterIPs")];
  const moved = before.length > 0 && now[0] !== before[0] && (now[0] === "None" || ipFamilyOf(now[0] ?? "") !== undefined);
  const [name, old] = [at(next, "spec", "loadBalancerClass"), at(previous, "spec", "loadBalancerClass")];
  const renamed = typeOf(next) === "LoadBalancer" && typeOf(previous) === "LoadBalancer" && name !== old;
  return [
    ...(moved ? [invalid("spec.clusterIPs[0]", [...now], "may not change once set")] : []),
    ...(renamed ? [invalid("spec.loadBalancerClass", name ?? null, "may not change once set")] : []),
  ];
}
