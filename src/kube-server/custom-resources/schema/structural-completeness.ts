/** A field inside anyOf, allOf, oneOf or not must be declared outside of them too. */
import type { FieldCause } from "../../resource-type.ts";
import { required } from "../causes/causes.ts";
import { child, index, key, pathText, type CausePath } from "../causes/field-path.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The schema to search for the declaration, and the schema that needs it. */
type Pair = { readonly declared: JsonSchema | undefined; readonly declaredAt: CausePath; readonly usedAt: CausePath };

export function completenessCauses(schema: JsonSchema, path: CausePath): readonly FieldCause[] {
  return restrictions(schema, { declared: schema, declaredAt: path, usedAt: path });
}

function restrictions(used: JsonSchema, at: Pair): readonly FieldCause[] {
  const below = (schema: JsonSchema | undefined, usedAt: string): readonly FieldCause[] => nested(schema, { ...at, usedAt });
  return [
    ...below(used.not, child(at.usedAt, "not")),
    ...used.allOf.flatMap((one, position) => below(one, index(child(at.usedAt, "allOf"), position))),
    ...used.anyOf.flatMap((one, position) => below(one, index(child(at.usedAt, "anyOf"), position))),
    ...used.oneOf.flatMap((one, position) => below(one, index(child(at.usedAt, "oneOf"), position))),
  ];
}

function nested(used: JsonSchema | undefined, at: Pair): readonly FieldCause[] {
  if (used === undefined) return [];
  const { declared } = at;
  if (declared === undefined) return [missing(at)];
  const properties = [...(used.properties ?? [])].flatMap(([name, property]) => {
    const place = (path: CausePath): string => key(child(path, "properties"), name);
    return nested(property, { declared: declared.properties?.get(name), declaredAt: place(at.declaredAt), usedAt: place(at.usedAt) });
  });
  const items = nested(used.items, {
    declared: declared.items,
    declaredAt: child(at.declaredAt, "items"),
    usedAt: child(at.usedAt, "items"),
  });
  return [...restrictions(used, at), ...items, ...properties];
}

function missing(at: Pair): FieldCause {
  return required(at.declaredAt, `because it is defined in ${pathText(at.usedAt)}`);
}
