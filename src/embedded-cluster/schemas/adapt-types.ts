/**
 * Changes of kinds for tests: additional field selectors, and strategic merge patch on custom resources by their list types.
 *
 * Kubernetes does not support the second: it returns 415. It is off by default.
 */
import { ok } from "#base";
import { isJsonObject, type JsonObject, type KubeObject, type Resource } from "#kube";
import type { ResourceType } from "#kube-server";
import { structuralSchema, type FieldMerge, type PatchSchema } from "#patch";

/**
 * A field selector for tests: `values` computes the values of an object by which it can be listed and watched.
 *
 * @example const byOwner: FieldIndex = { resource: pods, field: "owner", values: (pod) => ownersOf(pod) };
 */
export type FieldIndex = {
  /** All versions of it. */
  readonly resource: Pick<Resource, "group" | "plural">;
  /** The name in the field selector: `owner=web`. */
  readonly field: string;
  /** Several values: each of them selects the object. */
  readonly values: (object: KubeObject) => string | readonly string[];
};

export type Adaptations = { readonly indexes: readonly FieldIndex[]; readonly listTypePatches: boolean };

export function adaptTypes({ indexes, listTypePatches }: Adaptations): ((type: ResourceType) => ResourceType) | undefined {
  if (indexes.length === 0 && !listTypePatches) return undefined;
  return (type) => {
    const own = indexes.filter(({ resource }) => resource.group === type.resource.group && resource.plural === type.resource.plural);
    const indexed = own.length === 0 ? type : withIndexes(type, own);
    return listTypePatches ? withListTypePatches(indexed) : indexed;
  };
}

function withIndexes(type: ResourceType, indexes: readonly FieldIndex[]): ResourceType {
  const added = indexes.map(({ field, values }) => [field, values] as const);
  return changed(type, { fieldSelectors: new Map([...type.fieldSelectors, ...added]) });
}

function withListTypePatches(type: ResourceType): ResourceType {
  if (!type.custom || type.strategicSchema !== undefined) return type;
  const schema = "published" in type ? publishedSchema(type.published) : undefined;
  if (schema === undefined) return type;
  return changed(type, { strategicSchema: { schema: lenient(structuralSchema(schema, type.resource.kind)), lists: "list-types" } });
}

/** A field without a schema (where unknown fields are preserved) merges as in a merge patch, instead of failing. */
function lenient(schema: PatchSchema): PatchSchema {
  const soften = (found: ReturnType<PatchSchema["objectField"]>) =>
    found.ok ? ok({ ...found.value, schema: lenient(found.value.schema) }) : ok(UNKNOWN_FIELD);
  return {
    name: schema.name,
    objectField: (name) => soften(schema.objectField(name)),
    listField: (name) => soften(schema.listField(name)),
  };
}

const ANYTHING: PatchSchema = { name: "anything", objectField: () => ok(UNKNOWN_FIELD), listField: () => ok(UNKNOWN_FIELD) };
const UNKNOWN_FIELD: FieldMerge = { schema: ANYTHING, strategy: "", retainKeys: false, mergeKey: "" };

function publishedSchema(published: unknown): JsonObject | undefined {
  const schema = isJsonObject(published) ? published["schema"] : undefined;
  return isJsonObject(schema) ? schema : undefined;
}

/** Not a spread: properties of a kind are computed on first access, and a spread would compute them all. */
function changed(type: ResourceType, changes: Partial<ResourceType>): ResourceType {
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(type), ...Object.getOwnPropertyDescriptors(changes) },
  ) as ResourceType;
}
