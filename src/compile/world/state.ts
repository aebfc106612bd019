/** The resources of a world and who holds which name; the questions about one resource that all parts ask. */
import { err, type Result } from "#base";
import type { LatticeEnvironment, LatticeExternalService, LatticeSecretBindings, LatticeService, LatticeServiceConfig } from "#crds";
import { Mesh, type ServiceId } from "#mesh-compiler";
import { registryWith } from "#service-compiler";
import type { ServiceError } from "../errors.ts";
import { Indexed } from "../indexed.ts";
import { NameClaims, type Claimant } from "../name-claims.ts";
import { reservedFor } from "../object-names.ts";
import { place, type Placed } from "../placement.ts";
import { ReservedNamespaces } from "../reserved-namespaces.ts";
import { RouteClaims } from "../route-claims.ts";
import type { WorldSettings } from "../settings.ts";

/** A resource that a world accepts. */
export type WorldObject = LatticeService | LatticeExternalService | LatticeEnvironment | LatticeServiceConfig | LatticeSecretBindings;

/** Source namespace and name of a service: `namespace/name`. */
export type ServiceKey = string;

export type ResourceName = Pick<Claimant, "kind" | "key">;
/** "if it differs": only the spec of the resource changed, so its node may be unchanged, and then its neighbours are not affected. */
export type When = "always" | "if it differs";

/** All resources, and what follows from their names; only `changes.ts`, `replace.ts` and `claims.ts` change it. */
export class WorldState {
  readonly mesh: Mesh;
  readonly settings: WorldSettings;
  readonly services = new Indexed<LatticeService>(({ spec }) => spec.environment);
  readonly externals = new Indexed<LatticeExternalService>(({ spec }) => spec.environment);
  readonly configs = new Indexed<LatticeServiceConfig>(({ metadata }) => metadata.namespace);
  readonly bindings = new Indexed<LatticeSecretBindings>(({ metadata }) => metadata.namespace);
  readonly environments = new Map<string, LatticeEnvironment>();
  /** By target namespace. */
  readonly environmentOf = new Map<string, LatticeEnvironment>();
  /** The holder of each target namespace and name. */
  readonly places = new NameClaims();
  /** The maker of each object: `namespace Kind name`. */
  readonly objects = new NameClaims();
  /** The service that patches each Deployment. */
  readonly workloads = new NameClaims();
  readonly reserved: ReservedNamespaces;
  readonly routes = new RouteClaims();
  /** Services and external services with an invalid spec: they keep their names and declare nothing. */
  readonly invalid = new Set<string>();
  registry = registryWith();

  constructor(settings: WorldSettings) {
    this.settings = settings;
    this.reserved = new ReservedNamespaces({ gateway: settings.gateway, monitoring: settings.settings.monitoring });
    this.mesh = new Mesh({
      trustDomain: (namespace) => trustDomainOf(this, namespace),
      gateway: (namespace) => settings.gatewayIdentity(gatewayOf(this, namespace)),
      monitoring: settings.settings.monitoring,
      waypointWanted: (namespace) => this.environmentOf.get(namespace)?.spec.mesh?.waypoint === true,
    });
  }
}

export function isSame(one: ResourceName | undefined, other: ResourceName): boolean {
  return one !== undefined && one.kind === other.kind && one.key === other.key;
}

export function describeResource({ kind, key }: ResourceName): string {
  return `${kind} ${key}`;
}

export function resourceNamed(state: WorldState, { kind, key }: ResourceName): LatticeService | LatticeExternalService | undefined {
  return kind === "LatticeService" ? state.services.get(key) : state.externals.get(key);
}

export function isInvalidResource(state: WorldState, { kind, key }: ResourceName): boolean {
  return state.invalid.size > 0 && state.invalid.has(describeResource({ kind, key }));
}

/** Whether the holder of this id has an invalid spec. */
export function isInvalidHolder(state: WorldState, id: ServiceId): boolean {
  const holder = state.places.holder(id);
  return holder !== undefined && isInvalidResource(state, holder);
}

/** The id that the service holds in the mesh; undefined: another service holds it. */
export function heldId(state: WorldState, one: ResourceName): ServiceId | undefined {
  return state.places.namesOf(one).find((id) => isSame(state.places.holder(id), one));
}

export function placeOf(state: WorldState, object: LatticeService | LatticeExternalService): Result<Placed, ServiceError> {
  const target = targetPlace(state, object);
  const why = target.ok ? state.reserved.reasonFor(target.value.namespace) : undefined;
  return target.ok && why !== undefined ? err({ kind: "reserved-namespace", namespace: target.value.namespace, why }) : target;
}

/** The target namespace, before the check for reserved namespaces. */
export function targetPlace(
  state: WorldState,
  { kind, metadata, spec }: LatticeService | LatticeExternalService,
): Result<Placed, ServiceError> {
  const reserved = kind === "LatticeService" ? reservedFor(metadata.name) : undefined;
  if (reserved !== undefined) return err({ kind: "name-reserved", name: metadata.name, for: reserved });
  const placed = place({ namespace: metadata.namespace ?? "default", environment: spec.environment }, state.environments);
  const isApiServers = kind === "LatticeService" && placed.ok && placed.value.namespace === "default" && metadata.name === "kubernetes";
  return isApiServers ? err({ kind: "name-reserved", name: metadata.name, for: "the API server's own Service" }) : placed;
}

export function externalAt(state: WorldState, id: ServiceId): LatticeExternalService | undefined {
  const holder = state.places.holder(id);
  return holder?.kind === "LatticeExternalService" && !isInvalidResource(state, holder) ? state.externals.get(holder.key) : undefined;
}

export function servicesWhere(state: WorldState, holds: (service: LatticeService) => boolean): readonly ServiceKey[] {
  return [...state.services.keys()].filter((key) => {
    const service = state.services.get(key);
    return service !== undefined && holds(service);
  });
}

export function gatewayOf(state: WorldState, namespace: string) {
  return state.environmentOf.get(namespace)?.spec.gatewayRef ?? state.settings.gateway;
}

export function trustDomainOf(state: WorldState, namespace: string): string {
  return state.environmentOf.get(namespace)?.spec.mesh?.trustDomain ?? state.settings.trustDomain;
}
