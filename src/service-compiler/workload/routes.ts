/** HTTPRoutes of a service. They follow from its declarations alone, so that a removed route is deleted even while the workload has errors. */
import type { CompileError, Warning } from "../errors.ts";
import type { ServiceInput } from "../input.ts";
import type { ResourceResolution } from "../provisioners/index.ts";
import type { Ports } from "./container.ts";
import { compileRoute, portOfRoute, tcpPorts } from "./network.ts";
import type { CompiledObject } from "./once.ts";

export type CompiledRoutes = {
  readonly routes: readonly CompiledObject[];
  readonly errors: readonly CompileError[];
  readonly warnings: readonly Warning[];
};

export function compileRoutes(input: ServiceInput, { provisioned }: Pick<ResourceResolution, "provisioned">): CompiledRoutes {
  const { service, namespace, environment, settings } = input;
  const ports: Ports = service.spec.service?.ports ?? {};
  const gateway = environment?.spec.gatewayRef ?? settings.gateway;
  const owner = { name: service.metadata.name, namespace };
  const routes: CompiledObject[] = [];
  const errors: CompileError[] = [];
  const warnings: Warning[] = [];
  for (const [name, { route }] of provisioned) {
    if (route === undefined) continue;
    const port = portOfRoute(route, ports);
    if (port === undefined) {
      errors.push({ kind: "provisioner", name, message: noPort(route.port, ports), field: "params.port" });
      continue;
    }
    routes.push(compileRoute(owner, gateway, { resource: name, route, port }));
    const internal = route.port === undefined ? internalPort(ports) : undefined;
    if (internal !== undefined) warnings.push({ place: `spec.resources.${name}`, message: publishes(internal) });
  }
  return { routes, errors, warnings };
}

/** Names of ports that are rarely meant to be published. */
const INTERNAL: ReadonlySet<string> = new Set(["metrics", "admin", "debug", "pprof", "management", "health", "probes"]);

function internalPort(ports: Ports): string | undefined {
  return tcpPorts(ports).find(([name], _, all) => all.length === 1 && INTERNAL.has(name))?.[0];
}

function publishes(port: string): string {
  return `publishes port ${port}, the only one of the service; if it is the intended one, set params.port: ${port}, else add the intended port`;
}

function noPort(wanted: string | number | undefined, ports: Ports): string {
  const known = tcpPorts(ports).map(([name]) => name);
  if (known.length === 0) return "a route needs a TCP port to lead to; add one in service.ports";
  if (wanted === undefined)
    return `params.port: is required: service.ports has ${known.join(", ")}, none is called http, so the port to publish must be named`;
  return `params.port is ${JSON.stringify(wanted)}, which service.ports does not have; there are ${known.join(", ")}`;
}
