/**
 * All Lattice resources at once, and what they become. Each change says which services have to be compiled anew: itself, its neighbours in
 * the mesh, those whose environment, config or bindings changed. Nothing else.
 *
 * Services are known here by where they are written (`team-a/api`); in the mesh by where they run (`prod/api`).
 */
import { err, ok, type Result } from "#base";
import type { LatticeEnvironment, LatticeExternalService, LatticeSecretBindings, LatticeService, LatticeServiceConfig } from "#crds";
import { keyText, type KubeObject } from "#kube";
import { Mesh, serviceId, splitId, type ServiceId } from "#mesh-compiler";
import {
  compileService,
  grantsOf,
  podSecurityLabels,
  registryWith,
  sourceOf,
  widerLevel,
  type CompiledObject,
  type CompiledService,
  type Provisioner,
  type ServiceInput,
} from "#service-compiler";
import type { ObjectTaken, ServiceError } from "./errors.ts";
import { dependenciesOf, type Dependencies } from "./closed-dependencies.ts";
import { closedForm, type InvalidKind } from "./invalid-object.ts";
import { erroneousResources, externalNodeOf, meshNodeOf, routesOf, sameNode } from "./mesh-node.ts";
import { NameClaims, type Claimant } from "./name-claims.ts";
import { mountProblem } from "./object-access.ts";
import { isFlaggerName, objectNames, reservedFor } from "./object-names.ts";
import { namespaceOfEnvironment, place, type Placed } from "./placement.ts";
import { ReservedNamespaces } from "./reserved-namespaces.ts";
import { Indexed } from "./indexed.ts";
import { RouteClaims, type RouteClaim } from "./route-claims.ts";
import { routeClaimsOf } from "./declared-routes.ts";
import { isBoundBy, isConfiguredBy, readsResources } from "./service-inputs.ts";
import type { WorldSettings } from "./settings.ts";

/** A resource that means something to a world. */
export type WorldObject = LatticeService | LatticeExternalService | LatticeEnvironment | LatticeServiceConfig | LatticeSecretBindings;

/** Where a service is written: `namespace/name`. */
export type ServiceKey = string;

/** One service compiled, with its policies. */
export type CompiledApplication = Omit<CompiledService, "objects"> & {
  readonly id: ServiceId;
  /** Workload, then policies: in the order in which they are applied. */
  readonly objects: readonly CompiledObject[];
};

