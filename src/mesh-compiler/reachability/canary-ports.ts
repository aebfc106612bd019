/**
 * The ports of a Service that Flagger creates or rewrites: they follow from the Canary, not from the compiled Service. With
 * `portDiscovery` Flagger adds the other ports of the pods under their own numbers, all of them as TCP (flagger: pkg/router/kubernetes_default.go and
 * getPorts in pkg/canary/util.go).
 */
import { fieldAt, type JsonObject, type KubeObject } from "#kube";
import { objectsIn } from "./peers.ts";

export type CanaryPort = { readonly name: string; readonly port: number; readonly targetPort: number; readonly protocol: "TCP" };

/** By `namespace/name` of the target workload of a Canary. */
export function canaryPorts(objects: readonly KubeObject[]): ReadonlyMap<string, readonly CanaryPort[]> {
  const canaries = objects.filter(({ kind }) => kind === "Canary");
  if (canaries.length === 0) return new Map();
  const deployments = new Map(objects.filter(({ kind }) => kind === "Deployment").map((object) => [idOf(object, undefined), object]));
  return new Map(
    canaries.flatMap((canary) => {
      const id = idOf(canary, fieldAt(canary, "spec", "targetRef", "name"));
      const ports = portsOf(fieldAt(canary, "spec", "service"), deployments.get(id));
      return ports.length === 0 ? [] : [[id, ports] as const];
    }),
  );
}

function idOf({ metadata }: KubeObject, name: unknown): string {
  return `${metadata.namespace ?? "default"}/${typeof name === "string" ? name : metadata.name}`;
}

function portsOf(service: unknown, deployment: KubeObject | undefined): readonly CanaryPort[] {
  const [name, port, target] = [fieldAt(service, "portName"), fieldAt(service, "port"), fieldAt(service, "targetPort")];
  if (typeof port !== "number") return [];
  const targetPort = typeof target === "number" ? target : port;
  const first = { name: typeof name === "string" ? name : "http", port, targetPort, protocol: "TCP" as const };
  if (fieldAt(service, "portDiscovery") !== true) return [first];
  const containers = objectsIn(fieldAt(deployment, "spec", "template", "spec", "containers"));
  const others = new Map(containers.flatMap(discovered).map((one) => [one.port, one]));
  others.delete(targetPort);
  return [first, ...others.values()];
}

function discovered(container: JsonObject): readonly CanaryPort[] {
  return objectsIn(container["ports"]).flatMap(({ name, containerPort }) => {
    if (typeof name !== "string" || typeof containerPort !== "number") return [];
    return [{ name, port: containerPort, targetPort: containerPort, protocol: "TCP" as const }];
  });
}
