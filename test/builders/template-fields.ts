/**
 * Finds the fields of a LatticeService that accept templates: an unresolvable placeholder is set in every string of the schema, one at a
 * time; an error of the compiler about it shows that the field was expanded. A field that is added to the schema is included.
 */
import { latticeServiceKind, parseLatticeService } from "#crds";
import { fieldAt, isJsonObject, type Json, type JsonObject } from "#kube";
import { compileService } from "#service-compiler";
import { serviceInput } from "./service-input.ts";

const PROBE = "${unresolvable.placeholder}";
/** Map keys that some map of the spec accepts, and fields that other fields require. */
const KEYS = ["main", "V", "/f"];
const BESIDE: readonly JsonObject[] = [{}, { type: "postgres" }, { strategy: "canary" }, { type: "Localhost" }];

type TemplateFields = {
  /** Fields in which the compiler expands placeholders. */
  readonly read: readonly string[];
  /** Strings in which a placeholder is invalid: names, enums, quantities. */
  readonly refused: readonly string[];
};

export function findTemplateFields(): TemplateFields {
  const schema = fieldAt(latticeServiceKind.crd().spec.versions[0], "schema", "openAPIV3Schema", "properties", "spec") as JsonObject;
  const fields = textsIn(schema, []).map((path) => {
    const specs = KEYS.flatMap((key) => BESIDE.map((more) => withContainer(build(schema, path, { key, more }))));
    const valid = specs.filter((spec) => parseLatticeService(serviceOf(spec)).ok);
    return { path: path.join("."), valid, read: valid.some(isRead) };
  });
  return {
    read: fields.filter(({ read }) => read).map(({ path }) => path),
    refused: fields.filter(({ valid }) => valid.length === 0).map(({ path }) => path),
  };
}

/** All strings, and all fields that accept any value. */
function textsIn(schema: JsonObject, path: readonly string[]): readonly (readonly string[])[] {
  const { type, properties, items, additionalProperties } = schema;
  if (type === "string" || isChoice(schema) || schema["x-kubernetes-preserve-unknown-fields"] === true) return [path];
  return [
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, below]) => textsIn(below as JsonObject, [...path, name])),
    ...(isJsonObject(items) ? textsIn(items, [...path, "[]"]) : []),
    ...(isJsonObject(additionalProperties) ? textsIn(additionalProperties, [...path, "*"]) : []),
  ];
}

function isChoice(schema: JsonObject): boolean {
  return schema["x-kubernetes-int-or-string"] === true;
}

type BuildOptions = { readonly key: string; readonly more: JsonObject };

/** The field, its required siblings and the fields of `more`. */
function build(schema: JsonObject, [first, ...rest]: readonly string[], options: BuildOptions): Json {
  if (first === undefined) return schema["type"] === "string" || isChoice(schema) ? PROBE : { port: PROBE };
  if (first === "[]") return [build(schema["items"] as JsonObject, rest, options)];
  if (first === "*") {
    const key = rest.length > 0 && isJsonObject(fieldAt(schema, "additionalProperties", "properties", "image")) ? "main" : options.key;
    return { [key]: build(schema["additionalProperties"] as JsonObject, rest, options) };
  }
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly string[]) : [];
  const others = required.filter((name) => name !== first).map((name) => [name, sampleOf(fieldAt(schema, "properties", name))]);
  const below = build(fieldAt(schema, "properties", first) as JsonObject, rest, options);
  return { ...Object.fromEntries(others), ...(rest.length === 0 ? options.more : {}), [first]: below };
}

function sampleOf(schema: unknown): Json {
  if (!isJsonObject(schema)) return "a";
  if (Array.isArray(schema["enum"])) return schema["enum"][0] ?? "a";
  return schema["type"] === "integer" || isChoice(schema) ? 80 : "a";
}

function withContainer(spec: Json): JsonObject {
  const given = isJsonObject(spec) ? spec : {};
  const main = fieldAt(given, "containers", "main");
  return { ...given, containers: { main: { image: "a:1", ...(isJsonObject(main) ? main : {}) } } };
}

function serviceOf(spec: JsonObject) {
  return { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name: "api", namespace: "prod" }, spec };
}

function isRead(spec: JsonObject): boolean {
  const result = compileService(serviceInput(spec));
  return !result.ok && JSON.stringify(result.error).includes("unresolvable");
}
