/**
 * All Lattice resources and their compiled objects. Each change returns the services to recompile: the service itself, its neighbours in
 * the mesh, and those whose environment, config or bindings changed.
 *
 * Services are identified here by source namespace and name (`team-a/api`), in the mesh by target namespace and name (`prod/api`).
 */
import { err, ok, type Result } from "#base";
import type { LatticeEnvironment, LatticeExternalService, LatticeSecretBindings, LatticeService, LatticeServiceConfig } from "#crds";
import { keyText, type KubeObject, type ObjectKey } from "#kube";
import { Mesh, serviceId, splitId, type ServiceId, type ServiceNode } from "#mesh-compiler";
import {
  compileService,
  grantsOf,
  podSecurityLabels,
  registryWith,
  sourceOf,
  widerLevel,
  type CompiledObject,
  type CompiledService,
  type DeploymentPatch,
  type Provisioner,
  type ServiceInput,
} from "#service-compiler";
import type { WorkloadPatch } from "#workload-patch";
import type { ObjectTaken, ServiceError } from "./errors.ts";
import { dependenciesOf, type Dependencies } from "./closed-dependencies.ts";
import { closedForm, type InvalidKind } from "./invalid-object.ts";
import { erroneousResources, externalNodeOf, meshNodeOf, patchedNode, routesOf, sameNode } from "./mesh-node.ts";
import { NameClaims, type Claimant } from "./name-claims.ts";
import { mountProblem } from "./object-access.ts";
import { isFlaggerName, objectNames, reservedFor } from "./object-names.ts";
import { claimedWorkload, describeWorkloadError, patchTarget, type PatchTarget, type WorkloadError } from "./patch-target.ts";
import { namespaceOfEnvironment, place, type Placed } from "./placement.ts";
import { ReservedNamespaces } from "./reserved-namespaces.ts";
import { Indexed } from "./indexed.ts";
import { RouteClaims, type RouteClaim } from "./route-claims.ts";
import { routeClaimsOf } from "./declared-routes.ts";
import { isBoundBy, isConfiguredBy, readsResources } from "./service-inputs.ts";
import type { WorldSettings } from "./settings.ts";

/** A resource that a world accepts. */
export type WorldObject = LatticeService | LatticeExternalService | LatticeEnvironment | LatticeServiceConfig | LatticeSecretBindings;

/** Source namespace and name of a service: `namespace/name`. */
export type ServiceKey = string;

/** One service compiled, with its policies. */
export type CompiledApplication = Omit<CompiledService, "objects" | "patch"> & {
  readonly id: ServiceId;
  /** Workload, then policies, in apply order. */
  readonly objects: readonly CompiledObject[];
  /** In patch mode: the Deployment that is patched, and how. */
  readonly target?: PatchTarget | undefined;
  readonly workloadPatch?: WorkloadPatch | undefined;
};

/**
 * Lattice resources and their compiled objects, updated incrementally. `loadWorld` creates a world from documents.
 *
 * @example
 * const world = new World(worldSettings());
 * for (const key of world.put(service)) console.log(key, world.compile(key));
 */
export class World {
  readonly mesh: Mesh;
  readonly #settings: WorldSettings;
  readonly #services = new Indexed<LatticeService>(({ spec }) => spec.environment);
  readonly #externals = new Indexed<LatticeExternalService>(({ spec }) => spec.environment);
  readonly #configs = new Indexed<LatticeServiceConfig>(({ metadata }) => metadata.namespace);
  readonly #bindings = new Indexed<LatticeSecretBindings>(({ metadata }) => metadata.namespace);
  readonly #environments = new Map<string, LatticeEnvironment>();
  readonly #environmentOf = new Map<string, LatticeEnvironment>();
  /** The holder of each target namespace and name. */
  readonly #places = new NameClaims();
  readonly #objects = new NameClaims();
  /** The service that patches each Deployment. */
  readonly #workloads = new NameClaims();
  readonly #reserved: ReservedNamespaces;
  readonly #routes = new RouteClaims();
  /** Services and external services with an invalid spec: they keep their names and declare nothing. */
  readonly #invalid = new Set<string>();
  #registry = registryWith();

