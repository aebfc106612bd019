/**
 * All Lattice resources at once, and what they become. Each change says which services have to be compiled anew: itself, its neighbours in
 * the mesh, those whose environment, config or bindings changed. Nothing else.
 *
 * Services are known here by where they are written (`team-a/api`); in the mesh by where they run (`prod/api`).
 */
import { err, ok, type Result } from "#base";
import type { LatticeEnvironment, LatticeExternalService, LatticeSecretBindings, LatticeService, LatticeServiceConfig } from "#crds";
import { keyText, type KubeObject } from "#kube";
import { Mesh, serviceId, type ServiceId } from "#mesh-compiler";
import { compileService, registryWith, type Compiled, type CompiledService, type Provisioner, type ServiceInput } from "#service-compiler";
import type { ServiceError } from "./errors.ts";
import { externalNodeOf, meshNodeOf, sameNode } from "./mesh-node.ts";
import { namespaceOfEnvironment, place, type Placed } from "./placement.ts";
import { Indexed } from "./indexed.ts";
import type { WorldSettings } from "./settings.ts";

export type WorldObject = LatticeService | LatticeExternalService | LatticeEnvironment | LatticeServiceConfig | LatticeSecretBindings;

/** Where a service is written: `namespace/name`. */
export type ServiceKey = string;

export type CompiledApplication = Omit<CompiledService, "objects"> & {
  readonly id: ServiceId;
  /** Workload, then policies: in the order in which they are applied. */
  readonly objects: readonly Compiled[];
};

export class World {
  readonly mesh: Mesh;
  readonly #settings: WorldSettings;
  readonly #services = new Indexed<LatticeService>(({ spec }) => spec.environment);
  readonly #externals = new Indexed<LatticeExternalService>(({ spec }) => spec.environment);
  readonly #configs = new Indexed<LatticeServiceConfig>(({ metadata }) => metadata.namespace);
  readonly #bindings = new Indexed<LatticeSecretBindings>(({ metadata }) => metadata.namespace);
  readonly #environments = new Map<string, LatticeEnvironment>();
  readonly #environmentOf = new Map<string, LatticeEnvironment>();
  readonly #owners = new Map<ServiceId, ServiceKey>();
  readonly #ids = new Map<ServiceKey, ServiceId>();
  #registry = registryWith();

