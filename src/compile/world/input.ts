/** The input of one service for the service compiler. */
import type { LatticeService } from "#crds";
import { keyText } from "#kube";
import { serviceId } from "#mesh-compiler";
import { compileService, grantsOf, sourceOf, type ServiceInput } from "#service-compiler";
import type { ServiceError } from "../errors.ts";
import { mountProblem } from "../object-access.ts";
import { namespaceOfEnvironment, type Placed } from "../placement.ts";
import { isInvalidHolder, externalAt, describeResource, type WorldState } from "./state.ts";

export function inputFor(state: WorldState, service: LatticeService, { namespace, environment }: Placed): ServiceInput {
  const { settings, secrets, readFile, syncedVersion } = state.settings;
  const written = sourceOf(service);
  const key = keyText(service.metadata);
  const holds = environment !== undefined && state.environmentOf.get(namespace)?.metadata.name === environment.metadata.name;
  return {
    service,
    namespace,
    environment,
    grants: grantsOf(holds ? environment : undefined),
    routeHolder: (resource) => {
      const claim = state.routes.holdingClaim(key, resource);
      if (claim?.key === key) return `resource '${claim.resource}' of this service`;
      return claim === undefined ? undefined : describeResource({ kind: "LatticeService", key: claim.key });
    },
    mountProblem: (kind, name) => {
      const maker = state.objects.holder(`${namespace} ${kind} ${name}`)?.key;
      return mountProblem({ kind, namespace, name, source: written, maker }, state.settings.findObject);
    },
    configs: state.configs.under(written),
    bindings: state.bindings.under(written),
    settings,
    registry: state.registry,
    secrets,
    readFile,
    syncedVersion,
    findService: (address) => {
      const id = serviceId(address.namespace, address.name);
      const node = state.mesh.graph.service(id);
      // an invalid callee has no known ports, so callers that read its address are not rolled out
      if (node === undefined || isInvalidHolder(state, id)) return undefined;
      return { ports: new Map(node.ports.map(({ name, port }) => [name, port])) };
    },
    findExternalService: (address) => {
      const external = externalAt(state, serviceId(address.namespace, address.name));
      return external === undefined ? undefined : { endpoints: new Map(Object.entries(external.spec.endpoints)) };
    },
  };
}

export function furtherErrors(state: WorldState, service: LatticeService): readonly ServiceError[] {
  const { environment: name } = service.spec;
  const environment = name === undefined ? undefined : state.environments.get(name);
  const namespace = name === undefined ? (service.metadata.namespace ?? "default") : namespaceOfEnvironment(name, environment);
  const compiled = compileService(inputFor(state, service, { namespace, environment }));
  return compiled.ok ? [] : compiled.error;
}
