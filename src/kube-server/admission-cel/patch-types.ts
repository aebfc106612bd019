/**
 * The types that mutations are written with: `Object{spec: Object.spec{…}}` for what is to be merged into the object, `JSONPatch{op: …}` for one
 * operation. Objects have any field, of any type: what fits the kind is found out when the mutation is merged.
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
/** A real server gives other fields no type at all, and says so when one is used. */
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
