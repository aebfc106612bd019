/**
 * The allowed flows, computed from compiled objects alone, so that two versions of a world can be compared by their flows, and a
 * world with a cluster.
 *
 * Only peers that the caller's own policy names are evaluated, since it denies all others. For a workload without a policy every
 * peer is evaluated.
 */
import { fieldAt, isJsonObject, type JsonObject, type KubeObject } from "#kube";
import { DataPlane, HBONE_PORT } from "#mesh-compiler";

/** One allowed flow. */
export type Flow = {
  readonly from: string;
  readonly to: string;
  readonly port: number | undefined;
  /** mesh: between services. outside: to an external service. managed: to a database that is not a Lattice service. route: from outside the cluster. */
  readonly kind: "mesh" | "outside" | "managed" | "route";
};

/**
 * A flow as one line: `shop/web -> shop/api:8080`.
 *
 * @example diff.flows.opened.map(flowText).join("\n")
 */
export function flowText({ from, to, port, kind }: Flow): string {
  const note = { mesh: "", outside: "  (outside)", managed: "  (not a Lattice service)", route: "  (route)" }[kind];
  return `${from} -> ${to}${port === undefined ? "" : `:${port}`}${note}`;
}

/**
 * All flows that a set of compiled objects allows, by their text. `trustDomain` takes a namespace; absent: `cluster.local`.
 *
 * @example const flows = [...flowsOf([...namespaces, ...objects]).keys()];
 */
export function flowsOf(objects: readonly KubeObject[], trustDomain?: (namespace: string) => string): ReadonlyMap<string, Flow> {
  const plane = trustDomain === undefined ? new DataPlane(objects) : new DataPlane(objects, trustDomain);
  const policies = new Map(objects.filter(({ kind }) => kind === "CiliumNetworkPolicy").map((object) => [idOf(object), egressOf(object)]));
  const everybody = plane.workloads();
  const flows: Flow[] = [];
  for (const from of everybody) {
    const rules = policies.get(from);
    const callees = rules === undefined ? everybody : [...new Set(rules.flatMap(servicesIn))];
    for (const to of callees) {
      for (const port of plane.portsOf(to)) {
        if (plane.ask({ from, to, port })?.open === true) flows.push({ from, to, port, kind: "mesh" });
      }
    }
    for (const rule of rules ?? []) flows.push(...outsideFlows(plane, from, rule), ...managedFlows(from, rule));
  }
  for (const object of objects) if (object.kind === "HTTPRoute") flows.push(...routeFlows(object));
  return new Map(flows.map((flow) => [flowText(flow), flow]));
}

function idOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? "default"}/${metadata.name}`;
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

function egressOf(policy: KubeObject): readonly JsonObject[] {
  return objectsIn(fieldAt(policy, "spec", "egress"));
}

const NAMESPACE = "k8s:io.kubernetes.pod.namespace";

/** `namespace/name` of pods that are selected by a label. */
function selected(rule: JsonObject, label: string): readonly string[] {
  return objectsIn(rule["toEndpoints"]).flatMap((selector) => {
    const [name, namespace] = [fieldAt(selector, "matchLabels", label), fieldAt(selector, "matchLabels", NAMESPACE)];
    return typeof name === "string" && typeof namespace === "string" ? [`${namespace}/${name}`] : [];
  });
}

function servicesIn(rule: JsonObject): readonly string[] {
  return selected(rule, "k8s:lattice.dev/service");
}

function portsIn(rule: JsonObject): readonly number[] {
  const texts = objectsIn(rule["toPorts"]).flatMap((one) => objectsIn(one["ports"]).map(({ port }) => Number(port)));
  return texts.filter((port) => Number.isInteger(port) && port !== HBONE_PORT);
}

function managedFlows(from: string, rule: JsonObject): readonly Flow[] {
  return selected(rule, "k8s:app.kubernetes.io/name").flatMap((to) =>
    portsIn(rule).map((port) => ({ from, to, port, kind: "managed" as const })),
  );
}

function outsideFlows(plane: DataPlane, from: string, rule: JsonObject): readonly Flow[] {
  const names = objectsIn(rule["toFQDNs"]).flatMap(({ matchName }) =>
    typeof matchName === "string" ? [{ host: matchName, address: undefined }] : [],
  );
  const addresses = textsIn(rule["toCIDR"]).map((range) => range.replace(/\/\d+$/, ""));
  const hosts = [...names, ...addresses.map((address) => ({ host: address, address }))];
  return hosts.flatMap(({ host, address }) =>
    portsIn(rule)
      .filter((port) => plane.askOutside(from, { kind: "outside", host, address }, port)?.open === true)
      .map((port) => ({ from, to: host, port, kind: "outside" as const })),
  );
}

function routeFlows(route: KubeObject): readonly Flow[] {
  const namespace = route.metadata.namespace ?? "default";
  const hosts = textsIn(fieldAt(route, "spec", "hostnames"));
  return objectsIn(fieldAt(route, "spec", "rules")).flatMap((rule) => {
    const paths = textsIn(objectsIn(rule["matches"]).map((match) => fieldAt(match, "path", "value") ?? "/"));
    const urls = hosts.flatMap((host) => paths.map((path) => `https://${host}${path}`));
    return objectsIn(rule["backendRefs"]).flatMap(({ name, port }) => {
      const to = `${namespace}/${typeof name === "string" ? name : ""}`;
      return urls.map((from): Flow => ({ from, to, port: typeof port === "number" ? port : undefined, kind: "route" }));
    });
  });
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
