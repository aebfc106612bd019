/** The kinds that every Kubernetes has, from the committed table. They answer as kube-apiserver does, which knows them as Go types. */
import { BUILTIN_TABLE } from "../generated/builtin-table.ts";
import type { JsonObject } from "../json.ts";
import { definitionNode, once } from "./definitions.ts";
import { goStructFlavour } from "./go-struct.ts";
import { schemaFrom } from "./lookup.ts";
import type { GroupVersionKind } from "./openapi.ts";
import type { PatchSchema } from "./port.ts";
import { readTable } from "./table.ts";

const table = once(() => readTable(BUILTIN_TABLE));
const schemas = new Map<string, PatchSchema>();

/** A definition that many kinds share, such as DeleteOptions, is the schema of none of them. */
const byKind = once(() => {
  const names = new Map<string, string>();
  for (const [name, [kind, ...more]] of table().kinds()) {
    if (kind !== undefined && more.length === 0) names.set(kind, name);
  }
  return names;
});

/**
 * The schema of a built-in kind; undefined for kinds that Kubernetes does not have. It is made once.
 *
 * @example builtinSchema({ group: "apps", version: "v1", kind: "Deployment" })
 */
export function builtinSchema(kind: GroupVersionKind): PatchSchema | undefined {
  const name = byKind().get(kindKey(kind));
  if (name === undefined) return undefined;
  const known = schemas.get(name);
  if (known !== undefined) return known;
  const made = schemaFrom(definitionNode(name, builtinDefinition), goStructFlavour);
  schemas.set(name, made);
  return made;
}

/**
 * The OpenAPI v3 schema of a built-in definition: fields, types, merge metadata and defaults, without prose.
 *
 * @example builtinDefinition("io.k8s.api.core.v1.Container")?.properties
 */
export function builtinDefinition(name: string): JsonObject | undefined {
  return table().definition(name);
}

/**
 * The names of all built-in definitions.
 *
 * @example builtinDefinitionNames().includes("io.k8s.api.core.v1.Pod") // true
 */
export function builtinDefinitionNames(): readonly string[] {
  return table().names();
}

/**
 * The name of a built-in kind's definition.
 *
 * @example builtinDefinitionNameOf({ group: "", version: "v1", kind: "Pod" }) // "io.k8s.api.core.v1.Pod"
 */
export function builtinDefinitionNameOf(kind: GroupVersionKind): string | undefined {
  return byKind().get(kindKey(kind));
}

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}
