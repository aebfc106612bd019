/**
 * Schemas from OpenAPI nodes: built-in kinds (v2 and v3 documents) and the structural schemas of CustomResourceDefinitions.
 *
 * A list without `x-kubernetes-list-type` falls back to its patch strategy, as kube-apiserver does: a list that strategic merge
 * patch merges by key is owned by key. Nodes are parsed when they are first needed, and cached.
 */
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { OBJECT_META } from "./object-meta.ts";
import { deduced, scalarSchema, untypedAtomic, type ListSchema, type MapSchema, type ScalarType, type TypeSchema } from "./schema.ts";

/** Finds the node that a `$ref` names ("#/components/schemas/io.k8s.api.core.v1.PodSpec"); `undefined`: no such type. */
export type ResolveRef = (ref: string) => JsonObject | undefined;

const QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const ANY_SCALAR = scalarSchema("untyped");
const NOTHING: TypeSchema = { scalar: undefined, list: undefined, map: undefined };
/** Referenced, as in real documents: `preserveUnknownFields` of the parent does not apply inside it. */
const OBJECT_META_REF = "lattice:ObjectMeta";

/** One instance per document: parsed types are shared by all references. */
export function openApiSchemas(resolve: ResolveRef): (node: JsonObject) => TypeSchema {
  const reader = createReader(resolve);
  return (node) => typeOf(reader, node, false).type;
}

export type CrdSchemaOptions = {
  /** `spec.preserveUnknownFields` of old definitions. */
  readonly preserveUnknownFields?: boolean;
};

/** The schema of a custom resource: that of its definition, with the apiVersion, kind and metadata of every object. */
export function crdSchema(openAPIV3Schema: JsonObject | undefined, options: CrdSchemaOptions = {}): TypeSchema {
  if (openAPIV3Schema === undefined) return { scalar: undefined, list: undefined, map: deduced.map };
  const root = { ...openAPIV3Schema, "x-kubernetes-embedded-resource": true };
  return readNode(
    createReader(() => undefined),
    root,
    options.preserveUnknownFields === true,
  );
}

type Reader = { readonly resolve: ResolveRef; readonly named: Map<string, TypeSchema> };
/** `inline`: written in place, not behind a `$ref`; only then does an untyped element make its map a deduced one. */
type TypeUse = { readonly type: TypeSchema; readonly inline: boolean };

function createReader(resolve: ResolveRef): Reader {
  return { resolve, named: new Map() };
}

function typeOf(reader: Reader, node: JsonObject, preserve: boolean): TypeUse {
  const ref = refOf(node);
  if (ref === undefined) return { type: readNode(reader, node, preserve), inline: true };
  const override = mapTypeOf(node);
  const id = override === undefined ? ref : `${ref} ${override}`;
  let type = reader.named.get(id);
  if (type === undefined) {
    type = namedType(reader, ref, override);
    reader.named.set(id, type);
  }
  return { type, inline: false };
}

function namedType(reader: Reader, ref: string, mapType: string | undefined): TypeSchema {
  if (ref.endsWith(QUANTITY)) return ANY_SCALAR;
  if (ref.endsWith(RAW_EXTENSION)) return untypedAtomic;
  const target = ref === OBJECT_META_REF ? OBJECT_META : reader.resolve(ref);
  if (target === undefined) return NOTHING;
  return readNode(reader, mapType === undefined ? target : { ...target, "x-kubernetes-map-type": mapType }, false);
}

/** v3 documents wrap a reference that has siblings into `allOf`. */
function refOf(node: JsonObject): string | undefined {
  const own = field(node, "$ref");
  if (typeof own === "string") return own;
  const all = field(node, "allOf");
  const ref = Array.isArray(all) && all.length === 1 ? field(all[0], "$ref") : undefined;
  return typeof ref === "string" ? ref : undefined;
}

function mapTypeOf(node: JsonObject): string | undefined {
  const mapType = field(node, "x-kubernetes-map-type");
  return mapType === "atomic" || mapType === "granular" ? mapType : undefined;
}

