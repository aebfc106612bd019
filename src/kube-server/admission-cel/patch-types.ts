/**
 * The types of mutations: `Object{spec: Object.spec{…}}` is merged into the object, `JSONPatch{op: …}` is one operation. An Object may have
 * any field of any type: the merge checks it against the schema of the kind.
 */
import { once } from "#base";
import { DYN, joinDeclarations, jsonPatch, kubernetesLibrary, STRING, structType, type CelType, type FieldTypes } from "#cel";

export const OBJECT = structType("Object");
export const JSON_PATCH = structType("JSONPatch");

const PATCH_FIELDS = new Map<string, CelType>([
  ["op", STRING],
  ["path", STRING],
  ["from", STRING],
  ["value", DYN],
]);
/** A real server declares no type for other fields, and reports that when one is used. */
const NO_TYPE = structType("");
const OPERATION_FIELDS: FieldTypes = { get: (field) => PATCH_FIELDS.get(field) ?? NO_TYPE };
const ANY_FIELDS: FieldTypes = { get: () => DYN };

export function patchStruct(name: string): CelType | undefined {
  if (name === JSON_PATCH.name) return JSON_PATCH;
  return name === OBJECT.name || name.startsWith(`${OBJECT.name}.`) ? structType(name) : undefined;
}

export function patchFields(struct: string): FieldTypes | undefined {
  if (struct === JSON_PATCH.name) return OPERATION_FIELDS;
  return patchStruct(struct) === undefined ? undefined : ANY_FIELDS;
}

export const mutationLibrary = once(() => joinDeclarations([kubernetesLibrary(), jsonPatch()]));
