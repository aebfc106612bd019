/** HTTPRoutes of a service. They follow from its declarations alone, so that one that was removed goes even while the workload has errors. */
import type { CompileError } from "../errors.ts";
import type { ServiceInput } from "../input.ts";
import type { Resolution } from "../provisioners/index.ts";
import type { Ports } from "./container.ts";
import { compileRoute, portOfRoute, tcpPorts } from "./network.ts";
import type { Compiled } from "./once.ts";

export type CompiledRoutes = { readonly routes: readonly Compiled[]; readonly errors: readonly CompileError[] };

export function compileRoutes(input: ServiceInput, { provisioned }: Pick<Resolution, "provisioned">): CompiledRoutes {
  const { service, namespace, environment, settings } = input;
  const ports: Ports = service.spec.service?.ports ?? {};
  const gateway = environment?.spec.gatewayRef ?? settings.gateway;
  const owner = { name: service.metadata.name, namespace };
  const routes: Compiled[] = [];
  const errors: CompileError[] = [];
  for (const [name, { route }] of provisioned) {
    if (route === undefined) continue;
    const port = portOfRoute(route, ports);
    if (port !== undefined) routes.push(compileRoute(owner, gateway, { resource: name, route, port }));
    else errors.push({ kind: "provisioner", name, message: noPort(route.port, ports) });
  }
  return { routes, errors };
}

function noPort(wanted: string | number | undefined, ports: Ports): string {
  const known = tcpPorts(ports).map(([name]) => name);
  if (known.length === 0) return "a route needs a TCP port to lead to; add one in service.ports";
  return `params.port is ${JSON.stringify(wanted)}, and service.ports has none like that; there are ${known.join(", ")}`;
}
