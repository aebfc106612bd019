/** The schemas of built-in kinds, from the committed table. They behave like the Go types of kube-apiserver. */
import { once } from "#base";
import { BUILTIN_TABLE } from "../generated/builtin-table.ts";
import type { JsonObject } from "../json.ts";
import { definitionNode } from "./definitions.ts";
import { goStructFlavour } from "./go-struct.ts";
import { schemaFrom } from "./lookup.ts";
import type { GroupVersionKind } from "./openapi.ts";
import type { PatchSchema } from "./port.ts";
import { readTable } from "./table.ts";

const table = once(() => readTable(BUILTIN_TABLE));
type BuiltinKind = { readonly name: string; readonly schema: () => PatchSchema };

/** A definition that many kinds share, such as DeleteOptions, is not used as the schema of a kind. */
const byKind = once(() => {
  const kinds = new Map<string, BuiltinKind>();
  for (const [name, [kind, ...more]] of table().kinds()) {
    if (kind === undefined || more.length > 0) continue;
    kinds.set(kind, { name, schema: once(() => schemaFrom(definitionNode(name, builtinDefinition), goStructFlavour)) });
  }
  return kinds;
});

/**
 * The schema of a built-in kind; undefined for other kinds. It is cached.
 *
 * @example builtinSchema({ group: "apps", version: "v1", kind: "Deployment" })
 */
export function builtinSchema(kind: GroupVersionKind): PatchSchema | undefined {
  return byKind().get(kindKey(kind))?.schema();
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
  return byKind().get(kindKey(kind))?.name;
}

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}
