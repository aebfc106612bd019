/**
 * Secrets, ConfigMaps and claims that services mount by name: the service that each was applied for, from the informers, and the
 * services that a change of one affects. Only `setUses` changes the latter.
 */
import type { FoundObject, ServiceKey } from "#compile";
import { ownerKeyOf, type CacheReader } from "#controller-runtime";
import { configMaps, keyText, persistentVolumeClaims, secretsByMetadata, type KubeObject, type Resource } from "#kube";
import type { MountedKind } from "#service-compiler";
import { CONTROLLER_NAME } from "../owned-kinds.ts";

export const MOUNTED_RESOURCES: Readonly<Record<MountedKind, Resource>> = {
  Secret: secretsByMetadata,
  ConfigMap: configMaps,
  PersistentVolumeClaim: persistentVolumeClaims,
};

/** `Secret prod/payroll`. */
type ObjectName = string;

const NONE: ReadonlySet<ObjectName> = new Set();

export class MountedObjects {
  readonly #uses = new Map<ServiceKey, ReadonlySet<ObjectName>>();
  readonly #users = new Map<ObjectName, Set<ServiceKey>>();
  #cache: CacheReader | undefined;
  #recorded: Set<ObjectName> | undefined;

  follow(cache: CacheReader): void {
    this.#cache = cache;
  }

  find(kind: MountedKind, namespace: string, name: string): FoundObject | undefined {
    this.#recorded?.add(`${kind} ${keyText({ namespace, name })}`);
    const object = this.#cache?.get(MOUNTED_RESOURCES[kind], { namespace, name });
    if (object === undefined) return undefined;
    const owner = ownerKeyOf(object, CONTROLLER_NAME);
    return { labels: object.metadata.labels ?? {}, madeFor: owner === undefined ? undefined : keyText(owner) };
  }

  /** Runs `work` and returns the objects that it looked up. */
  record<T>(work: () => T): { readonly result: T; readonly mounted: ReadonlySet<ObjectName> } {
    const mounted = new Set<ObjectName>();
    this.#recorded = mounted;
    try {
      return { result: work(), mounted };
    } finally {
      this.#recorded = undefined;
    }
  }

  /** Services that a change of this object affects. */
  usedBy(kind: MountedKind, { metadata }: KubeObject): readonly ServiceKey[] {
    return [...(this.#users.get(`${kind} ${keyText(metadata)}`) ?? [])];
  }

  usesOf(service: ServiceKey): ReadonlySet<ObjectName> {
    return this.#uses.get(service) ?? NONE;
  }

  /** Replaces the objects that the service looked up. */
  setUses(service: ServiceKey, next: ReadonlySet<ObjectName>): void {
    for (const name of this.usesOf(service)) this.#drop(name, service);
    if (next.size === 0) this.#uses.delete(service);
    else this.#uses.set(service, next);
    for (const name of next) this.#users.set(name, (this.#users.get(name) ?? new Set<ServiceKey>()).add(service));
  }

  #drop(name: ObjectName, service: ServiceKey): void {
    const users = this.#users.get(name);
    users?.delete(service);
    if (users?.size === 0) this.#users.delete(name);
  }
}
