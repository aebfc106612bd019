/**
 * The built-in kinds as the Go types of kube-apiserver. Field names are case-insensitive, and a free-form object of OpenAPI is a type
 * without fields, so that looking up a field in it fails.
 */
import { ok } from "#base";
import { failure } from "../errors.ts";
import type { SchemaNode } from "./definitions.ts";
import { followed, type Flavour } from "./lookup.ts";

type ObjectNode = Extract<SchemaNode, { kind: "object" }>;

export const goStructFlavour: Flavour = {
  nameOf: (node) => goKindOf(node),
  objectOf(node) {
    const target = followed(node);
    if (goKindOf(node) !== "struct") {
      return failure("bad-type", `merging an object in json but data type is not struct, instead is: ${goKindOf(node)}`);
    }
    return ok<ObjectNode>(target.kind === "object" ? target : { kind: "object", path: target.path, fields: new Map() });
  },
  findField(object, name) {
    const field = object.fields.get(name) ?? [...object.fields].find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1];
    if (field !== undefined) return ok(field);
    return failure("unknown-field", `unable to find api field in struct ${typeName(object.path)} for the json field "${name}"`);
  },
  elementOf(node) {
    const target = followed(node);
    if (target.kind === "list") return ok(target.items());
    return failure("bad-type", "expected slice or array type, but got: struct");
  },
};

/** "io.k8s.api.core.v1.Container" is the Go type Container. */
function typeName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

function goKindOf(node: SchemaNode): string {
  // A named definition is a Go type of its own: Time, Quantity and RawExtension are structs, independently of their JSON type.
  if (node.kind === "reference") return "struct";
  switch (node.kind) {
    case "object":
    case "any":
      return "struct";
    case "map":
      return "map";
    case "list":
      return "slice";
    case "scalar":
      return scalarKind(node.type, node.format);
  }
}

function scalarKind(type: string, format: string): string {
  if (format === "byte") return "slice";
  if (type === "boolean") return "bool";
  if (type === "number") return "float64";
  return format === "int32" || format === "int64" ? format : "string";
}
