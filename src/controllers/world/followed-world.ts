/**
 * All Lattice resources of the cluster as one `World`, updated by the informers. Each change is reported with the keys that it affects, so
 * that these are reconciled and no others.
 *
 * Standbys follow changes too, so that a new leader has the complete world before its first pass. An object with a deletionTimestamp is
 * removed here at once: others stop allowing it while its clean-up still runs. An object that cannot be parsed declares nothing.
 *
 * `WorldView` is the read-only part that observations and plans get.
 */
import type { Logger, Result, Sensitive } from "#base";
import {
  namespaceOfEnvironment,
  World,
  worldSettings,
  type CompiledApplication,
  type ServiceError,
  type ServiceKey,
  type WorldObject,
} from "#compile";
import type { CacheChange, InformerSet } from "#controller-runtime";
import {
  latticeEnvironmentKind,
  latticeExternalServiceKind,
  latticeSecretBindingsKind,
  latticeServiceConfigKind,
  latticeServiceKind,
  type FieldError,
  type LatticeEnvironment,
} from "#crds";
import {
  configMaps,
  deployments,
  field,
  fieldAt,
  isBeingDeleted,
  jsonEqual,
  keyText,
  meshKinds,
  parseKey,
  type KubeObject,
  type ObjectKey,
  type Resource,
} from "#kube";
import type { Settings } from "#service-compiler";
import type { OperatorReach } from "../reach.ts";
import { ConfigHashKey, type HashKeyOptions } from "./config-hash-key.ts";
import { DeclaredProvisioners } from "./declared-provisioners.ts";
import { MountedObjects } from "./mounted-objects.ts";
import { SecretCache, type SecretNeeds, type SecretValues } from "./secret-cache.ts";
import { changesFacts, workloadOfService, Workloads } from "./workloads.ts";

export type FollowedWorldOptions = HashKeyOptions & {
  /** The namespaces in which the operator works; absent: the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
  /** Services run on a cluster without the kinds of the default deny; default: they wait for them. */
  readonly allowUnprotected?: boolean | undefined;
  readonly settings?: Partial<Omit<Settings, "hashKey">> | undefined;
  readonly logger: Logger;
};

/** Keys that a change affects, by the controller that reconciles them. */
export type AffectedKeys = {
  readonly services: readonly ServiceKey[];
  readonly externals: readonly ServiceKey[];
  readonly namespaces: readonly string[];
  readonly environments: readonly string[];
  /** Deployments that an affected service names, or named before. */
  readonly workloads: readonly string[];
};

/** The objects that one compilation looked up: a change of one triggers the service. */
export type CompileNeeds = SecretNeeds & { readonly mounted: ReadonlySet<string> };

/** Inputs of the compiler from the cluster beside declarations. */
export type CompileInputs = { readonly hashKey: Sensitive<string>; readonly secrets: SecretValues };

type Compilation = { readonly result: Result<CompiledApplication, readonly ServiceError[]>; readonly needs: CompileNeeds };

/** The world without the methods that change it. */
export type WorldView = Pick<FollowedWorld, "reach" | "allowUnprotected" | "using" | "compile" | "needsOf"> & {
  readonly world: Omit<World, "put" | "putInvalid" | "remove" | "setProvisioners" | "workloadChanged">;
  readonly secrets: Pick<SecretCache, "valuesFor">;
  readonly hashKey: Pick<ConfigHashKey, "read">;
  readonly labelRefusals: ReadonlyMap<string, string>;
};

/** State that the passes of all controllers share; part of their context. */
export type WorldContext = { readonly followed: FollowedWorld };

/** The part of it that observations get. */
export type WorldViewContext = { readonly followed: WorldView };

type WorldKind = {
  readonly kind: WorldObject["kind"];
  readonly resource: Resource;
  readonly parse: (object: unknown) => Result<WorldObject, readonly FieldError[]>;
};

const WORLD_KINDS: readonly WorldKind[] = [
  latticeEnvironmentKind,
  latticeServiceKind,
  latticeExternalServiceKind,
  latticeServiceConfigKind,
  latticeSecretBindingsKind,
].map(({ kind, resource, parse }) => ({ kind, resource, parse }));

