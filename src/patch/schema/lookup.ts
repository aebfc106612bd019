/**
 * Implements PatchSchema on schema nodes, in the two variants of Kubernetes: kubectl uses OpenAPI, kube-apiserver uses its Go types. Both
 * merge in the same way; they differ in their errors and messages.
 */
import { err, ok, type Result } from "#base";
import { failure, type PatchError } from "../errors.ts";
import type { SchemaField, SchemaNode } from "./definitions.ts";
import type { FieldMerge, PatchSchema } from "./port.ts";

/** The differences between the two variants. */
export type Flavour = {
  nameOf(node: SchemaNode): string;
  /** The object in which fields are looked up; undefined if any field is valid. */
  objectOf(node: SchemaNode): Result<Extract<SchemaNode, { kind: "object" }> | undefined, PatchError>;
  findField(object: Extract<SchemaNode, { kind: "object" }>, name: string): Result<SchemaField, PatchError>;
  /** The node of one element of a list field; undefined if any value is valid. */
  elementOf(node: SchemaNode, name: string): Result<SchemaNode | undefined, PatchError>;
};

export function schemaFrom(node: SchemaNode, flavour: Flavour): PatchSchema {
  const objects = new Map<string, Result<FieldMerge, PatchError>>();
  const lists = new Map<string, Result<FieldMerge, PatchError>>();
  return {
    get name() {
      return flavour.nameOf(node);
    },
    objectField: (name) => cached(objects, name, () => lookUp(node, flavour, name, false)),
    listField: (name) => cached(lists, name, () => lookUp(node, flavour, name, true)),
  };
}

/** A field of a document that no schema describes: objects merge, lists are replaced. */
const anything: PatchSchema = {
  name: "Arbitrary value (primitive, object or array)",
  objectField: () => ok(withoutRules),
  listField: () => ok(withoutRules),
};
const withoutRules: FieldMerge = { schema: anything, strategy: "", retainKeys: false, mergeKey: "" };

function lookUp(node: SchemaNode, flavour: Flavour, name: string, list: boolean): Result<FieldMerge, PatchError> {
  const object = flavour.objectOf(node);
  if (!object.ok) return object;
  if (object.value === undefined) return ok(withoutRules);
  const field = flavour.findField(object.value, name);
  if (!field.ok) return field;
  const strategies = readStrategies(field.value.patchStrategy);
  if (!strategies.ok) return strategies;
  const below = list ? flavour.elementOf(field.value.node(), name) : ok(field.value.node());
  if (!below.ok) return below;
  return ok({
    schema: below.value === undefined ? anything : schemaFrom(below.value, flavour),
    ...strategies.value,
    mergeKey: field.value.mergeKey ?? "",
    listType: field.value.listType,
    listMapKeys: field.value.listMapKeys,
    mapType: field.value.mapType,
  });
}

/** "merge,retainKeys" has two parts: the merge strategy, and whether patches list the retained keys. */
function readStrategies(text: string | undefined): Result<{ strategy: string; retainKeys: boolean }, PatchError> {
  const parts = text === undefined ? [] : text.split(",");
  const others = parts.filter((part) => part !== "retainKeys");
  if (others.length > 1 || parts.length > 2) return failure("bad-schema", `unexpected patch strategy: [${parts.join(" ")}]`);
  return ok({ strategy: others[0] ?? "", retainKeys: others.length < parts.length });
}

/** Only fields of the schema are cached: a client that sends ever new field names must not fill the memory. */
function cached(known: Map<string, Result<FieldMerge, PatchError>>, name: string, find: () => Result<FieldMerge, PatchError>) {
  const before = known.get(name);
  if (before !== undefined) return before;
  const found = find();
  if (found.ok && found.value !== withoutRules) known.set(name, found);
  return found;
}

/** Like kubectl: from the OpenAPI document, with kubectl's messages. */
export const openApiFlavour: Flavour = {
  nameOf(node) {
    switch (node.kind) {
      case "reference":
        return `Reference to "${node.target}"`;
      case "object":
        return `Kind([${[...node.fields.keys()].join(" ")}])`;
      case "map":
        return `Map of ${openApiFlavour.nameOf(node.values())}`;
      case "list":
        return `Array of ${openApiFlavour.nameOf(node.items())}`;
      case "scalar":
        return node.format === "" ? node.type : `${node.type} (${node.format})`;
      case "any":
        return anything.name;
    }
  },
  objectOf(node) {
    const target = followed(node);
    if (target.kind === "object") return ok(target);
    if (target.kind === "any") return ok(undefined);
    return failure("bad-type", `expected kind, but got ${OPENAPI_WORDS[target.kind]}`);
  },
  findField(object, name) {
    const field = object.fields.get(name);
    return field === undefined ? failure("unknown-field", `unable to find api field "${name}" in ${object.path}`) : ok(field);
  },
  elementOf(node, name) {
    switch (node.kind) {
      case "list":
        return ok(node.items());
      case "reference":
        return ok(node.resolve());
      case "any":
        return ok(undefined);
      case "object":
        return node.fields.has(name)
          ? ok(node)
          : err({ kind: "unknown-field", message: `unable to find api field "${name}" in ${node.path}` });
      case "map":
      case "scalar":
        return failure("bad-type", `expected slice, but got ${OPENAPI_WORDS[node.kind]}`);
    }
  },
};

const OPENAPI_WORDS = { map: "map", list: "slice", scalar: "primitive", reference: "reference" } as const;

export function followed(node: SchemaNode): SchemaNode {
  return node.kind === "reference" ? followed(node.resolve()) : node;
}
