/**
 * All served resources, by group, version and plural. Custom kinds are added and removed with their CustomResourceDefinitions. Caches derived
 * from all types (discovery, OpenAPI) compare `generation`.
 */
import { apiVersionOf, type Resource } from "#kube";
import type { ResourceType } from "../resource-type.ts";

/** Adapts a kind as the owner of the server requires: another index, a patch schema. Also applied to custom kinds. */
export type AdaptType = (type: ResourceType) => ResourceType;

export class TypeRegistry {
  readonly #types = new Map<string, ResourceType>();
  readonly #versions = new Map<string, Set<string>>();
  readonly #adapt: AdaptType;
  #generation = 0;

  constructor(types: readonly ResourceType[], adapt: AdaptType = (type) => type) {
    this.#adapt = adapt;
    for (const type of types) this.#types.set(keyOf(type.resource), adapt(type));
    this.#changed();
  }

  /** Increases whenever the set of types changes. */
  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#types.get(`${group}/${version}/${plural}`);
  }

  all(): Iterable<ResourceType> {
    return this.#types.values();
  }

  hasGroup(group: string): boolean {
    return this.#versions.has(group);
  }

  isCustomGroup(group: string): boolean {
    for (const { resource, custom } of this.#types.values()) if (resource.group === group) return custom;
    return false;
  }

  hasVersion(group: string, version: string): boolean {
    return this.#versions.get(group)?.has(version) === true;
  }

  /** All versions of one kind, itself included. */
  versionsOf(type: ResourceType): readonly ResourceType[] {
    return [...this.#types.values()].filter((other) => other.collection === type.collection && other.resource.kind === type.resource.kind);
  }

  /** The same kind in another version, for field sets that were written in it. */
  otherVersion(type: ResourceType, apiVersion: string): ResourceType | undefined {
    return this.versionsOf(type).find((other) => apiVersionOf(other.resource) === apiVersion);
  }

  ofKind(apiVersion: string, kind: string): ResourceType | undefined {
    for (const type of this.#types.values()) if (type.resource.kind === kind && apiVersionOf(type.resource) === apiVersion) return type;
    return undefined;
  }

  /** Replaces every custom type of one group and plural; an empty list removes them. */
  setCustom(group: string, plural: string, types: readonly ResourceType[]): void {
    for (const [key, type] of this.#types) {
      if (type.custom && type.resource.group === group && type.resource.plural === plural) this.#types.delete(key);
    }
    for (const type of types) this.#types.set(keyOf(type.resource), this.#adapt(type));
    this.#changed();
  }

  #changed(): void {
    this.#generation += 1;
    this.#versions.clear();
    for (const { resource } of this.#types.values()) {
      const versions = this.#versions.get(resource.group) ?? new Set();
      this.#versions.set(resource.group, versions.add(resource.version));
    }
  }
}

function keyOf({ group, version, plural }: Resource): string {
  return `${group}/${version}/${plural}`;
}
