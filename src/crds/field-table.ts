/** The fields of a kind as rows of a table, for the docs and for `lattice explain`. Nested fields have their full path: `spec.nodes.workers`. */
import type { Json } from "#kube";
import { VALIDATIONS } from "./rules.ts";
import type { Structural } from "./structural.ts";

export type FieldRow = {
  /** `spec.containers.<name>.image`, `spec.mirrors[].from`. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly default?: Json;
  readonly description: string;
  /** Messages of the rules for the value. */
  readonly rules: readonly string[];
};

/** Rows for `spec` and `status`, without metadata. */
export function toFieldRows(root: Structural): readonly FieldRow[] {
  const { spec, status } = root.properties ?? {};
  return [...(spec === undefined ? [] : rowsOf("spec", spec, true)), ...(status === undefined ? [] : rowsOf("status", status, false))];
}

function rowsOf(path: string, schema: Structural, required: boolean): readonly FieldRow[] {
  const row: FieldRow = {
    path,
    type: typeOf(schema),
    required,
    ...(schema.default === undefined ? {} : { default: schema.default }),
    description: schema.description ?? "",
    rules: rulesOf(schema),
  };
  return [row, ...rowsBelow(path, schema)];
}

/** The rules of the value and, for a map or list, those of its entries, which have no row of their own. */
function rulesOf(schema: Structural): readonly string[] {
  const own = (schema[VALIDATIONS] ?? []).map(({ message, fieldPath }) =>
    fieldPath === undefined ? message : `${fieldPath.slice(1)}: ${message}`,
  );
  const entry = schema.items ?? schema.additionalProperties;
  return entry === undefined ? own : [...own, ...rulesOf(entry)];
}

/** An entry of a map or list of scalars has no row of its own: the type of the map or list describes it. */
function rowsBelow(path: string, schema: Structural): readonly FieldRow[] {
  if (schema.items !== undefined) return rowsBelow(`${path}[]`, schema.items);
  if (schema.additionalProperties !== undefined) return rowsBelow(`${path}.<name>`, schema.additionalProperties);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    rowsOf(`${path}.${name}`, field, schema.required?.includes(name) ?? false),
  );
}

function typeOf(schema: Structural): string {
  if (schema["x-kubernetes-int-or-string"] === true) return "integer or string";
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return "any fields";
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  return schema.format === "date-time" ? "time" : (schema.type ?? "any");
}