/** `preserve`: this node or one above it keeps unknown fields. */
function readNode(reader: Reader, node: JsonObject, preserve: boolean): TypeSchema {
  const keep = preserve || field(node, "x-kubernetes-preserve-unknown-fields") === true;
  const declared = field(node, "type");
  const name = Array.isArray(declared) ? declared[0] : declared;
  switch (name) {
    case "object":
      return { scalar: undefined, list: undefined, map: readMap(reader, node, keep) };
    case "array":
      return { scalar: undefined, list: readList(reader, node, keep), map: undefined };
    case undefined:
    case "":
      return { scalar: "untyped", list: readList(reader, node, keep), map: readMap(reader, node, keep) };
    default:
      return scalarSchema(scalarOf(name, field(node, "format")));
  }
}

function scalarOf(type: Json, format: Json | undefined): ScalarType {
  if (type === "integer" || type === "number") return "numeric";
  if (type === "boolean") return "boolean";
  const plainText = format === undefined || format === "" || format === "byte";
  return type === "string" && plainText ? "string" : "untyped"; // int-or-string, date-time, …
}

function readList(reader: Reader, node: JsonObject, preserve: boolean): ListSchema {
  const items = field(node, "items");
  let element: TypeSchema | undefined;
  return {
    ...listOwnership(node),
    get element() {
      element ??= isJsonObject(items) ? typeOf(reader, items, preserve).type : untypedAtomic;
      return element;
    },
  };
}

function listOwnership(node: JsonObject): Pick<ListSchema, "kind" | "keys"> {
  const listType = field(node, "x-kubernetes-list-type");
  if (listType === undefined) return ownershipByPatchStrategy(node);
  if (listType === "set") return { kind: "set", keys: [] };
  const declared = field(node, "x-kubernetes-list-map-keys");
  const keys = Array.isArray(declared) ? declared.filter((key): key is string => typeof key === "string") : [];
  if (listType !== "map") return { kind: "atomic", keys: [] };
  return keys.length === 0 ? { kind: "set", keys } : { kind: "map", keys };
}

function ownershipByPatchStrategy(node: JsonObject): Pick<ListSchema, "kind" | "keys"> {
  const strategy = field(node, "x-kubernetes-patch-strategy");
  if (strategy !== "merge" && strategy !== "merge,retainKeys") return { kind: "atomic", keys: [] };
  const key = field(node, "x-kubernetes-patch-merge-key");
  return typeof key === "string" ? { kind: "map", keys: [key] } : { kind: "set", keys: [] };
}

function readMap(reader: Reader, node: JsonObject, preserve: boolean): MapSchema {
  const properties = propertiesOf(node);
  const read = new Map<string, TypeSchema>();
  let others: TypeUse | undefined;
  const element = () => (others ??= elementOf(reader, node, { preserve, open: properties.size === 0 }));
  return {
    atomic: field(node, "x-kubernetes-map-type") === "atomic",
    get deduced() {
      const { type, inline } = element();
      return properties.size === 0 && (type === deduced || (inline && type.scalar === "untyped"));
    },
    get element() {
      return element().type === NOTHING ? undefined : element().type;
    },
    field(name) {
      const known = read.get(name);
      if (known !== undefined) return known;
      const property = properties.get(name);
      if (property === undefined) return undefined;
      const { type } = typeOf(reader, property, preserve);
      read.set(name, type);
      return type;
    },
    defaultOf(name) {
      return field(properties.get(name), "default") ?? undefined;
    },
  };
}

function elementOf(reader: Reader, node: JsonObject, of: { readonly preserve: boolean; readonly open: boolean }): TypeUse {
  const additional = field(node, "additionalProperties");
  if (isJsonObject(additional)) return typeOf(reader, additional, of.preserve);
  const allowed = additional === undefined ? of.preserve || of.open : additional === true;
  return { type: allowed ? deduced : NOTHING, inline: false };
}

function propertiesOf(node: JsonObject): ReadonlyMap<string, JsonObject> {
  const declared = field(node, "properties");
  const properties = new Map<string, JsonObject>();
  for (const [name, property] of Object.entries(isJsonObject(declared) ? declared : {}))
    if (isJsonObject(property)) properties.set(name, property);
  if (field(node, "x-kubernetes-embedded-resource") !== true) return properties;
  return properties.set("apiVersion", { type: "string" }).set("kind", { type: "string" }).set("metadata", { $ref: OBJECT_META_REF });
}
