/**
 * Secrets, ConfigMaps and claims that services mount by name: whose they are, as the informers have them, and which services a change of one
 * concerns.
 */
import type { FoundObject, ServiceKey } from "#compile";
import { ownerKeyOf, type CacheReader } from "#controller-runtime";
import { configMaps, keyText, persistentVolumeClaims, secretsByMetadata, type KubeObject, type Resource } from "#kube";
import type { MountedKind } from "#service-compiler";
import { CONTROLLER_NAME } from "../service/owned-kinds.ts";

export const MOUNTED_RESOURCES: Readonly<Record<MountedKind, Resource>> = {
  Secret: secretsByMetadata,
  ConfigMap: configMaps,
  PersistentVolumeClaim: persistentVolumeClaims,
};

/** `Secret prod/payroll`. */
type ObjectName = string;

export class MountedObjects {
  readonly #uses = new Map<ServiceKey, ReadonlySet<ObjectName>>();
  readonly #users = new Map<ObjectName, Set<ServiceKey>>();
  #cache: CacheReader | undefined;
  #asked: Set<ObjectName> | undefined;

  follow(cache: CacheReader): void {
    this.#cache = cache;
  }

  find(kind: MountedKind, namespace: string, name: string): FoundObject | undefined {
    this.#asked?.add(`${kind} ${keyText({ namespace, name })}`);
    const object = this.#cache?.get(MOUNTED_RESOURCES[kind], { namespace, name });
    if (object === undefined) return undefined;
    const owner = ownerKeyOf(object, CONTROLLER_NAME);
    return { labels: object.metadata.labels ?? {}, madeFor: owner === undefined ? undefined : keyText(owner) };
  }

  /** Notes what the service asks for while `work` runs, in place of what it asked for before. */
  record<T>(service: ServiceKey, work: () => T): T {
    const asked = new Set<ObjectName>();
    this.#asked = asked;
    try {
      return work();
    } finally {
      this.#asked = undefined;
      this.#setUses(service, asked);
    }
  }

  forget(service: ServiceKey): void {
    this.#setUses(service, new Set());
  }

  /** Services that a change of this object concerns. */
  usedBy(kind: MountedKind, { metadata }: KubeObject): readonly ServiceKey[] {
    return [...(this.#users.get(`${kind} ${keyText(metadata)}`) ?? [])];
  }

  #setUses(service: ServiceKey, next: ReadonlySet<ObjectName>): void {
    for (const name of this.#uses.get(service) ?? []) this.#drop(name, service);
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
