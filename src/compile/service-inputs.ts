/** Which services depend on a config, on bindings or on a neighbour in the mesh. */
import type { LatticeSecretBindings, LatticeService, LatticeServiceConfig } from "#crds";
import type { KubeObject } from "#kube";

/** The params of a resource may read the outputs of another resource. */
export function readsResources(params: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(params).length > 0 && JSON.stringify(params).includes("${resources.");
}

function namespaceOf({ metadata }: Pick<KubeObject, "metadata">): string {
  return metadata.namespace ?? "default";
}

/** A config for a cluster may apply: the compiler checks whether it is this cluster. */
export function isConfiguredBy(service: LatticeService, config: LatticeServiceConfig): boolean {
  const { environment, service: name } = config.spec.appliesTo;
  if (namespaceOf(service) !== namespaceOf(config)) return false;
  if (environment !== undefined) return environment === service.spec.environment;
  return name === undefined || name === service.metadata.name;
}

export function isBoundBy(service: LatticeService, bindings: LatticeSecretBindings): boolean {
  const name = bindings.spec.service;
  return namespaceOf(service) === namespaceOf(bindings) && (name === undefined || name === service.metadata.name);
}