  constructor(settings: WorldSettings) {
    this.#settings = settings;
    this.#reserved = new ReservedNamespaces({ gateway: settings.gateway, monitoring: settings.settings.monitoring });
    this.mesh = new Mesh({
      trustDomain: (namespace) => this.trustDomainOf(namespace),
      gateway: (namespace) => settings.gatewayIdentity(this.#gatewayOf(namespace)),
      monitoring: settings.settings.monitoring,
      waypointWanted: (namespace) => this.#environmentOf.get(namespace)?.spec.mesh?.waypoint === true,
    });
  }

  /** Sets the resource types that are not built in. Returns the services that use one of the `changed` types; absent: all services. */
  setProvisioners(provisioners: readonly Provisioner[], changed?: ReadonlySet<string>): ReadonlySet<ServiceKey> {
    this.#registry = registryWith(provisioners);
    const uses = ({ spec }: LatticeService) => Object.values(spec.resources ?? {}).some(({ type }) => changed?.has(type) !== false);
    return this.#replaceAll(this.#servicesWhere(uses));
  }

  services(): readonly ServiceKey[] {
    return [...this.#services.keys()].toSorted();
  }

  externals(): readonly ServiceKey[] {
    return [...this.#externals.keys()].toSorted();
  }

  service(key: ServiceKey): LatticeService | undefined {
    return this.#services.get(key);
  }

  external(key: ServiceKey): LatticeExternalService | undefined {
    return this.#externals.get(key);
  }

  /** The id of the service in the mesh; undefined: it is not in the mesh, and compiling it gives the error. */
  idOf(key: ServiceKey): ServiceId | undefined {
    return this.#heldBy({ kind: "LatticeService", key }) ?? this.#heldBy({ kind: "LatticeExternalService", key });
  }

  keyOf(id: ServiceId): ServiceKey | undefined {
    return this.#places.holder(id)?.key;
  }

  trustDomainOf(namespace: string): string {
    return this.#environmentOf.get(namespace)?.spec.mesh?.trustDomain ?? this.#settings.trustDomain;
  }

  environment(name: string): LatticeEnvironment | undefined {
    return this.#environments.get(name);
  }

  environments(): readonly string[] {
    return [...this.#environments.keys()].toSorted();
  }

  /** Why a namespace cannot get a default deny: a gateway or monitoring is in it. undefined: it can. */
  reservation(namespace: string): string | undefined {
    return this.#reserved.reasonFor(namespace);
  }

  /** Why the gatewayRef of an environment is refused. */
  gatewayProblem(environment: string): string | undefined {
    return this.#reserved.gatewayProblem(environment);
  }

  /** Why a service or external service may not have its target namespace. */
  placementError(kind: "LatticeService" | "LatticeExternalService", key: ServiceKey): ServiceError | undefined {
    const object = this.#resource({ kind, key });
    const placed = object === undefined ? undefined : this.#place(object);
    return placed?.ok === false ? placed.error : undefined;
  }

  put(object: WorldObject): ReadonlySet<ServiceKey> {
    const wasInvalid = this.#invalid.delete(`${object.kind} ${keyText(object.metadata)}`);
    return this.#put(object, wasInvalid ? "always" : "if it differs");
  }

  /** Adds a resource with an invalid spec. Its earlier declarations are removed. */
  putInvalid(kind: InvalidKind, object: KubeObject): ReadonlySet<ServiceKey> {
    this.#invalid.add(`${kind} ${keyText(object.metadata)}`);
    return this.#put(closedForm(kind, object), "always");
  }

  #put(object: WorldObject, when: When): ReadonlySet<ServiceKey> {
    const key = keyText(object.metadata);
    switch (object.kind) {
      case "LatticeService":
        this.#services.set(key, object);
        return this.#replace({ kind: object.kind, key }, when);
      case "LatticeExternalService":
        this.#externals.set(key, object);
        return this.#replace({ kind: object.kind, key });
      case "LatticeEnvironment":
        return this.#changeEnvironment(object.metadata.name, object);
      case "LatticeServiceConfig": {
        const before = this.#configs.get(key);
        this.#configs.set(key, object);
        return this.#replaceAll(this.#configuredBy([before, object]));
      }
      case "LatticeSecretBindings": {
        const before = this.#bindings.get(key);
        this.#bindings.set(key, object);
        return this.#replaceAll(this.#boundBy([before, object]));
      }
    }
  }

  remove(kind: WorldObject["kind"], key: ServiceKey): ReadonlySet<ServiceKey> {
    this.#invalid.delete(`${kind} ${key}`);
    switch (kind) {
      case "LatticeService":
        this.#services.delete(key);
        return this.#replace({ kind, key });
      case "LatticeExternalService":
        this.#externals.delete(key);
        return this.#replace({ kind, key });
      case "LatticeEnvironment":
        return this.#changeEnvironment(key, undefined);
      case "LatticeServiceConfig": {
        const before = this.#configs.get(key);
        this.#configs.delete(key);
        return this.#replaceAll(this.#configuredBy([before]));
      }
      case "LatticeSecretBindings": {
        const before = this.#bindings.get(key);
        this.#bindings.delete(key);
        return this.#replaceAll(this.#boundBy([before]));
      }
    }
  }

  /** Services in patch mode that name this Deployment, whether or not they may patch it. */
  patching(deployment: ObjectKey): readonly ServiceKey[] {
    return this.#workloads.claimants(keyText(deployment)).map(({ key }) => key);
  }

  /** The service that patches this Deployment; undefined: none. */
  patcherOf(deployment: ObjectKey): ServiceKey | undefined {
    return this.#workloads.holder(keyText(deployment))?.key;
  }

  /** A Deployment was created, changed or deleted: see `findWorkload` of the settings. */
  workloadChanged(deployment: ObjectKey): ReadonlySet<ServiceKey> {
    const affected = new Set<ServiceKey>();
    // a service that got a workloadRef may still have its own Deployment
    const own = this.#places.holder(keyText(deployment))?.key;
    const isLeft = own !== undefined && this.#services.get(own)?.spec.workloadRef !== undefined;
    for (const key of new Set([...this.patching(deployment), ...(isLeft ? [own] : [])])) {
      for (const other of this.#replace({ kind: "LatticeService", key }, "if it differs")) affected.add(other);
    }
    return affected;
  }

  /** The Deployment of a service in patch mode, or why the service may not patch it; undefined: it is not in patch mode, or not in the mesh. */
  targetOf(key: ServiceKey): Result<PatchTarget, WorkloadError> | undefined {
    const service = this.#services.get(key);
    const placed = service === undefined ? undefined : this.#place(service);
    return service === undefined || placed?.ok !== true ? undefined : this.#targetOf(service, placed.value);
  }

  /** Why a service in patch mode has no identity, so that nothing is open for it; undefined: it has one. */
  patchProblem(id: ServiceId): string | undefined {
    const holder = this.#places.holder(id);
    const service = holder?.kind === "LatticeService" ? this.#services.get(holder.key) : undefined;
    const placed = service === undefined ? undefined : this.#place(service);
    if (service === undefined || placed?.ok !== true || service.spec.workloadRef === undefined) return undefined;
    return this.#identityOf(service, placed.value) === undefined ? this.#noIdentity(service, placed.value) : undefined;
  }

  /**
   * Returns all errors of a service. A service that may not have its target namespace has only that error: other errors would disclose to its author
   * information about Secrets and objects of another namespace. `misplaced: "check"` lists them too, for authors who have all the files.
   */
  compile(key: ServiceKey, { misplaced }: { readonly misplaced?: "check" } = {}): Result<CompiledApplication, readonly ServiceError[]> {
    const service = this.#services.get(key);
    if (service === undefined || this.#isInvalid({ kind: "LatticeService", key })) return err([]);
    const placed = this.#place(service);
    if (!placed.ok) return err([placed.error, ...(misplaced === "check" ? this.#furtherErrors(service) : [])]);
    const id = serviceId(placed.value.namespace, service.metadata.name);
    const taken = this.#takenFrom({ kind: "LatticeService", key }, id);
    const target = this.#targetOf(service, placed.value);
    const refused = target?.ok === false ? [...taken, target.error] : taken;
    const compiled = compileService(this.#inputFor(service, placed.value));
    if (!compiled.ok) return err([...refused, ...compiled.error]);
    if (refused.length > 0) return err(refused);
    const policies = this.mesh.policiesOf(id).map((object) => ({ object }));
    const { patch, ...application } = compiled.value;
    const patched = target?.ok === true && patch !== undefined ? patchedBy(key, target.value, patch) : {};
    return ok({ ...application, id, objects: [...application.objects, ...policies], ...patched });
  }

  /**
   * The policies and HTTPRoutes of a service, from declarations alone. They are compiled whether or not the workload
   * compiles; empty for a service that does not hold its target name.
   */
  accessOf(key: ServiceKey): readonly KubeObject[] {
    const id = this.#heldBy({ kind: "LatticeService", key });
    const service = this.#services.get(key);
    const placed = service === undefined ? undefined : this.#place(service);
    if (id === undefined || service === undefined || placed?.ok !== true) return [];
    return [...this.mesh.policiesOf(id), ...routesOf(this.#inputFor(service, placed.value))];
  }

  /** The declared calls and which of them are closed; undefined for a service that does not hold its target name. */
  dependenciesOf(key: ServiceKey): Dependencies | undefined {
    const id = this.#heldBy({ kind: "LatticeService", key });
    const service = this.#services.get(key);
    const placed = service === undefined ? undefined : this.#place(service);
    if (id === undefined || service === undefined || placed?.ok !== true) return undefined;
    const erroneous = () => erroneousResources(this.#inputFor(service, placed.value));
    return dependenciesOf(this, { service, id, erroneous });
  }

  /** Whether the holder of this id has an invalid spec. */
  isInvalid(id: ServiceId): boolean {
    const holder = this.#places.holder(id);
    return holder !== undefined && this.#isInvalid(holder);
  }

  /** ServiceEntries of an external service. */
  compileExternal(key: ServiceKey): Result<readonly KubeObject[], readonly ServiceError[]> {
    const external = this.#externals.get(key);
    if (external === undefined || this.#isInvalid({ kind: "LatticeExternalService", key })) return err([]);
    const placed = this.#place(external);
    if (!placed.ok) return err([placed.error]);
    const id = serviceId(placed.value.namespace, external.metadata.name);
    const taken = this.#takenFrom({ kind: "LatticeExternalService", key }, id);
    return taken.length === 0 ? ok(this.mesh.policiesOf(id)) : err(taken);
  }

  /** Namespaces with a service, or of an environment. */
  namespaces(): readonly string[] {
    return [...new Set([...this.#environmentOf.keys(), ...this.mesh.graph.namespaces()])].toSorted();
  }

  /** Whether the namespace has a service, or belongs to an environment. */
  hasNamespace(namespace: string): boolean {
    return this.#environmentOf.has(namespace) || this.mesh.graph.hasServices(namespace);
  }

  namespaceObjects(namespace: string): readonly KubeObject[] {
    const environment = this.#environmentOf.get(namespace);
    const named = environment === undefined ? {} : { "lattice.dev/environment": environment.metadata.name };
    return this.mesh.namespaceObjects(namespace, { ...named, ...this.#podSecurityLabels(namespace) });
  }

  /** Hosts and paths that the service holds, by resource. */
  heldRoutes(key: ServiceKey): ReadonlyMap<string, Pick<RouteClaim, "host" | "path">> {
    const held = this.#routes.claimsOf(key).filter(({ resource }) => this.#routes.holder(key, resource) === undefined);
    return new Map(held.map(({ resource, host, path }) => [resource, { host, path }]));
  }

  /** Istio's waypoint pods have no seccomp profile, which `restricted` requires, so a wider level is enforced; services are still checked for their level. */
  #podSecurityLabels(namespace: string): Readonly<Record<string, string>> {
    const level = grantsOf(this.#environmentOf.get(namespace)).podSecurity;
    return podSecurityLabels(level, this.mesh.hasWaypoint(namespace) ? widerLevel(level, "baseline") : level);
  }

  /** The id that the service holds in the mesh; undefined: another service holds it. */
  #heldBy(one: ResourceName): ServiceId | undefined {
    return this.#places.namesOf(one).find((id) => isSame(this.#places.holder(id), one));
  }

  /** Errors for names that another service holds. */
  #takenFrom(one: ResourceName, id: ServiceId): readonly ServiceError[] {
    const holder = this.#places.holder(id);
    if (holder !== undefined && !isSame(holder, one))
      return [{ kind: "name-taken", namespace: splitId(id).namespace, by: describe(holder) }];
    const errors: ServiceError[] = [];
    for (const object of this.#objects.namesOf(one)) {
      const first = this.#objects.holder(object);
      if (first !== undefined && !isSame(first, one) && !this.#canShare(object, first, one))
        errors.push({
          kind: "object-taken",
          object: object.slice(object.indexOf(" ") + 1),
          by: describe(first),
          ...this.#flagger(object, first, one),
        });
    }
    return errors;
  }

  /** Whether a conflict about a Flagger name can be ignored: both services are of one namespace and neither is a canary. */
  #canShare(object: string, one: ResourceName, other: ResourceName): boolean {
    const services = [one, other].map(({ key }) => this.#services.get(key));
    if (!services.some((service) => service !== undefined && isFlaggerName(object, service.metadata.name))) return false;
    const [first, second] = services.map((service) => (service === undefined ? undefined : sourceOf(service)));
    return first === second && services.every((service) => service?.spec.deploy?.strategy !== "canary");
  }

  /** The canary whose copies have the name, and the other service; empty: it is not a Flagger name. */
  #flagger(object: string, first: ResourceName, second: ResourceName): Pick<ObjectTaken, "flagger"> {
    const isCanary = ({ key }: ResourceName) => {
      const service = this.#services.get(key);
      return service?.spec.deploy?.strategy === "canary" && isFlaggerName(object, service.metadata.name);
    };
    const canary = [first, second].find(isCanary);
    if (canary === undefined) return {};
    return { flagger: { canary: describe(canary), other: describe(canary === first ? second : first) } };
  }

  #targetOf(service: LatticeService, { namespace }: Placed): Result<PatchTarget, WorkloadError> | undefined {
    const name = claimedWorkload(service, namespace);
    const one: ResourceName = { kind: "LatticeService", key: keyText(service.metadata) };
    const patcher = name === undefined ? undefined : this.#workloads.holder(name);
    const patchedBy = patcher === undefined || isSame(patcher, one) ? undefined : describe(patcher);
    const ownedBy = name === undefined ? undefined : this.#ownerOfDeployment(namespace, splitId(name).name);
    return patchTarget({ service, namespace, find: this.#settings.findWorkload, patchedBy, ownedBy });
  }

  /** The service that has the Deployment: its own, or the copy that Flagger makes for its canary. */
  #ownerOfDeployment(namespace: string, name: string): string | undefined {
    const holder = this.#objects.holder(`${namespace} Deployment ${name}`);
    const owner = holder === undefined ? undefined : this.#services.get(holder.key);
    const isOwn = owner?.metadata.name === name || owner?.spec.deploy?.strategy === "canary";
    return holder !== undefined && isOwn ? describe(holder) : undefined;
  }

  #nodeOf(service: LatticeService, placed: Placed): ServiceNode {
    const node = meshNodeOf(this.#inputFor(service, placed));
    return service.spec.workloadRef === undefined ? node : patchedNode(node, this.#identityOf(service, placed));
  }

  /**
   * The ServiceAccount of a service in patch mode: that of the Deployment; of its own Deployment while that still runs and the other does not exist.
   * undefined: none.
   */
  #identityOf(service: LatticeService, placed: Placed): string | undefined {
    const target = this.#targetOf(service, placed);
    if (target?.ok === true && target.value.serviceAccount !== undefined) return target.value.serviceAccount;
    const own = this.#settings.findWorkload(placed.namespace, service.metadata.name);
    const isOwn = typeof own === "object" && own.madeFor === keyText(service.metadata);
    return isOwn ? service.metadata.name : undefined;
  }

  #noIdentity(service: LatticeService, placed: Placed): string {
    const target = this.#targetOf(service, placed);
    if (target?.ok === false) return describeWorkloadError(target.error).split("\n")[0] ?? "";
    return `there is no Deployment ${keyText(service.spec.workloadRef ?? service.metadata)}`;
  }

  #place(object: LatticeService | LatticeExternalService): Result<Placed, ServiceError> {
    const target = this.#target(object);
    const why = target.ok ? this.#reserved.reasonFor(target.value.namespace) : undefined;
    return target.ok && why !== undefined ? err({ kind: "reserved-namespace", namespace: target.value.namespace, why }) : target;
  }

  /** The target namespace, before the check for reserved namespaces. */
  #target({ kind, metadata, spec }: LatticeService | LatticeExternalService): Result<Placed, ServiceError> {
    const reserved = kind === "LatticeService" ? reservedFor(metadata.name) : undefined;
    if (reserved !== undefined) return err({ kind: "name-reserved", name: metadata.name, for: reserved });
    const placed = place({ namespace: metadata.namespace ?? "default", environment: spec.environment }, this.#environments);
    const isApiServers = kind === "LatticeService" && placed.ok && placed.value.namespace === "default" && metadata.name === "kubernetes";
    return isApiServers ? err({ kind: "name-reserved", name: metadata.name, for: "the API server's own Service" }) : placed;
  }

  #furtherErrors(service: LatticeService): readonly ServiceError[] {
    const { environment: name } = service.spec;
    const environment = name === undefined ? undefined : this.#environments.get(name);
    const namespace = name === undefined ? (service.metadata.namespace ?? "default") : namespaceOfEnvironment(name, environment);
    const compiled = compileService(this.#inputFor(service, { namespace, environment }));
    return compiled.ok ? [] : compiled.error;
  }

  #servicesWhere(holds: (service: LatticeService) => boolean): readonly ServiceKey[] {
    return [...this.#services.keys()].filter((key) => {
      const service = this.#services.get(key);
      return service !== undefined && holds(service);
    });
  }

  #configuredBy(configs: readonly (LatticeServiceConfig | undefined)[]): readonly ServiceKey[] {
    return this.#servicesWhere((service) => configs.some((config) => config !== undefined && isConfiguredBy(service, config)));
  }

  #boundBy(all: readonly (LatticeSecretBindings | undefined)[]): readonly ServiceKey[] {
    return this.#servicesWhere((service) => all.some((bindings) => bindings !== undefined && isBoundBy(service, bindings)));
  }

  #inputFor(service: LatticeService, { namespace, environment }: Placed): ServiceInput {
    const { settings, secrets, readFile, syncedVersion } = this.#settings;
    const written = sourceOf(service);
    const key = keyText(service.metadata);
    const holds = environment !== undefined && this.#environmentOf.get(namespace)?.metadata.name === environment.metadata.name;
    return {
      service,
      namespace,
      environment,
      grants: grantsOf(holds ? environment : undefined),
      routeHolder: (resource) => {
        const claim = this.#routes.holdingClaim(key, resource);
        if (claim?.key === key) return `resource '${claim.resource}' of this service`;
        return claim === undefined ? undefined : describe({ kind: "LatticeService", key: claim.key });
      },
      mountProblem: (kind, name) => {
        const maker = this.#objects.holder(`${namespace} ${kind} ${name}`)?.key;
        return mountProblem({ kind, namespace, name, source: written, maker }, this.#settings.findObject);
      },
      configs: this.#configs.under(written),
      bindings: this.#bindings.under(written),
      settings,
      registry: this.#registry,
      secrets,
      readFile,
      syncedVersion,
      findService: (address) => {
        const id = serviceId(address.namespace, address.name);
        const node = this.mesh.graph.service(id);
        // an invalid callee has no known ports, so callers that read its address are not rolled out
        if (node === undefined || this.isInvalid(id)) return undefined;
        return { ports: new Map(node.ports.map(({ name, port }) => [name, port])) };
      },
      findExternalService: (address) => {
        const external = this.#externalAt(serviceId(address.namespace, address.name));
        return external === undefined ? undefined : { endpoints: new Map(Object.entries(external.spec.endpoints)) };
      },
    };
  }

  #externalAt(id: ServiceId): LatticeExternalService | undefined {
    const holder = this.#places.holder(id);
    return holder?.kind === "LatticeExternalService" && !this.#isInvalid(holder) ? this.#externals.get(holder.key) : undefined;
  }

  #isInvalid({ kind, key }: ResourceName): boolean {
    return this.#invalid.size > 0 && this.#invalid.has(describe({ kind, key }));
  }

  #replaceAll(services: Iterable<ServiceKey>, externals: Iterable<ServiceKey> = []): ReadonlySet<ServiceKey> {
    const affected = new Set<ServiceKey>();
    const all: Iterable<ResourceName> = [
      ...[...services].map((key) => ({ kind: "LatticeService", key }) as const),
      ...[...externals].map((key) => ({ kind: "LatticeExternalService", key }) as const),
    ];
    for (const one of all) for (const other of this.#replace(one)) affected.add(other);
    return affected;
  }

  /**
   * Updates the mesh node of a resource, and removes its node under an earlier id. "if it differs": only its own spec changed, so
   * its node may be unchanged, and then its neighbours are not affected.
   */
  #replace(one: ResourceName, when: When = "always"): ReadonlySet<ServiceKey> {
    const changed = this.#claimNamespace(one);
    const affected = this.#updateClaims(one, when);
    return changed.length === 0 ? affected : new Set([...affected, ...this.#replaceTargeting(changed, one)]);
  }

  /** Returns the namespaces whose reservation changed. */
  #claimNamespace(one: ResourceName): readonly string[] {
    const object = this.#resource(one);
    const target = object === undefined ? undefined : this.#target(object);
    const made = object?.metadata.creationTimestamp ?? "";
    const closes = one.kind === "LatticeService";
    return this.#reserved.setTarget(describe(one), target?.ok === true ? { namespace: target.value.namespace, made, closes } : undefined);
  }

  #replaceTargeting(namespaces: readonly string[], except?: ResourceName): ReadonlySet<ServiceKey> {
    for (const namespace of namespaces) this.#updateNamespaceOwner(namespace);
    const affected = new Set(this.#replaceAll(this.#inside(new Set(namespaces))));
    for (const namespace of namespaces) {
      for (const who of this.#reserved.wanting(namespace)) {
        const [kind = "", key = ""] = who.split(" ");
        if ((kind !== "LatticeService" && kind !== "LatticeExternalService") || (except !== undefined && isSame(except, { kind, key })))
          continue;
        for (const other of this.#replace({ kind, key })) affected.add(other);
      }
    }
    return affected;
  }

  #updateClaims(one: ResourceName, when: When): ReadonlySet<ServiceKey> {
    const object = this.#resource(one);
    const placed = object === undefined ? undefined : this.#place(object);
    const id = object === undefined || placed?.ok !== true ? undefined : serviceId(placed.value.namespace, object.metadata.name);
    const claimant: Claimant = { ...one, made: object?.metadata.creationTimestamp ?? "" };
    const held = this.#heldBy(one);
    const names = object?.kind === "LatticeService" && placed?.ok === true ? objectNames(object, placed.value.namespace) : [];
    const deployments = this.#workloads.isEmpty ? [] : [...this.#objects.namesOf(one), ...names].flatMap(deploymentIn);
    const rivals = [...this.#objects.claimAmong(claimant, names)];
    const workload = object?.kind === "LatticeService" && placed?.ok === true ? claimedWorkload(object, placed.value.namespace) : undefined;
    const patching = new Set([
      ...this.#workloads.claimAmong(claimant, workload === undefined ? [] : [workload]),
      ...deployments.flatMap((name) => this.#workloads.claimants(name)),
    ]);
    rivals.push(...patching);
    const affected = new Set<ServiceId>();
    for (const place of this.#places.claim(claimant, id === undefined ? [] : [id])) {
      rivals.push(...this.#places.claimants(place));
      // the current holder is unaffected by a losing claimant
      if (held !== place && !isSame(this.#places.holder(place), one)) continue;
      for (const other of this.#updateNode(place, when)) affected.add(other);
    }
    for (const other of this.#releaseRoutes(one)) affected.add(other);
    // another service may patch its Deployment now, or no longer
    for (const rival of patching) {
      const other = this.#heldBy(rival);
      for (const further of other === undefined ? [] : this.#updateNode(other, "if it differs")) affected.add(further);
    }
    // a service that reads its own outputs must be read again after it is in the mesh
    const readsItself = id !== undefined && this.mesh.graph.service(id)?.declarations.has(id) === true;
    const neighbours = [...affected].filter((other) => other !== id || readsItself);
    for (const other of neighbours) for (const further of this.#refreshReader(other)) affected.add(further);
    return new Set([one.key, ...rivals.map(({ key }) => key), ...[...affected].flatMap((other) => this.#places.holder(other)?.key ?? [])]);
  }

  #resource({ kind, key }: ResourceName): LatticeService | LatticeExternalService | undefined {
    return kind === "LatticeService" ? this.#services.get(key) : this.#externals.get(key);
  }

  /** A service that is not in the mesh claims no host. */
  #releaseRoutes(one: ResourceName): ReadonlySet<ServiceId> {
    return one.kind === "LatticeService" && this.#heldBy(one) === undefined ? this.#claimRoutes(one.key, []) : new Set();
  }

  /** Returns the services whose routes may change; their mesh nodes are updated. */
  #claimRoutes(key: ServiceKey, claims: readonly RouteClaim[]): ReadonlySet<ServiceId> {
    const affected = new Set<ServiceId>();
    for (const rival of this.#routes.claim(key, claims)) {
      const id = this.#heldBy({ kind: "LatticeService", key: rival });
      if (id === undefined) continue;
      affected.add(id);
      for (const other of this.#updateNode(id, "if it differs")) affected.add(other);
    }
    return affected;
  }

  /** Updates the mesh node of this id from its current holder. */
  #updateNode(id: ServiceId, when: When): ReadonlySet<ServiceId> {
    const holder = this.#places.holder(id);
    const object = holder === undefined ? undefined : this.#resource(holder);
    const placed = object === undefined ? undefined : this.#place(object);
    if (object === undefined || placed?.ok !== true) return this.mesh.remove(id).services;
    const affected = new Set<ServiceId>();
    for (const claimant of this.#places.claimants(id)) for (const other of this.#releaseRoutes(claimant)) affected.add(other);
    if (object.kind === "LatticeService") {
      const claims = routeClaimsOf(object, this.#inputFor(object, placed.value));
      for (const other of this.#claimRoutes(keyText(object.metadata), claims)) affected.add(other);
    }
    const node = object.kind === "LatticeService" ? this.#nodeOf(object, placed.value) : externalNodeOf(object, placed.value.namespace);
    const known = this.mesh.graph.get(id);
    if (when === "always" || known === undefined || !sameNode(known, node))
      for (const other of this.mesh.put(node).services) affected.add(other);
    return affected;
  }

  /** Params may read a neighbour's outputs, so the declarations of such a service depend on the neighbour too. */
  #refreshReader(id: ServiceId): ReadonlySet<ServiceId> {
    const service = this.#services.get(this.#places.holder(id)?.key ?? "");
    const params = Object.values(service?.spec.resources ?? {}).map((resource) => resource.params);
    return this.mesh.graph.service(id) !== undefined && params.some(readsResources) ? this.#updateNode(id, "if it differs") : new Set();
  }

  /** Of several environments with the same namespace, the oldest holds it. */
  #updateNamespaceOwner(namespace: string): void {
    const candidates = [...this.#environments].filter(([name, environment]) => namespaceOfEnvironment(name, environment) === namespace);
    const [first] = candidates.map(([, environment]) => environment).toSorted(byAge);
    if (first === undefined || this.#reserved.reasonFor(namespace) !== undefined) this.#environmentOf.delete(namespace);
    else this.#environmentOf.set(namespace, first);
  }

  #changeEnvironment(name: string, next: LatticeEnvironment | undefined): ReadonlySet<ServiceKey> {
    const before = this.#environments.get(name);
    if (next === undefined) this.#environments.delete(name);
    else this.#environments.set(name, next);
    const both = [before, next].filter((one) => one !== undefined);
    const namespaces = both.map((one) => namespaceOfEnvironment(name, one));
    const concerned = [...new Set([...namespaces, ...both.flatMap(({ spec }) => spec.gatewayRef?.namespace ?? [])])];
    const reasons = concerned.map((namespace) => this.#reserved.reasonFor(namespace));
    this.#reserved.setEnvironment(name, next);
    const changed = concerned.filter(
      (namespace, at) => (this.#reserved.reasonFor(namespace) === undefined) !== (reasons[at] === undefined),
    );
    for (const namespace of concerned) this.#updateNamespaceOwner(namespace);
    const inside = this.#inside(new Set(namespaces));
    const own = this.#replaceAll(new Set([...this.#services.keysUnder(name), ...inside]), this.#externals.keysUnder(name));
    return changed.length === 0 ? own : new Set([...own, ...this.#replaceTargeting(changed)]);
  }

  /** Services that run in the namespaces, and those with routes through a gateway there: the gateway's identity includes the namespace. */
  #inside(namespaces: ReadonlySet<string>): readonly ServiceKey[] {
    return [...this.mesh.graph.nodes()].flatMap((node) => {
      if (node.kind !== "service") return [];
      const { namespace } = splitId(node.id);
      const routed = node.routedPorts.length > 0 && namespaces.has(this.#gatewayOf(namespace).namespace);
      const key = namespaces.has(namespace) || routed ? this.#places.holder(node.id)?.key : undefined;
      return key === undefined ? [] : [key];
    });
  }

  #gatewayOf(namespace: string) {
    return this.#environmentOf.get(namespace)?.spec.gatewayRef ?? this.#settings.gateway;
  }
}

type ResourceName = Pick<Claimant, "kind" | "key">;
type When = "always" | "if it differs";

/** `prod Deployment api` is Deployment `prod/api`; other names are none. */
function deploymentIn(name: string): readonly string[] {
  const [namespace = "", kind, own = ""] = name.split(" ");
  return kind === "Deployment" ? [`${namespace}/${own}`] : [];
}

function patchedBy(
  service: ServiceKey,
  target: PatchTarget,
  patch: DeploymentPatch,
): Pick<CompiledApplication, "target" | "workloadPatch"> {
  const { namespace, name } = target;
  return { target, workloadPatch: { version: 1, service, target: { namespace, name }, ...patch } };
}

function isSame(one: ResourceName | undefined, other: ResourceName): boolean {
  return one !== undefined && one.kind === other.kind && one.key === other.key;
}

function describe({ kind, key }: ResourceName): string {
  return `${kind} ${key}`;
}

function byAge(a: LatticeEnvironment, b: LatticeEnvironment): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`);
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
