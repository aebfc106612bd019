/** Changes of a world. Each returns the services to compile again. */
import type { LatticeSecretBindings, LatticeService, LatticeServiceConfig } from "#crds";
import { keyText, type ObjectKey } from "#kube";
import { registryWith, type Provisioner } from "#service-compiler";
import { isBoundBy, isConfiguredBy } from "../service-inputs.ts";
import { patchingServices } from "./patch-identity.ts";
import { replaceAll, replaceResource, changeEnvironment } from "./replace.ts";
import { servicesWhere, type WorldState, type WorldObject, type ServiceKey, type When } from "./state.ts";

/** Sets the resource types that are not built in. Returns the services that use one of the `changed` types; absent: all services. */
export function setProvisioners(
  state: WorldState,
  provisioners: readonly Provisioner[],
  changed?: ReadonlySet<string>,
): ReadonlySet<ServiceKey> {
  state.registry = registryWith(provisioners);
  const uses = ({ spec }: LatticeService) => Object.values(spec.resources ?? {}).some(({ type }) => changed?.has(type) !== false);
  return replaceAll(state, servicesWhere(state, uses));
}

export function putResource(state: WorldState, object: WorldObject, when: When): ReadonlySet<ServiceKey> {
  const key = keyText(object.metadata);
  switch (object.kind) {
    case "LatticeService":
      state.services.set(key, object);
      return replaceResource(state, { kind: object.kind, key }, when);
    case "LatticeExternalService":
      state.externals.set(key, object);
      return replaceResource(state, { kind: object.kind, key });
    case "LatticeEnvironment":
      return changeEnvironment(state, object.metadata.name, object);
    case "LatticeServiceConfig": {
      const before = state.configs.get(key);
      state.configs.set(key, object);
      return replaceAll(state, configuredBy(state, [before, object]));
    }
    case "LatticeSecretBindings": {
      const before = state.bindings.get(key);
      state.bindings.set(key, object);
      return replaceAll(state, boundBy(state, [before, object]));
    }
  }
}

export function removeResource(state: WorldState, kind: WorldObject["kind"], key: ServiceKey): ReadonlySet<ServiceKey> {
  state.invalid.delete(`${kind} ${key}`);
  switch (kind) {
    case "LatticeService":
      state.services.delete(key);
      return replaceResource(state, { kind, key });
    case "LatticeExternalService":
      state.externals.delete(key);
      return replaceResource(state, { kind, key });
    case "LatticeEnvironment":
      return changeEnvironment(state, key, undefined);
    case "LatticeServiceConfig": {
      const before = state.configs.get(key);
      state.configs.delete(key);
      return replaceAll(state, configuredBy(state, [before]));
    }
    case "LatticeSecretBindings": {
      const before = state.bindings.get(key);
      state.bindings.delete(key);
      return replaceAll(state, boundBy(state, [before]));
    }
  }
}

/** A Deployment was created, changed or deleted: see `findWorkload` of the settings. */
export function workloadChanged(state: WorldState, deployment: ObjectKey): ReadonlySet<ServiceKey> {
  const affected = new Set<ServiceKey>();
  // a service that got a workloadRef may still have its own Deployment
  const own = state.places.holder(keyText(deployment))?.key;
  const isLeft = own !== undefined && state.services.get(own)?.spec.workloadRef !== undefined;
  for (const key of new Set([...patchingServices(state, deployment), ...(isLeft ? [own] : [])])) {
    for (const other of replaceResource(state, { kind: "LatticeService", key }, "if it differs")) affected.add(other);
  }
  return affected;
}

function configuredBy(state: WorldState, configs: readonly (LatticeServiceConfig | undefined)[]): readonly ServiceKey[] {
  return servicesWhere(state, (service) => configs.some((config) => config !== undefined && isConfiguredBy(service, config)));
}

function boundBy(state: WorldState, all: readonly (LatticeSecretBindings | undefined)[]): readonly ServiceKey[] {
  return servicesWhere(state, (service) => all.some((bindings) => bindings !== undefined && isBoundBy(service, bindings)));
}