  constructor(settings: WorldSettings) {
    this.#settings = settings;
    this.mesh = new Mesh({
      trustDomain: (namespace) => this.trustDomainOf(namespace),
      gateway: (namespace) => settings.gatewayIdentity(this.#environmentOf.get(namespace)?.spec.gatewayRef ?? settings.gateway),
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
    return this.#ids.get(key);
  }

  keyOf(id: ServiceId): ServiceKey | undefined {
    return this.#owners.get(id);
  }

  trustDomainOf(namespace: string): string {
    return this.#environmentOf.get(namespace)?.spec.mesh?.trustDomain ?? this.#settings.trustDomain;
  }

  environment(name: string): LatticeEnvironment | undefined {
    return this.#environments.get(name);
  }

  put(object: WorldObject): ReadonlySet<ServiceKey> {
    const key = keyText(object.metadata);
    switch (object.kind) {
      case "LatticeService":
        this.#services.set(key, object);
        return this.#replace(key, "if it differs");
      case "LatticeExternalService":
        this.#externals.set(key, object);
        return this.#replace(key);
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
    switch (kind) {
      case "LatticeService":
        this.#services.delete(key);
        return this.#replace(key);
      case "LatticeExternalService":
        this.#externals.delete(key);
        return this.#replace(key);
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

  compile(key: ServiceKey): Result<CompiledApplication, readonly ServiceError[]> {
    const service = this.#services.get(key);
    if (service === undefined) return err([]);
    const placed = this.#place(service);
    if (!placed.ok) return err([placed.error]);
    const id = serviceId(placed.value.namespace, service.metadata.name);
    const taken = this.#takenBy(id, key, "service");
    if (taken !== undefined) return err([{ kind: "name-taken", namespace: placed.value.namespace, by: taken }]);
    const compiled = compileService(this.#inputFor(service, placed.value));
    if (!compiled.ok) return compiled;
    const policies = this.mesh.policiesOf(id).map((object) => ({ object }));
    return ok({ ...compiled.value, id, objects: [...compiled.value.objects, ...policies] });
  }

  /** ServiceEntries of an external service. */
  compileExternal(key: ServiceKey): Result<readonly KubeObject[], readonly ServiceError[]> {
    const external = this.#externals.get(key);
    if (external === undefined) return err([]);
    const placed = this.#place(external);
    if (!placed.ok) return err([placed.error]);
    const id = serviceId(placed.value.namespace, external.metadata.name);
    const taken = this.#takenBy(id, key, "external");
    return taken === undefined ? ok(this.mesh.policiesOf(id)) : err([{ kind: "name-taken", namespace: placed.value.namespace, by: taken }]);
  }

  /** Namespaces that something runs in, or that an environment has. */
  namespaces(): readonly string[] {
    return [...new Set([...this.#environmentOf.keys(), ...this.mesh.graph.namespaces()])].toSorted();
  }

  namespaceObjects(namespace: string): readonly KubeObject[] {
    const environment = this.#environmentOf.get(namespace);
    return this.mesh.namespaceObjects(namespace, environment === undefined ? {} : { "lattice.dev/environment": environment.metadata.name });
  }

  /** Who runs there instead: another of that name, or one of the other kind that is even written in the same place. */
  #takenBy(id: ServiceId, key: ServiceKey, kind: "service" | "external"): string | undefined {
    const owner = this.#owners.get(id);
    const there = this.mesh.graph.get(id)?.kind;
    if (owner === undefined || there === undefined || (owner === key && there === kind)) return undefined;
    return `${there === "service" ? "LatticeService" : "LatticeExternalService"} ${owner}`;
  }

  #place({ metadata, spec }: LatticeService | LatticeExternalService): Result<Placed, ServiceError> {
    return place({ namespace: metadata.namespace ?? "default", environment: spec.environment }, this.#environments);
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
    const written = service.metadata.namespace ?? "default";
    return {
      service,
      namespace,
      environment,
      configs: this.#configs.under(written),
      bindings: this.#bindings.under(written),
      settings,
      registry: this.#registry,
      secrets,
      readFile,
      syncedVersion,
      findService: (address) => {
        const node = this.mesh.graph.service(serviceId(address.namespace, address.name));
        return node === undefined ? undefined : { ports: new Map(node.ports.map(({ name, port }) => [name, port])) };
      },
      findExternalService: (address) => {
        const external = this.#externalAt(serviceId(address.namespace, address.name));
        return external === undefined ? undefined : { endpoints: new Map(Object.entries(external.spec.endpoints)) };
      },
    };
  }

  #externalAt(id: ServiceId): LatticeExternalService | undefined {
    return this.mesh.graph.get(id)?.kind === "external" ? this.#externals.get(this.#owners.get(id) ?? "") : undefined;
  }

  #replaceAll(keys: Iterable<ServiceKey>): ReadonlySet<ServiceKey> {
    const touched = new Set<ServiceKey>();
    for (const key of keys) for (const other of this.#replace(key)) touched.add(other);
    return touched;
  }

  /**
   * Puts one into the mesh where it runs now, and takes it out from where it ran before. "if it differs": only its own spec changed, so what
   * the mesh knows of it may be the same as before, and then its neighbours are not touched.
   */
  #replace(key: ServiceKey, when: "always" | "if it differs" = "always"): ReadonlySet<ServiceKey> {
    const object = this.#services.get(key) ?? this.#externals.get(key);
    const placed = object === undefined ? undefined : this.#place(object);
    const id = object === undefined || placed?.ok !== true ? undefined : serviceId(placed.value.namespace, object.metadata.name);
    const before = this.#ids.get(key);
    const touched = new Set<ServiceId>();
    if (before !== undefined && before !== id) for (const one of this.#leave(key, before)) touched.add(one);
    const owner = id === undefined ? undefined : this.#owners.get(id);
    if (object !== undefined && placed?.ok === true && id !== undefined && (owner === undefined || owner === key)) {
      this.#owners.set(id, key);
      this.#ids.set(key, id);
      const node =
        object.kind === "LatticeService"
          ? meshNodeOf(this.#inputFor(object, placed.value))
          : externalNodeOf(object, placed.value.namespace);
      const known = this.mesh.graph.get(id);
      const same = when === "if it differs" && known !== undefined && sameNode(known, node);
      if (!same) for (const one of this.mesh.put(node).services) touched.add(one);
    }
    const neighbours = [...touched].filter((other) => other !== id);
    for (const other of neighbours) for (const one of this.#readAgain(other)) touched.add(one);
    return this.#keysOf(touched, key);
  }

  /** Params may read a neighbour's outputs: what such a service declares follows from the neighbour, and not from itself alone. */
  #readAgain(id: ServiceId): ReadonlySet<ServiceId> {
    const service = this.#services.get(this.#owners.get(id) ?? "");
    const params = Object.values(service?.spec.resources ?? {}).map((resource) => resource.params);
    const placed = service === undefined ? undefined : this.#place(service);
    if (service === undefined || placed?.ok !== true || !params.some(readsResources)) return new Set();
    return this.mesh.put(meshNodeOf(this.#inputFor(service, placed.value))).services;
  }

  /** The place is free: one that wants the same name gets it. */
  #leave(key: ServiceKey, id: ServiceId): ReadonlySet<ServiceId> {
    this.#owners.delete(id);
    this.#ids.delete(key);
    const touched = new Set(this.mesh.remove(id).services);
    const name = id.slice(id.indexOf("/") + 1);
    for (const other of [...this.#services.keys(), ...this.#externals.keys()]) {
      if (other !== key && other.endsWith(`/${name}`) && !this.#ids.has(other)) {
        this.#replace(other);
        const taken = this.#ids.get(other);
        if (taken !== undefined) touched.add(taken);
      }
    }
    return touched;
  }

  #keysOf(ids: Iterable<ServiceId>, self: ServiceKey): ReadonlySet<ServiceKey> {
    const keys = new Set<ServiceKey>([self]);
    for (const id of ids) {
      const key = this.#owners.get(id);
      if (key !== undefined) keys.add(key);
    }
    return keys;
  }

  #changeEnvironment(name: string, next: LatticeEnvironment | undefined): ReadonlySet<ServiceKey> {
    const before = this.#environments.get(name);
    if (before !== undefined) this.#environmentOf.delete(namespaceOfEnvironment(name, before));
    if (next === undefined) this.#environments.delete(name);
    else {
      this.#environments.set(name, next);
      this.#environmentOf.set(namespaceOfEnvironment(name, next), next);
    }
    const namespaces = [before, next].flatMap((one) => (one === undefined ? [] : [namespaceOfEnvironment(name, one)]));
    const inside = namespaces.flatMap((namespace) =>
      [...this.mesh.graph.servicesIn(namespace)].flatMap((id) => this.#owners.get(id) ?? []),
    );
    return this.#replaceAll(new Set([...this.#services.keysUnder(name), ...this.#externals.keysUnder(name), ...inside]));
  }
}

function readsResources(params: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(params).length > 0 && JSON.stringify(params).includes("${resources.");
}

function namespaceOf({ metadata }: Pick<KubeObject, "metadata">): string {
  return metadata.namespace ?? "default";
}

/** One for a cluster may be for this one: which cluster this is, the compiler knows. */
function isConfiguredBy(service: LatticeService, config: LatticeServiceConfig): boolean {
  const { environment, service: name } = config.spec.appliesTo;
  if (namespaceOf(service) !== namespaceOf(config)) return false;
  if (environment !== undefined) return environment === service.spec.environment;
  return name === undefined || name === service.metadata.name;
}

function isBoundBy(service: LatticeService, bindings: LatticeSecretBindings): boolean {
  const name = bindings.spec.service;
  return namespaceOf(service) === namespaceOf(bindings) && (name === undefined || name === service.metadata.name);
}