export class FollowedWorld {
  readonly world: World;
  readonly secrets = new SecretCache();
  readonly mounted = new MountedObjects();
  readonly #workloads = new Workloads();
  readonly hashKey: ConfigHashKey;
  readonly reach: OperatorReach;
  readonly allowUnprotected: boolean;
  /** Namespaces that RBAC does not allow the operator to label, with the message for their services. */
  readonly labelRefusals = new Map<string, string>();
  readonly #provisioners: DeclaredProvisioners;
  readonly #environments = new Set<string>();
  readonly #listeners = new Set<(affected: AffectedKeys) => void>();
  #hashKeyInUse: Sensitive<string> | undefined;

  constructor({ settings, logger, namespaces, allowUnprotected = false, ...home }: FollowedWorldOptions) {
    this.allowUnprotected = allowUnprotected;
    this.reach = { home: home.namespace, namespaces };
    this.hashKey = new ConfigHashKey(home);
    this.#provisioners = new DeclaredProvisioners(home.namespace, logger);
    const given = worldSettings(settings, {
      secrets: (namespace, path, source) => this.secrets.read(namespace, path, source),
      findObject: (kind, namespace, name) => this.mounted.find(kind, namespace, name),
      findWorkload: (namespace, name) => this.#workloads.find(namespace, name),
      syncedVersion: (namespace, name) => this.secrets.syncedVersion(namespace, name),
    });
    // the key is read from the cluster after the world is created
    const live = Object.defineProperty({ ...given.settings }, "hashKey", { get: () => this.#currentHashKey(), enumerable: true });
    this.world = new World({ ...given, settings: live });
  }

  /** Subscribes to all changes of the informers; call it before they run. */
  follow(informers: InformerSet): void {
    this.secrets.follow(informers);
    this.mounted.follow(informers);
    this.#workloads.follow(informers);
    for (const kind of WORLD_KINDS) informers.subscribe(kind.resource, (change) => this.#changed(kind, change));
    informers.subscribe(configMaps, ({ key, after }) => this.#provisionerChanged(key, after));
    informers.subscribe(deployments, (change) => this.#deploymentChanged(change));
    for (const resource of meshKinds) informers.subscribeServed(resource, () => this.#notify(this.#everything()));
    if (this.reach.namespaces !== undefined) informers.subscribeAccess(() => this.#notify(this.#everything()));
  }

  /** Compiles with these inputs while `work` runs. */
  using<T>({ hashKey, secrets }: CompileInputs, work: () => T): T {
    this.#hashKeyInUse = hashKey;
    try {
      return this.secrets.using(secrets, work);
    } finally {
      this.#hashKeyInUse = undefined;
    }
  }

  /** Only inside `using`. The objects that it looked up are returned; only `setNeeds` records them. */
  compile(key: ServiceKey): Compilation {
    const { result: compiled, needs } = this.secrets.record(() => this.mounted.record(() => this.world.compile(key)));
    return { result: compiled.result, needs: { ...needs, mounted: compiled.mounted } };
  }

  needsOf(key: ServiceKey): CompileNeeds {
    return { ...this.secrets.needsOf(key), mounted: this.mounted.usesOf(key) };
  }

  /** From now on a change of an object that the service needs triggers the service. */
  setNeeds(key: ServiceKey, needs: CompileNeeds): void {
    this.secrets.setNeeds(key, needs);
    this.mounted.setUses(key, needs.mounted);
  }

  /** Calls back with the keys of one controller that a change affects, until the returned function is called. */
  subscribe(which: keyof AffectedKeys, enqueue: (key: ObjectKey) => void): () => void {
    const listener = (affected: AffectedKeys) => affected[which].forEach((key) => enqueue(parseKey(key)));
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #currentHashKey(): Sensitive<string> {
    if (this.#hashKeyInUse === undefined) throw new Error("a service was compiled without the config hash key");
    return this.#hashKeyInUse;
  }

  #changed({ kind, parse }: WorldKind, { key, before, after }: CacheChange<KubeObject>): void {
    if (before !== undefined && after !== undefined && declaresTheSame(before, after)) return;
    const text = keyText(key);
    const places = this.#placesOf(kind, text);
    const parsed = after === undefined || isBeingDeleted(after) ? undefined : parse(after);
    const changed = this.#enter(kind, text, after, parsed);
    if (changed === undefined) return;
    const gone = parsed?.ok !== true;
    if (kind === "LatticeEnvironment" && gone) this.#environments.delete(text);
    if (kind === "LatticeEnvironment" && !gone) this.#environments.add(text);
    if (gone && kind === "LatticeService") {
      this.setNeeds(text, { values: new Set(), versions: new Set(), mounted: new Set() });
    }
    const affected = this.#affectedBy(changed, [...places, ...this.#placesOf(kind, text)]);
    const named = kind === "LatticeService" ? [before, after].flatMap(workloadOfService) : [];
    const workloads = [...new Set([...named, ...affected.workloads])];
    // two environments may claim the same namespace, and one of them waits for the other
    this.#notify(
      kind === "LatticeEnvironment" ? { ...affected, environments: [...this.#environments], workloads } : { ...affected, workloads },
    );
  }

  /** The ServiceAccount of a patched Deployment is the identity that the policies of others name. */
  #deploymentChanged({ key, before, after }: CacheChange<KubeObject>): void {
    if (!changesFacts(before, after)) return;
    const changed = this.world.workloadChanged(key);
    if (changed.size > 0) this.#notify(this.#affectedBy(changed, []));
  }

  /**
   * A declaration that cannot be parsed allows no traffic: a service keeps its name and allows no callers, an environment grants nothing. Its own
   * controller reports the errors. Config and bindings allow nothing by themselves, and their last valid version stays in force.
   */
  #enter(
    kind: WorldObject["kind"],
    key: ServiceKey,
    after: KubeObject | undefined,
    parsed: Result<WorldObject, readonly FieldError[]> | undefined,
  ): ReadonlySet<ServiceKey> | undefined {
    if (parsed?.ok === true) return this.world.put(parsed.value);
    if (parsed === undefined || after === undefined || kind === "LatticeEnvironment") return this.world.remove(kind, key);
    return kind === "LatticeService" || kind === "LatticeExternalService" ? this.world.putInvalid(kind, after) : undefined;
  }

  #provisionerChanged(key: ObjectKey, after: KubeObject | undefined): void {
    const types = this.#provisioners.change(key, after);
    if (types.size > 0) this.#notify(this.#affectedBy(this.world.setProvisioners(this.#provisioners.list(), types), []));
  }

  /** Namespaces that the object has effects in. */
  #placesOf(kind: WorldObject["kind"], key: ServiceKey): readonly string[] {
    if (kind === "LatticeEnvironment") {
      const environment: LatticeEnvironment | undefined = this.world.environment(key);
      return environment === undefined ? [] : [namespaceOfEnvironment(key, environment)];
    }
    const id = this.world.idOf(key);
    return id === undefined ? [] : [namespaceOfId(id)];
  }

  #affectedBy(keys: ReadonlySet<ServiceKey>, places: readonly string[]): AffectedKeys {
    const known = [...keys];
    const namespaces = known.flatMap((key) => this.world.idOf(key) ?? []).map(namespaceOfId);
    const services = known.filter((key) => this.world.service(key) !== undefined);
    return {
      services,
      externals: known.filter((key) => this.world.external(key) !== undefined),
      namespaces: [...new Set([...places, ...namespaces])],
      environments: [],
      workloads: [...new Set(services.flatMap((key) => workloadOfService(this.world.service(key))))],
    };
  }

  #everything(): AffectedKeys {
    const { world } = this;
    return {
      services: world.services(),
      externals: world.externals(),
      namespaces: world.namespaces(),
      environments: [...this.#environments],
      workloads: [],
    };
  }

  #notify(affected: AffectedKeys): void {
    for (const listener of this.#listeners) listener(affected);
  }
}

function namespaceOfId(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

/** Status and managed fields are not part of a world, except the record of a service's routes. */
function declaresTheSame(before: KubeObject, after: KubeObject): boolean {
  const declared = (object: KubeObject) => {
    const { uid, labels = {}, annotations = {}, deletionTimestamp = "" } = object.metadata;
    const routes = fieldAt(object, "status", "routes") ?? {};
    return { uid: uid ?? "", labels, annotations, deletionTimestamp, routes, spec: field(object, "spec") ?? {} };
  };
  return jsonEqual(declared(before), declared(after));
}
