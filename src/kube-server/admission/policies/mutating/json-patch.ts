/** A mutation of the kind JSONPatch: operations on the object's JSON. A failed `test` operation leaves the object unchanged and is no error. */
import { err, ok, type Result } from "#base";
import { field, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { applyJsonPatch } from "#patch";
import { CelStruct, itemsOf, type CelList, type CelValue } from "#cel";
import type { ResourceType } from "../../../resource-type.ts";
import { asJsonObject, asObject } from "../../../protocol/managed-kinds.ts";
import { internalError, type Failure } from "../../../protocol/status.ts";
import { toJson, wrongNames } from "./mutation-values.ts";

const MAX_OPERATIONS = 10_000;
/** The limit for the JSON of all operations, in characters, equal to that of a request body. An expression can repeat a large value in every operation. */
const MAX_CHARACTERS = 3 * 1024 * 1024;

/** A Failure ends the request whatever the failure policy is; a text is an error of the policy. Without a type the fields are not checked. */
export function applyOperations(object: KubeObject, type: ResourceType | undefined, made: CelList): Result<KubeObject, string | Failure> {
  if (made.size > MAX_OPERATIONS) return err(`JSON Patch: has ${made.size} operations; at most ${MAX_OPERATIONS} are allowed`);
  const operations: JsonObject[] = [];
  let characters = 0;
  for (const item of itemsOf(made)) {
    const operation = operationOf(item);
    if (!operation.ok) return operation;
    characters += JSON.stringify(operation.value).length;
    if (characters > MAX_CHARACTERS) return err(`JSON Patch: has more than ${MAX_CHARACTERS} characters in its operations`);
    operations.push(operation.value);
  }
  const patched = applyJsonPatch(asJsonObject(object), operations);
  if (!patched.ok) return patched.error.kind === "test-failed" ? ok(object) : err(`JSON Patch: ${patched.error.message}`);
  return type === undefined ? ok(isJsonObject(patched.value) ? asObject(patched.value) : object) : decoded(type, patched.value);
}

function operationOf(value: CelValue): Result<JsonObject, string> {
  if (!(value instanceof CelStruct)) return err("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch");
  const { fields } = value;
  const text = (name: string): string => {
    const given = fields.get(name);
    return typeof given === "string" ? given : "";
  };
  const plain = { op: text("op"), path: text("path"), ...(text("from") === "" ? {} : { from: text("from") }) };
  const given = fields.get("value");
  if (given === undefined) return ok(plain);
  const wrong = given instanceof CelStruct ? wrongNames(given, [given.type.name]) : [];
  if (wrong.length > 0) return err(`type mismatch: ${wrong.join("\n")}`);
  const json = toJson(given);
  if (!json.ok) return err(`JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${json.error}`);
  return ok({ ...plain, value: json.value });
}

/** Built-in kinds are decoded strictly: an unknown field is a mistake in the policy. */
function decoded(type: ResourceType, value: Json): Result<KubeObject, Failure> {
  const { group, version, kind } = type.resource;
  const given = field(value, "kind");
  if (!type.custom && typeof given === "string" && given !== kind) {
    const internal = group === "" ? "core" : (group.split(".")[0] ?? "");
    return internalError(`failed to convert object: converting (${version}.${given}) to (${internal}.${kind}): unknown conversion`);
  }
  const read = type.decode(value);
  if (!read.ok) return internalError(read.error);
  const { object, findings } = read.value;
  if (type.custom || findings.length === 0) return ok(object);
  return internalError(`strict decoding error: ${findings.join(", ")}`);
}
