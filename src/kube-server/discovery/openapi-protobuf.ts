/**
 * The Swagger document as protobuf (gnostic's openapi.v2.Document): the only form that Go clients request, and required by kubectl before
 * 1.27. It contains the schemas, and for each path what clients read: the kind, the action, the names of the parameters.
 *
 * Field numbers are those of OpenAPIv2.proto. A vendor extension is encoded as the YAML of its value; JSON is YAML too.
 */
import { Buffer } from "node:buffer";
import { field, isJsonObject, type Json, type JsonObject } from "#kube";
import { plainText } from "../protocol/go-format.ts";

export const SWAGGER_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/** Go clients still use the older name, with an @ in it. */
export function isSwaggerProtobuf(type: string): boolean {
  return type === SWAGGER_PROTOBUF || type === SWAGGER_PROTOBUF.replace("v2.v1.0", "v2@v1.0");
}

export function swaggerProtobuf(document: JsonObject): Uint8Array {
  const { info, paths, definitions } = document;
  return message(
    text(1, document["swagger"]),
    part(2, text(1, field(info, "title")), text(2, field(info, "version"))),
    part(8, ...each(paths, (name, path) => part(2, text(1, name), part(2, ...pathItem(path))))),
    part(9, ...named(definitions)),
  );
}

type Part = Uint8Array;
const NO_BYTES: Part = new Uint8Array();

function message(...parts: readonly Part[]): Uint8Array {
  return Buffer.concat(parts);
}

function varint(value: number): Part {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Uint8Array.of(...bytes, rest);
}

/** Wire type 2: length-delimited. */
function bytes(number: number, value: Uint8Array): Part {
  return message(varint(number * 8 + 2), varint(value.byteLength), value);
}

function part(number: number, ...parts: readonly Part[]): Part {
  return bytes(number, message(...parts));
}

function text(number: number, value: Json | undefined): Part {
  return value === undefined || value === "" ? NO_BYTES : bytes(number, Buffer.from(plainText(value)));
}

function texts(number: number, value: Json | undefined): readonly Part[] {
  return Array.isArray(value) ? value.map((item) => text(number, item)) : [];
}

function flag(number: number, value: Json | undefined): Part {
  return value === true ? message(varint(number * 8), varint(1)) : NO_BYTES;
}

function each(map: Json | undefined, write: (name: string, value: Json) => Part): readonly Part[] {
  return isJsonObject(map) ? Object.entries(map).map(([name, value]) => write(name, value ?? null)) : [];
}

/** Definitions or properties. */
function named(map: Json | undefined): readonly Part[] {
  return each(map, (name, value) => part(1, text(1, name), part(2, ...schema(value))));
}

function extensions(number: number, holder: JsonObject): readonly Part[] {
  return each(holder, (name, value) =>
    name.startsWith("x-") ? part(number, text(1, name), part(2, text(2, JSON.stringify(value)))) : NO_BYTES,
  );
}

function schema(value: Json): readonly Part[] {
  if (!isJsonObject(value)) return [];
  const { additionalProperties: more, items, properties, type } = value;
  return [
    text(1, value["$ref"]),
    text(2, value["format"]),
    text(4, value["description"]),
    ...texts(19, value["required"]),
    more === undefined ? NO_BYTES : part(21, isJsonObject(more) ? part(1, ...schema(more)) : flag(2, more)),
    type === undefined ? NO_BYTES : part(22, text(1, type)),
    items === undefined ? NO_BYTES : part(23, part(1, ...schema(items))),
    properties === undefined ? NO_BYTES : part(25, ...named(properties)),
    ...extensions(31, value),
  ];
}

const METHODS: ReadonlyMap<string, number> = new Map([
  ["get", 2],
  ["put", 3],
  ["post", 4],
  ["delete", 5],
  ["options", 6],
  ["head", 7],
  ["patch", 8],
]);

function pathItem(item: Json): readonly Part[] {
  return [
    ...each(item, (name, value) => {
      const method = METHODS.get(name);
      return method === undefined || !isJsonObject(value) ? NO_BYTES : part(method, ...operation(value));
    }),
    ...parameters(9, field(item, "parameters")),
  ];
}

function operation(value: JsonObject): readonly Part[] {
  const responses = each(value["responses"], (code, response) => part(1, text(1, code), part(2, part(1, ...responseParts(response)))));
  return [
    text(5, value["operationId"]),
    ...texts(6, value["produces"]),
    ...texts(7, value["consumes"]),
    ...parameters(8, value["parameters"]),
    part(9, ...responses),
    ...extensions(13, value),
  ];
}

function responseParts(response: Json): readonly Part[] {
  const schemaOfBody = field(response, "schema");
  return [text(1, field(response, "description") ?? ""), schemaOfBody === undefined ? NO_BYTES : part(2, part(1, ...schema(schemaOfBody)))];
}

function parameters(number: number, list: Json | undefined): readonly Part[] {
  if (!Array.isArray(list)) return [];
  return list.map((parameter) =>
    part(number, part(1, field(parameter, "in") === "body" ? bodyParameter(parameter) : otherParameter(parameter))),
  );
}

function bodyParameter(parameter: Json): Part {
  const { name, required, schema: body } = isJsonObject(parameter) ? parameter : {};
  return part(1, text(2, name), text(3, "body"), flag(4, required), part(5, ...schema(body ?? null)));
}

/** The message depends on the parameter's `in`. */
function otherParameter(parameter: Json): Part {
  const inPath = field(parameter, "in") === "path";
  const name = [flag(1, inPath), text(2, field(parameter, "in")), text(4, field(parameter, "name")), text(inPath ? 5 : 6, "string")];
  return part(2, part(inPath ? 4 : 3, ...name));
}
