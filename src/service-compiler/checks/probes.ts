/** Probes of a wrong port or path. A probe that cannot succeed prevents the pod from becoming ready. */
import { didYouMean } from "#crds";
import { isJsonObject, type JsonObject } from "#kube";
import type { CompileError, Warning } from "../errors.ts";
import type { RenderedContainer } from "../rendering/render-service.ts";
import type { Ports } from "../workload/container.ts";
import { tcpPorts } from "../workload/network.ts";
import { hasEmptySegment, needsResolving, resolvedFilePath, resolvedUrlPath } from "../paths.ts";

export type CheckFindings = { readonly errors: readonly CompileError[]; readonly warnings: readonly Warning[] };

const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"] as const;
const HANDLERS = ["httpGet", "tcpSocket", "grpc"] as const;

/** `serving`: the container that has the ports of the service. */
export function checkProbes(containers: readonly RenderedContainer[], serving: RenderedContainer | undefined, ports: Ports): CheckFindings {
  const errors: CompileError[] = [];
  const warnings: Warning[] = [];
  for (const container of containers) {
    for (const probe of PROBES) {
      const handlers: JsonObject | undefined = container.spec[probe];
      if (handlers === undefined) continue;
      for (const kind of HANDLERS) {
        const handler = handlers[kind];
        if (!isJsonObject(handler)) continue;
        const at = (field: string) => `spec.containers.${container.name}.${probe}.${kind}.${field}`;
        const unknown = unknownName(handler, ports);
        if (unknown !== undefined) errors.push({ kind: "invalid-field", place: at("port"), message: unknown });
        const unusual = unusualPort(handler, ports, container === serving);
        if (unusual !== undefined) warnings.push({ place: at("port"), message: unusual });
        const path = unusualPath(handler);
        if (path !== undefined) warnings.push({ place: at("path"), message: path });
      }
    }
  }
  return { errors, warnings };
}

/** The kubelet resolves the name in the container, which has the port names of service.ports only. */
function unknownName({ port }: JsonObject, ports: Ports): string | undefined {
  if (typeof port !== "string" || Object.hasOwn(ports, port)) return undefined;
  const names = Object.keys(ports).toSorted();
  const there = names.length === 0 ? "; it has none at all: add the port, or write the number" : `; there are ${names.join(", ")}`;
  return `service.ports has no port ${JSON.stringify(port)}${didYouMean(port, names)}${there}`;
}

/** Other containers may listen on ports that the Service does not have. */
function unusualPort({ port, host }: JsonObject, ports: Ports, serves: boolean): string | undefined {
  if (typeof port === "string") {
    const named = Object.hasOwn(ports, port) ? ports[port] : undefined;
    return named === undefined || named.protocol === "TCP"
      ? undefined
      : `port ${port} is ${named.protocol}, and a probe connects over TCP; probe another port, or use exec`;
  }
  if (typeof port !== "number" || !serves || host !== undefined || leadsTo(port, ports)) return undefined;
  const known = tcpPorts(ports).map(([name, { port: number, targetPort = number }]) => ({ name, number, target: targetPort }));
  if (known.length === 0) return undefined;
  const outside = known.find(({ number }) => number === port);
  if (outside !== undefined)
    return `${outside.number} is port ${outside.name} of the Service, and the container listens on its targetPort; write ${outside.target}`;
  const there = known.map(({ name, target }) => `${name} (${target})`).join(", ");
  return `no port of service.ports leads to ${port} of the container; correct it, or add the port; there are ${there}`;
}

function leadsTo(wanted: number, ports: Ports): boolean {
  for (const { port, targetPort = port, protocol } of Object.values(ports)) if (targetPort === wanted && protocol === "TCP") return true;
  return false;
}

function unusualPath({ path }: JsonObject): string | undefined {
  if (typeof path !== "string" || !needsResolving(path) || (resolvedUrlPath(path) === path && !hasEmptySegment(path))) return undefined;
  const instead = resolvedFilePath(resolvedUrlPath(path));
  return `${JSON.stringify(path)} is requested as written, and servers redirect it or answer 404; write ${instead}`;
}
