/** The addresses and ports a Service is given when it is created, and what becomes of them when it changes its type. */
import { jsonEqual, type KubeObject } from "#kube";
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

export function allocateNew(draft: Draft, addresses: ServiceAddresses | undefined): void {
  if (!hasClusterIP(draft)) return;
  allocateAddresses(draft, addresses);
  if (addresses === undefined) return;
  if (hasNodePorts(draft)) shareNodePorts(draftsAt(childOf(draft, "spec"), "ports"));
  allocatePorts(draft, addresses, sharedKey);
}

/** Of a Service that exists. Every port without a number gets one of its own. */
export function allocateMore(draft: Draft, addresses: ServiceAddresses | undefined): void {
  if (!hasClusterIP(draft)) return;
  allocateAddresses(draft, addresses);
  if (addresses !== undefined) allocatePorts(draft, addresses, (_, index) => index);
}

function allocateAddresses(draft: Draft, addresses: ServiceAddresses | undefined): void {
  const spec = childOf(draft, "spec");
  if (textAt(spec, "clusterIP") === "" && textsAt(spec, "clusterIPs").length === 0) {
    const address = addresses?.freeClusterIP();
    if (address !== undefined) spec["clusterIP"] = address;
  }
  if (textsAt(spec, "clusterIPs").length === 0 && textAt(spec, "clusterIP") !== "") spec["clusterIPs"] = [textAt(spec, "clusterIP")];
  fillFamilies(spec, isHeadless(draft));
}

const nodePortOf = (port: unknown) => numberAt(port, "nodePort") ?? 0;
const sharedKey = (port: unknown) => numberAt(port, "port") ?? 0;

/** Ports of a new Service with the same number (53/TCP, 53/UDP) share a node port: the first that is asked for. */
function shareNodePorts(ports: readonly Draft[]): void {
  const asked = new Map<number, number>();
  for (const port of ports) if (nodePortOf(port) !== 0 && !asked.has(sharedKey(port))) asked.set(sharedKey(port), nodePortOf(port));
  for (const port of ports) {
    const number = asked.get(sharedKey(port));
    if (number !== undefined && nodePortOf(port) === 0) port["nodePort"] = number;
  }
}

/** Ports with the same key get the same number. When the range is full, validation finds ports without a number. */
function allocatePorts(draft: Draft, addresses: ServiceAddresses, keyOf: (port: Draft, index: number) => number): void {
  const spec = childOf(draft, "spec");
  const ports = hasNodePorts(draft) ? draftsAt(spec, "ports").filter((port) => nodePortOf(port) === 0) : [];
  const needsHealth = needsHealthCheck(draft) && (numberAt(spec, "healthCheckNodePort") ?? 0) === 0;
  if (ports.length === 0 && !needsHealth) return;
  // a port that the Service itself asks for is taken as well
  const own = objectsAt(spec, "ports").map(nodePortOf);
  const free = freeNodePorts(new Set([...addresses.takenNodePorts(), ...own]));
  const given = new Map<number, number>();
  ports.forEach((port, index) => {
    const key = keyOf(port, index);
    const number = given.get(key) ?? free.next().value;
    if (number === undefined) return;
    given.set(key, number);
    port["nodePort"] = number;
  });
  const health = needsHealth ? free.next().value : undefined;
  if (health !== undefined) spec["healthCheckNodePort"] = health;
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
  if (hasNodePorts({ spec }) && hasNodePorts(previous)) carryNodePorts(spec, previous);
  const health = at(previous, "spec", "healthCheckNodePort");
  if (needsHealthCheck({ spec }) && needsHealthCheck(previous) && (numberAt(spec, "healthCheckNodePort") ?? 0) === 0)
    setOrDrop(spec, "healthCheckNodePort", health);
}

/** By the name of the port, whatever else of it changes; not where the Service asks for that number for another port. */
function carryNodePorts(spec: Draft, previous: KubeObject): void {
  const asked = new Set(objectsAt(spec, "ports").map(nodePortOf));
  const old = new Map(objectsAt(previous, "spec", "ports").map((port) => [textAt(port, "name"), nodePortOf(port)]));
  for (const port of draftsAt(spec, "ports")) {
    if (nodePortOf(port) !== 0) continue;
    const number = old.get(textAt(port, "name")) ?? 0;
    setOrDrop(port, "nodePort", number === 0 || asked.has(number) ? undefined : number);
  }
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