/**
 * Lattice resources and what they become, kept up to date. `loadWorld` makes one from documents.
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
  /** Who runs where. */
  readonly #places = new NameClaims();
  readonly #objects = new NameClaims();
  readonly #reserved: ReservedNamespaces;
  readonly #routes = new RouteClaims();
  /** Services and external services whose spec cannot be understood: they hold their place and declare nothing. */
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

  /** Types of resources that are not built in. Services that use one of the `changed` types are touched; absent: all of them. */
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

  /** Where it runs; undefined: nowhere, and compiling it says why. */
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

  /** Why a namespace cannot be closed: a gateway or monitoring is in it. undefined: it can. */
  reservation(namespace: string): string | undefined {
    return this.#reserved.reasonFor(namespace);
  }

  /** Why the gatewayRef of an environment does not count. */
  gatewayProblem(environment: string): string | undefined {
    return this.#reserved.gatewayProblem(environment);
  }

  /** Why a service or external service cannot run where it is meant to. */
  placementError(kind: "LatticeService" | "LatticeExternalService", key: ServiceKey): ServiceError | undefined {
    const object = this.#written({ kind, key });
    const placed = object === undefined ? undefined : this.#place(object);
    return placed?.ok === false ? placed.error : undefined;
  }

  put(object: WorldObject): ReadonlySet<ServiceKey> {
    const wasInvalid = this.#invalid.delete(`${object.kind} ${keyText(object.metadata)}`);
    return this.#put(object, wasInvalid ? "always" : "if it differs");
  }

  /** One that cannot be understood. Whatever it declared before is taken back. */
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

  /**
   * All mistakes of a service at once. One that may not run where it asks to has only that error: what else is wrong would tell its author
   * about the Secrets and objects of another namespace. `misplaced: "check"` lists the rest too, for authors who have all the files.
   */
  compile(key: ServiceKey, { misplaced }: { readonly misplaced?: "check" } = {}): Result<CompiledApplication, readonly ServiceError[]> {
    const service = this.#services.get(key);
    if (service === undefined || this.#isInvalid({ kind: "LatticeService", key })) return err([]);
    const placed = this.#place(service);
    if (!placed.ok) return err([placed.error, ...(misplaced === "check" ? this.#furtherErrors(service) : [])]);
    const id = serviceId(placed.value.namespace, service.metadata.name);
    const taken = this.#takenFrom({ kind: "LatticeService", key }, id);
    const compiled = compileService(this.#inputFor(service, placed.value));
    if (!compiled.ok) return err([...taken, ...compiled.error]);
    if (taken.length > 0) return err(taken);
    const policies = this.mesh.policiesOf(id).map((object) => ({ object }));
    return ok({ ...compiled.value, id, objects: [...compiled.value.objects, ...policies] });
  }

  /**
   * What decides who reaches a service: its policies and its HTTPRoutes, from declarations alone. It is there whether or not the workload
   * compiles; empty for a service that has no place of its own to run.
   */
  accessOf(key: ServiceKey): readonly KubeObject[] {
    const id = this.#heldBy({ kind: "LatticeService", key });
    const service = this.#services.get(key);
    const placed = service === undefined ? undefined : this.#place(service);
    if (id === undefined || service === undefined || placed?.ok !== true) return [];
    return [...this.mesh.policiesOf(id), ...routesOf(this.#inputFor(service, placed.value))];
  }

  /** What it calls, and what of that is closed; undefined for a service that has no place of its own to run. */
  dependenciesOf(key: ServiceKey): Dependencies | undefined {
    const id = this.#heldBy({ kind: "LatticeService", key });
    const service = this.#services.get(key);
    const placed = service === undefined ? undefined : this.#place(service);
    if (id === undefined || service === undefined || placed?.ok !== true) return undefined;
    const erroneous = () => erroneousResources(this.#inputFor(service, placed.value));
    return dependenciesOf(this, { service, id, erroneous });
  }

  /** The one that runs there cannot be understood. */
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

  /** Namespaces that something runs in, or that an environment has. */
  namespaces(): readonly string[] {
    return [...new Set([...this.#environmentOf.keys(), ...this.mesh.graph.namespaces()])].toSorted();
  }

  /** Something runs in the namespace, or an environment has it. */
  hasNamespace(namespace: string): boolean {
    return this.#environmentOf.has(namespace) || this.mesh.graph.hasServices(namespace);
  }

  namespaceObjects(namespace: string): readonly KubeObject[] {
    const environment = this.#environmentOf.get(namespace);
    const named = environment === undefined ? {} : { "lattice.dev/environment": environment.metadata.name };
    return this.mesh.namespaceObjects(namespace, { ...named, ...this.#podSecurityLabels(namespace) });
  }

  /** Hosts and paths that the service has, by resource. */
  heldRoutes(key: ServiceKey): ReadonlyMap<string, Pick<RouteClaim, "host" | "path">> {
    const held = this.#routes.claimsOf(key).filter(({ resource }) => this.#routes.holder(key, resource) === undefined);
    return new Map(held.map(({ resource, host, path }) => [resource, { host, path }]));
  }

  /** A waypoint of Istio's own making has no seccomp profile, which `restricted` asks for; services are held to the level all the same. */
  #podSecurityLabels(namespace: string): Readonly<Record<string, string>> {
    const level = grantsOf(this.#environmentOf.get(namespace)).podSecurity;
    return podSecurityLabels(level, this.mesh.hasWaypoint(namespace) ? widerLevel(level, "baseline") : level);
  }

  /** Where it runs, unless another runs there. */
  #heldBy(one: Writing): ServiceId | undefined {
    return this.#places.namesOf(one).find((id) => isSame(this.#places.holder(id), one));
  }

  /** Names that it wants and another has. */
  #takenFrom(one: Writing, id: ServiceId): readonly ServiceError[] {
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

  /** Names that Flagger would need, and does not: of two services of one namespace neither is a canary. */
  #canShare(object: string, one: Writing, other: Writing): boolean {
    const services = [one, other].map(({ key }) => this.#services.get(key));
    if (!services.some((service) => service !== undefined && isFlaggerName(object, service.metadata.name))) return false;
    const [first, second] = services.map((service) => (service === undefined ? undefined : sourceOf(service)));
    return first === second && services.every((service) => service?.spec.deploy?.strategy !== "canary");
  }

  /** Which of the two is the canary whose copies have the name, and which the other; nothing: it is another name. */
  #flagger(object: string, first: Writing, second: Writing): Pick<ObjectTaken, "flagger"> {
    const isCanary = ({ key }: Writing) => {
      const service = this.#services.get(key);
      return service?.spec.deploy?.strategy === "canary" && isFlaggerName(object, service.metadata.name);
    };
    const canary = [first, second].find(isCanary);
    if (canary === undefined) return {};
    return { flagger: { canary: describe(canary), other: describe(canary === first ? second : first) } };
  }

  #place(object: LatticeService | LatticeExternalService): Result<Placed, ServiceError> {
    const target = this.#target(object);
    const why = target.ok ? this.#reserved.reasonFor(target.value.namespace) : undefined;
    return target.ok && why !== undefined ? err({ kind: "reserved-namespace", namespace: target.value.namespace, why }) : target;
  }

  /** Where it runs if its namespace is not reserved. */
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
        // a callee that cannot be understood has no ports that a caller could be rolled out with
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

  #isInvalid({ kind, key }: Writing): boolean {
    return this.#invalid.size > 0 && this.#invalid.has(describe({ kind, key }));
  }

  #replaceAll(services: Iterable<ServiceKey>, externals: Iterable<ServiceKey> = []): ReadonlySet<ServiceKey> {
    const touched = new Set<ServiceKey>();
    const all: Iterable<Writing> = [
      ...[...services].map((key) => ({ kind: "LatticeService", key }) as const),
      ...[...externals].map((key) => ({ kind: "LatticeExternalService", key }) as const),
    ];
    for (const one of all) for (const other of this.#replace(one)) touched.add(other);
    return touched;
  }

  /**
   * Puts one into the mesh where it runs now, and takes it out from where it ran before. "if it differs": only its own spec changed, so what
   * the mesh knows of it may be the same as before, and then its neighbours are not touched.
   */
  #replace(one: Writing, when: When = "always"): ReadonlySet<ServiceKey> {
    const changed = this.#claimNamespace(one);
    const touched = this.#putInPlace(one, when);
    return changed.length === 0 ? touched : new Set([...touched, ...this.#replaceWanting(changed, one)]);
  }

  /** The namespaces that may be closed now and could not before, or the other way round. */
  #claimNamespace(one: Writing): readonly string[] {
    const object = this.#written(one);
    const target = object === undefined ? undefined : this.#target(object);
    const made = object?.metadata.creationTimestamp ?? "";
    const closes = one.kind === "LatticeService";
    return this.#reserved.setTarget(describe(one), target?.ok === true ? { namespace: target.value.namespace, made, closes } : undefined);
  }

  #replaceWanting(namespaces: readonly string[], except?: Writing): ReadonlySet<ServiceKey> {
    for (const namespace of namespaces) this.#settleNamespace(namespace);
    const touched = new Set(this.#replaceAll(this.#inside(new Set(namespaces))));
    for (const namespace of namespaces) {
      for (const who of this.#reserved.wanting(namespace)) {
        const [kind = "", key = ""] = who.split(" ");
        if ((kind !== "LatticeService" && kind !== "LatticeExternalService") || (except !== undefined && isSame(except, { kind, key })))
          continue;
        for (const other of this.#replace({ kind, key })) touched.add(other);
      }
    }
    return touched;
  }

  #putInPlace(one: Writing, when: When): ReadonlySet<ServiceKey> {
    const object = this.#written(one);
    const placed = object === undefined ? undefined : this.#place(object);
    const id = object === undefined || placed?.ok !== true ? undefined : serviceId(placed.value.namespace, object.metadata.name);
    const claimant: Claimant = { ...one, made: object?.metadata.creationTimestamp ?? "" };
    const held = this.#heldBy(one);
    const names = object?.kind === "LatticeService" && placed?.ok === true ? objectNames(object, placed.value.namespace) : [];
    const rivals = [...this.#objects.claimAmong(claimant, names)];
    const touched = new Set<ServiceId>();
    for (const place of this.#places.claim(claimant, id === undefined ? [] : [id])) {
      rivals.push(...this.#places.claimants(place));
      // who had it and has it still is not touched by one that wants it in vain
      if (held !== place && !isSame(this.#places.holder(place), one)) continue;
      for (const other of this.#settle(place, when)) touched.add(other);
    }
    for (const other of this.#releaseRoutes(one)) touched.add(other);
    // one that reads its own outputs could not read them before it was in the mesh
    const readsItself = id !== undefined && this.mesh.graph.service(id)?.declarations.has(id) === true;
    const neighbours = [...touched].filter((other) => other !== id || readsItself);
    for (const other of neighbours) for (const further of this.#readAgain(other)) touched.add(further);
    return new Set([one.key, ...rivals.map(({ key }) => key), ...[...touched].flatMap((other) => this.#places.holder(other)?.key ?? [])]);
  }

  #written({ kind, key }: Writing): LatticeService | LatticeExternalService | undefined {
    return kind === "LatticeService" ? this.#services.get(key) : this.#externals.get(key);
  }

  /** A service that runs nowhere claims no host. */
  #releaseRoutes(one: Writing): ReadonlySet<ServiceId> {
    return one.kind === "LatticeService" && this.#heldBy(one) === undefined ? this.#claimRoutes(one.key, []) : new Set();
  }

  /** Gives all whose routes are decided anew, in the mesh as they are now. */
  #claimRoutes(key: ServiceKey, claims: readonly RouteClaim[]): ReadonlySet<ServiceId> {
    const touched = new Set<ServiceId>();
    for (const rival of this.#routes.claim(key, claims)) {
      const id = this.#heldBy({ kind: "LatticeService", key: rival });
      if (id === undefined) continue;
      touched.add(id);
      for (const other of this.#settle(id, "if it differs")) touched.add(other);
    }
    return touched;
  }

  /** Makes the mesh know who has the place now. */
  #settle(id: ServiceId, when: When): ReadonlySet<ServiceId> {
    const holder = this.#places.holder(id);
    const object = holder === undefined ? undefined : this.#written(holder);
    const placed = object === undefined ? undefined : this.#place(object);
    if (object === undefined || placed?.ok !== true) return this.mesh.remove(id).services;
    const touched = new Set<ServiceId>();
    for (const claimant of this.#places.claimants(id)) for (const other of this.#releaseRoutes(claimant)) touched.add(other);
    if (object.kind === "LatticeService") {
      const claims = routeClaimsOf(object, this.#inputFor(object, placed.value));
      for (const other of this.#claimRoutes(keyText(object.metadata), claims)) touched.add(other);
    }
    const node =
      object.kind === "LatticeService" ? meshNodeOf(this.#inputFor(object, placed.value)) : externalNodeOf(object, placed.value.namespace);
    const known = this.mesh.graph.get(id);
    if (when === "always" || known === undefined || !sameNode(known, node))
      for (const other of this.mesh.put(node).services) touched.add(other);
    return touched;
  }

  /** Params may read a neighbour's outputs: what such a service declares follows from the neighbour, and not from itself alone. */
  #readAgain(id: ServiceId): ReadonlySet<ServiceId> {
    const service = this.#services.get(this.#places.holder(id)?.key ?? "");
    const params = Object.values(service?.spec.resources ?? {}).map((resource) => resource.params);
    return this.mesh.graph.service(id) !== undefined && params.some(readsResources) ? this.#settle(id, "if it differs") : new Set();
  }

  /** Of several environments that want a namespace, the oldest has it. */
  #settleNamespace(namespace: string): void {
    const wanting = [...this.#environments].filter(([name, environment]) => namespaceOfEnvironment(name, environment) === namespace);
    const [first] = wanting.map(([, environment]) => environment).toSorted(byAge);
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
    for (const namespace of concerned) this.#settleNamespace(namespace);
    const inside = this.#inside(new Set(namespaces));
    const own = this.#replaceAll(new Set([...this.#services.keysUnder(name), ...inside]), this.#externals.keysUnder(name));
    return changed.length === 0 ? own : new Set([...own, ...this.#replaceWanting(changed)]);
  }

  /** Services that run in the namespaces, and those whose routes come through a gateway there: its identity is the namespace's. */
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

type Writing = Pick<Claimant, "kind" | "key">;
type When = "always" | "if it differs";

function isSame(one: Writing | undefined, other: Writing): boolean {
  return one !== undefined && one.kind === other.kind && one.key === other.key;
}

function describe({ kind, key }: Writing): string {
  return `${kind} ${key}`;
}

function byAge(a: LatticeEnvironment, b: LatticeEnvironment): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`);
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
