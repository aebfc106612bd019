/** The addresses and ports a Service is given when it is created, and what becomes of them when it changes its type. */
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { at, childOf, type Draft, draftsAt, entriesAt, listAt, numberAt, objectsAt, textAt, textsAt } from "../draft.ts";
import { ipFamilyOf } from "../rules/shared.ts";
import { freeNodePorts, type ServiceAddresses } from "../service-addresses.ts";

export const typeOf = (service: unknown) => textAt(service, "spec", "type");

export const hasClusterIP = (service: unknown) => typeOf(service) !== "ExternalName";

export const isHeadless = (service: unknown) => textAt(service, "spec", "clusterIP") === "None";

export const hasNodePorts = (service: unknown) =>
  typeOf(service) === "NodePort" || (typeOf(service) === "LoadBalancer" && at(service, "spec", "allocateLoadBalancerNodePorts") !== false);

export const isExternal = (service: unknown) =>
  ["NodePort", "LoadBalancer"].includes(typeOf(service)) ||
  (typeOf(service) === "ClusterIP" && listAt(service, "spec", "externalIPs").length > 0);

export const needsHealthCheck = (service: unknown) =>
  typeOf(service) === "LoadBalancer" && textAt(service, "spec", "externalTrafficPolicy") === "Local";

export function allocate(draft: Draft, addresses: ServiceAddresses | undefined): void {
  const spec = childOf(draft, "spec");
  if (!hasClusterIP(draft)) return;
  if (textAt(spec, "clusterIP") === "" && textsAt(spec, "clusterIPs").length === 0) {
    const address = addresses?.freeClusterIP();
    if (address !== undefined) spec["clusterIP"] = address;
  }
  if (textsAt(spec, "clusterIPs").length === 0 && textAt(spec, "clusterIP") !== "") spec["clusterIPs"] = [textAt(spec, "clusterIP")];
  fillFamilies(spec, isHeadless(draft));
  if (addresses !== undefined) allocatePorts(draft, spec, addresses);
}

/** A port that the Service itself asks for is taken as well. When the range is full, validation finds ports without a number. */
function allocatePorts(draft: Draft, spec: Draft, addresses: ServiceAddresses): void {
  const ports = hasNodePorts(draft) ? draftsAt(spec, "ports").filter((port) => (numberAt(port, "nodePort") ?? 0) === 0) : [];
  const needsHealth = needsHealthCheck(draft) && (numberAt(spec, "healthCheckNodePort") ?? 0) === 0;
  if (ports.length === 0 && !needsHealth) return;
  const own = objectsAt(spec, "ports").map((port) => numberAt(port, "nodePort") ?? 0);
  const free = freeNodePorts(new Set([...addresses.takenNodePorts(), ...own]));
  const give = (to: Draft, name: string) => {
    const next = free.next();
    if (next.done !== true) to[name] = next.value;
  };
  for (const port of ports) give(port, "nodePort");
  if (needsHealth) give(spec, "healthCheckNodePort");
}

function fillFamilies(spec: Draft, headless: boolean): void {
  const selectorless = headless && entriesAt(spec, "selector").length === 0;
  if (textAt(spec, "ipFamilyPolicy") === "") spec["ipFamilyPolicy"] = selectorless ? "RequireDualStack" : "SingleStack";
  if (textsAt(spec, "ipFamilies").length > 0) return;
  spec["ipFamilies"] = selectorless ? ["IPv4", "IPv6"] : [ipFamilyOf(textAt(spec, "clusterIP")) ?? "IPv4"];
}

export function carryAllocated(spec: Draft, previous: KubeObject): void {
  const both = textAt(spec, "type") !== "ExternalName" && hasClusterIP(previous);
  if (both && textAt(spec, "clusterIP") === "" && textsAt(spec, "clusterIPs").length === 0) {
    spec["clusterIP"] = at(previous, "spec", "clusterIP");
    spec["clusterIPs"] = at(previous, "spec", "clusterIPs");
  }
  const [given, kept] = [textAt(spec, "clusterIP"), textsAt(spec, "clusterIPs")];
  const renamed = both && given !== "" && given !== kept[0] && jsonEqual([...kept], at(previous, "spec", "clusterIPs"));
  if (renamed) spec["clusterIPs"] = [given, ...kept.slice(1)];
  if (both && textAt(spec, "ipFamilyPolicy") === "") spec["ipFamilyPolicy"] = at(previous, "spec", "ipFamilyPolicy");
  if (both && textsAt(spec, "ipFamilies").length === 0) spec["ipFamilies"] = at(previous, "spec", "ipFamilies");
  const key = (port: JsonObject) => `${textAt(port, "protocol")}/${numberAt(port, "port") ?? 0}`;
  const old = new Map(objectsAt(previous, "spec", "ports").map((port) => [key(port), at(port, "nodePort")]));
  if (hasNodePorts({ spec }) && hasNodePorts(previous)) {
    for (const port of draftsAt(spec, "ports"))
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
export function dropUnneeded(draft: Draft, previous: KubeObject): void {
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
    for (const port of draftsAt(spec, "ports")) delete port["nodePort"];
  if (needsHealthCheck(previous) && !needsHealthCheck(draft)) drop("healthCheckNodePort");
  if (typeOf(previous) === "LoadBalancer" && typeOf(draft) !== "LoadBalancer") drop("allocateLoadBalancerNodePorts", "loadBalancerClass");
  if (isExternal(previous) && !isExternal(draft)) drop("externalTrafficPolicy");
}

function sameNodePorts(spec: Draft, previous: KubeObject): boolean {
  const known = new Set(objectsAt(previous, "spec", "ports").map((port) => numberAt(port, "nodePort") ?? 0));
  return objectsAt(spec, "ports").every((port) => known.has(numberAt(port, "nodePort") ?? 0) || (numberAt(port, "nodePort") ?? 0) === 0);
}
