/**
 * All Lattice resources and their compiled objects. Each change returns the services to recompile: the service itself, its neighbours in
 * the mesh, and those whose environment, config or bindings changed.
 *
 * Services are identified here by source namespace and name (`team-a/api`), in the mesh by target namespace and name (`prod/api`).
 */
import type { Result } from "#base";
import type { LatticeEnvironment, LatticeExternalService, LatticeService } from "#crds";
import { keyText, type KubeObject, type ObjectKey } from "#kube";
import type { Mesh, ServiceId } from "#mesh-compiler";
import type { Provisioner } from "#service-compiler";
import { dependenciesOf, type Dependencies } from "./closed-dependencies.ts";
import type { ServiceError } from "./errors.ts";
import { closedForm, type InvalidKind } from "./invalid-object.ts";
import { erroneousResources } from "./mesh-node.ts";
import type { PatchTarget, WorkloadError } from "./patch-target.ts";
import type { RouteClaim } from "./route-claims.ts";
import type { WorldSettings } from "./settings.ts";
import { setProvisioners, putResource, removeResource, workloadChanged } from "./world/changes.ts";
import { compileInWorld, accessIn, compileExternalInWorld, podSecurityOf, type CompiledApplication } from "./world/compile-one.ts";
import { inputFor } from "./world/input.ts";
import { targetFor, patcherOfWorkload, patchingServices, patchProblemOf } from "./world/patch-identity.ts";
import {
  resourceNamed,
  isInvalidHolder,
  heldId,
  placeOf,
  trustDomainOf,
  WorldState,
  type WorldObject,
  type ServiceKey,
} from "./world/state.ts";

export type { CompiledApplication } from "./world/compile-one.ts";
export type { ServiceKey, WorldObject } from "./world/state.ts";

/**
 * Lattice resources and their compiled objects, updated incrementally. `loadWorld` creates a world from documents.
 *
 * @example
 * const world = new World(worldSettings());
 * for (const key of world.put(service)) console.log(key, world.compile(key));
 */
export class World {
  readonly mesh: Mesh;
  readonly #state: WorldState;

  constructor(settings: WorldSettings) {
    this.#state = new WorldState(settings);
    this.mesh = this.#state.mesh;
  }

