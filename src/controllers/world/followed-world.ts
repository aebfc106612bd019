/**
 * All Lattice resources of the cluster as one `World`, kept in step with the informers, and told on: whoever a change touches is looked at again,
 * and nobody else.
 *
 * It follows in standbys too, so that the one that takes over has the whole world before its first pass. An object that is being deleted is
 * gone here at once: its neighbours close their edges to it while it still tidies up. One that cannot be understood declares nothing.
 */
import type { Logger, Result } from "#base";
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
import type { OperatorReach } from "../namespace/reach.ts";
import { ConfigHashKey, type HashKeyOptions } from "./config-hash-key.ts";
import { DeclaredProvisioners } from "./declared-provisioners.ts";
import { MountedObjects } from "./mounted-objects.ts";
import { SecretCache, type SecretNeeds } from "./secret-cache.ts";

export type FollowedWorldOptions = HashKeyOptions & {
  /** Where the operator works; absent: the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
  /** Services run on a cluster without the kinds that close their namespaces; default: they wait for them. */
  readonly allowUnprotected?: boolean | undefined;
  readonly settings?: Partial<Omit<Settings, "hashKey">> | undefined;
  readonly logger: Logger;
};

/** Whom a change concerns. */
export type AffectedKeys = {
  readonly services: readonly ServiceKey[];
  readonly externals: readonly ServiceKey[];
  readonly namespaces: readonly string[];
  readonly environments: readonly string[];
};

type Compilation = { readonly result: Result<CompiledApplication, readonly ServiceError[]>; readonly asked: SecretNeeds };

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
  readonly hashKey: ConfigHashKey;
  readonly reach: OperatorReach;
  readonly allowUnprotected: boolean;
  /** Namespaces that the API server does not let us label, with its message. */
  readonly labelRefusals = new Map<string, string>();
  readonly #provisioners: DeclaredProvisioners;
  readonly #environments = new Set<string>();
  readonly #listeners = new Set<(touched: AffectedKeys) => void>();

  constructor({ settings, logger, namespaces, allowUnprotected = false, ...home }: FollowedWorldOptions) {
    this.allowUnprotected = allowUnprotected;
    this.reach = { home: home.namespace, namespaces };
    const hashKey = new ConfigHashKey(home);
    this.hashKey = hashKey;
    this.#provisioners = new DeclaredProvisioners(home.namespace, logger);
    const given = worldSettings(settings, {
      secrets: (namespace, path, source) => this.secrets.read(namespace, path, source),
      findObject: (kind, namespace, name) => this.mounted.find(kind, namespace, name),
      syncedVersion: (namespace, name) => this.secrets.syncedVersion(namespace, name),
    });
    // the key is read from the cluster after the world is there
    const live = Object.defineProperty({ ...given.settings }, "hashKey", { get: () => hashKey.value, enumerable: true });
    this.world = new World({ ...given, settings: live });
  }

  /** From now on, whatever the informers hear; call it before they run. */
  follow(informers: InformerSet): void {
    this.secrets.follow(informers);
    this.mounted.follow(informers);
    for (const kind of WORLD_KINDS) informers.subscribe(kind.resource, (change) => this.#changed(kind, change));
    informers.subscribe(configMaps, ({ key, after }) => this.#provisionerChanged(key, after));
    for (const resource of meshKinds) informers.subscribeServed(resource, () => this.#tell(this.#everything()));
    if (this.reach.namespaces !== undefined) informers.subscribeAccess(() => this.#tell(this.#everything()));
  }

  compile(key: ServiceKey): Compilation {
    return this.secrets.record(() => this.mounted.record(key, () => this.world.compile(key)));
  }

  /** What `triggers` of a controller takes. */
  triggers(which: keyof AffectedKeys): (enqueue: (key: ObjectKey) => void) => () => void {
    return (enqueue) => {
      const listener = (touched: AffectedKeys) => touched[which].forEach((key) => enqueue(parseKey(key)));
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    };
  }

  #changed({ kind, parse }: WorldKind, { key, before, after }: CacheChange<KubeObject>): void {
    if (before !== undefined && after !== undefined && saysTheSame(before, after)) return;
    const text = keyText(key);
    const places = this.#placesOf(kind, text);
    const parsed = after === undefined || isBeingDeleted(after) ? undefined : parse(after);
    const touched = this.#enter(kind, text, after, parsed);
    if (touched === undefined) return;
    const gone = parsed?.ok !== true;
    if (kind === "LatticeEnvironment" && gone) this.#environments.delete(text);
    if (kind === "LatticeEnvironment" && !gone) this.#environments.add(text);
    if (gone && kind === "LatticeService") {
      this.secrets.setNeeds(text, { values: new Set(), versions: new Set() });
      this.mounted.forget(text);
    }
    const told = this.#touchedBy(touched, [...places, ...this.#placesOf(kind, text)]);
    // two environments may want the same namespace, and one of them waits for the other
    this.#tell(kind === "LatticeEnvironment" ? { ...told, environments: [...this.#environments] } : told);
  }

  /**
   * A declaration that cannot be understood opens nothing: a service keeps its place and is closed, an environment grants nothing. Its own
   * controller says what is wrong. Config and bindings open nothing by themselves, and their last valid version stays in force.
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
    if (types.size > 0) this.#tell(this.#touchedBy(this.world.setProvisioners(this.#provisioners.list(), types), []));
  }

  /** Namespaces that the object has a say in. */
  #placesOf(kind: WorldObject["kind"], key: ServiceKey): readonly string[] {
    if (kind === "LatticeEnvironment") {
      const environment: LatticeEnvironment | undefined = this.world.environment(key);
      return environment === undefined ? [] : [namespaceOfEnvironment(key, environment)];
    }
    const id = this.world.idOf(key);
    return id === undefined ? [] : [namespaceOfId(id)];
  }

  #touchedBy(keys: ReadonlySet<ServiceKey>, places: readonly string[]): AffectedKeys {
    const known = [...keys];
    const namespaces = known.flatMap((key) => this.world.idOf(key) ?? []).map(namespaceOfId);
    return {
      services: known.filter((key) => this.world.service(key) !== undefined),
      externals: known.filter((key) => this.world.external(key) !== undefined),
      namespaces: [...new Set([...places, ...namespaces])],
      environments: [],
    };
  }

  #everything(): AffectedKeys {
    const { world } = this;
    return {
      services: world.services(),
      externals: world.externals(),
      namespaces: world.namespaces(),
      environments: [...this.#environments],
    };
  }

  #tell(touched: AffectedKeys): void {
    for (const listener of this.#listeners) listener(touched);
  }
}

function namespaceOfId(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

/** Status and bookkeeping are not what a world is made of, but for the routes that a service has had. */
function saysTheSame(before: KubeObject, after: KubeObject): boolean {
  const said = (object: KubeObject) => {
    const { uid, labels = {}, annotations = {}, deletionTimestamp = "" } = object.metadata;
    const routes = fieldAt(object, "status", "routes") ?? {};
    return { uid: uid ?? "", labels, annotations, deletionTimestamp, routes, spec: field(object, "spec") ?? {} };
  };
  return jsonEqual(said(before), said(after));
}