  /** Sets the resource types that are not built in. Returns the services that use one of the `changed` types; absent: all services. */
  setProvisioners(provisioners: readonly Provisioner[], changed?: ReadonlySet<string>): ReadonlySet<ServiceKey> {
    return setProvisioners(this.#state, provisioners, changed);
  }

  services(): readonly ServiceKey[] {
    return [...this.#state.services.keys()].toSorted();
  }

  externals(): readonly ServiceKey[] {
    return [...this.#state.externals.keys()].toSorted();
  }

  service(key: ServiceKey): LatticeService | undefined {
    return this.#state.services.get(key);
  }

  external(key: ServiceKey): LatticeExternalService | undefined {
    return this.#state.externals.get(key);
  }

  /** The id of the service in the mesh; undefined: it is not in the mesh, and compiling it gives the error. */
  idOf(key: ServiceKey): ServiceId | undefined {
    return heldId(this.#state, { kind: "LatticeService", key }) ?? heldId(this.#state, { kind: "LatticeExternalService", key });
  }

  keyOf(id: ServiceId): ServiceKey | undefined {
    return this.#state.places.holder(id)?.key;
  }

  trustDomainOf(namespace: string): string {
    return trustDomainOf(this.#state, namespace);
  }

  environment(name: string): LatticeEnvironment | undefined {
    return this.#state.environments.get(name);
  }

  environments(): readonly string[] {
    return [...this.#state.environments.keys()].toSorted();
  }

  /** Why a namespace cannot get a default deny: a gateway or monitoring is in it. undefined: it can. */
  reservation(namespace: string): string | undefined {
    return this.#state.reserved.reasonFor(namespace);
  }

  /** Why the gatewayRef of an environment is refused. */
  gatewayProblem(environment: string): string | undefined {
    return this.#state.reserved.gatewayProblem(environment);
  }

  /** Why a service or external service may not have its target namespace. */
  placementError(kind: "LatticeService" | "LatticeExternalService", key: ServiceKey): ServiceError | undefined {
    const object = resourceNamed(this.#state, { kind, key });
    const placed = object === undefined ? undefined : placeOf(this.#state, object);
    return placed?.ok === false ? placed.error : undefined;
  }

  put(object: WorldObject): ReadonlySet<ServiceKey> {
    const wasInvalid = this.#state.invalid.delete(`${object.kind} ${keyText(object.metadata)}`);
    return putResource(this.#state, object, wasInvalid ? "always" : "if it differs");
  }

  /** Adds a resource with an invalid spec. Its earlier declarations are removed. */
  putInvalid(kind: InvalidKind, object: KubeObject): ReadonlySet<ServiceKey> {
    this.#state.invalid.add(`${kind} ${keyText(object.metadata)}`);
    return putResource(this.#state, closedForm(kind, object), "always");
  }

  remove(kind: WorldObject["kind"], key: ServiceKey): ReadonlySet<ServiceKey> {
    return removeResource(this.#state, kind, key);
  }

  /** Services in patch mode that name this Deployment, whether or not they may patch it. */
  patching(deployment: ObjectKey): readonly ServiceKey[] {
    return patchingServices(this.#state, deployment);
  }

  /** The service that patches this Deployment, or may do so as soon as its errors are corrected; undefined: none. */
  patcherOf(deployment: ObjectKey): ServiceKey | undefined {
    return patcherOfWorkload(this.#state, keyText(deployment))?.key;
  }

  /** A Deployment was created, changed or deleted: see `findWorkload` of the settings. */
  workloadChanged(deployment: ObjectKey): ReadonlySet<ServiceKey> {
    return workloadChanged(this.#state, deployment);
  }

  /** The Deployment of a service in patch mode, or why the service may not patch it; undefined: it is not in patch mode, or not in the mesh. */
  targetOf(key: ServiceKey): Result<PatchTarget, WorkloadError> | undefined {
    const service = this.#state.services.get(key);
    const placed = service === undefined ? undefined : placeOf(this.#state, service);
    return service === undefined || placed?.ok !== true ? undefined : targetFor(this.#state, service, placed.value);
  }

  /** Why a service in patch mode has no identity, so that nothing is open for it; undefined: it has one. */
  patchProblem(id: ServiceId): string | undefined {
    return patchProblemOf(this.#state, id);
  }

  /**
   * Returns all errors of a service. A service that may not have its target namespace has only that error: other errors would disclose to its author
   * information about Secrets and objects of another namespace. `misplaced: "check"` lists them too, for authors who have all the files.
   */
  compile(key: ServiceKey, options: { readonly misplaced?: "check" } = {}): Result<CompiledApplication, readonly ServiceError[]> {
    return compileInWorld(this.#state, key, options);
  }

  /**
   * The policies and HTTPRoutes of a service, from declarations alone. They are compiled whether or not the workload
   * compiles; empty for a service that does not hold its target name.
   */
  accessOf(key: ServiceKey): readonly KubeObject[] {
    return accessIn(this.#state, key);
  }

  /** The declared calls and which of them are closed; undefined for a service that does not hold its target name. */
  dependenciesOf(key: ServiceKey): Dependencies | undefined {
    const id = heldId(this.#state, { kind: "LatticeService", key });
    const service = this.#state.services.get(key);
    const placed = service === undefined ? undefined : placeOf(this.#state, service);
    if (id === undefined || service === undefined || placed?.ok !== true) return undefined;
    const erroneous = () => erroneousResources(inputFor(this.#state, service, placed.value));
    return dependenciesOf(this, { service, id, erroneous });
  }

  /** Whether the holder of this id has an invalid spec. */
  isInvalid(id: ServiceId): boolean {
    return isInvalidHolder(this.#state, id);
  }

  /** ServiceEntries of an external service. */
  compileExternal(key: ServiceKey): Result<readonly KubeObject[], readonly ServiceError[]> {
    return compileExternalInWorld(this.#state, key);
  }

  /** Namespaces with a service, or of an environment. */
  namespaces(): readonly string[] {
    return [...new Set([...this.#state.environmentOf.keys(), ...this.mesh.graph.namespaces()])].toSorted();
  }

  /** Whether the namespace has a service, or belongs to an environment. */
  hasNamespace(namespace: string): boolean {
    return this.#state.environmentOf.has(namespace) || this.mesh.graph.hasServices(namespace);
  }

  namespaceObjects(namespace: string): readonly KubeObject[] {
    const environment = this.#state.environmentOf.get(namespace);
    const named = environment === undefined ? {} : { "lattice.dev/environment": environment.metadata.name };
    return this.mesh.namespaceObjects(namespace, { ...named, ...podSecurityOf(this.#state, namespace) });
  }

  /** Hosts and paths that the service holds, by resource. */
  heldRoutes(key: ServiceKey): ReadonlyMap<string, Pick<RouteClaim, "host" | "path">> {
    const held = this.#state.routes.claimsOf(key).filter(({ resource }) => this.#state.routes.holder(key, resource) === undefined);
    return new Map(held.map(({ resource, host, path }) => [resource, { host, path }]));
  }
}
