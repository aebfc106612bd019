/** The shape of ObjectMeta: metadata of every object, and of resources embedded in custom ones. */
import { parseTimestamp } from "#cel";
import { always, BOOLEAN, optional, pointer, STRING, STRINGS, type Field, type GoShape } from "../../protocol/shapes.ts";

const INT64: GoShape = { kind: "integer", goType: "int64" };
const UID: GoShape = { kind: "string", goType: "types.UID" };
const STRING_MAP: GoShape = { kind: "map", goType: "map[string]string", of: () => STRING };
const TIME: GoShape = { kind: "parsed", goType: "string", check: (text) => parseTimestamp(text).error };

const OWNER: GoShape = {
  kind: "struct",
  goType: "v1.OwnerReference",
  fields: () =>
    new Map([
      ["apiVersion", always(STRING)],
      ["kind", always(STRING)],
      ["name", always(STRING)],
      ["uid", always(UID)],
      ["controller", pointer(BOOLEAN)],
      ["blockOwnerDeletion", pointer(BOOLEAN)],
    ]),
};

const MANAGER: GoShape = {
  kind: "struct",
  goType: "v1.ManagedFieldsEntry",
  fields: () =>
    new Map([
      ["manager", optional(STRING)],
      ["operation", optional({ kind: "string", goType: "v1.ManagedFieldsOperationType" })],
      ["apiVersion", optional(STRING)],
      ["time", pointer(TIME)],
      ["fieldsType", optional(STRING)],
      ["fieldsV1", pointer({ kind: "any" })],
      ["subresource", optional(STRING)],
    ]),
};

const FIELDS: ReadonlyMap<string, Field> = new Map([
  ["name", optional(STRING)],
  ["generateName", optional(STRING)],
  ["namespace", optional(STRING)],
  ["selfLink", optional(STRING)],
  ["uid", optional(UID)],
  ["resourceVersion", optional(STRING)],
  ["generation", optional(INT64)],
  ["creationTimestamp", pointer(TIME)],
  ["deletionTimestamp", pointer(TIME)],
  ["deletionGracePeriodSeconds", pointer(INT64)],
  ["labels", optional(STRING_MAP)],
  ["annotations", optional(STRING_MAP)],
  ["ownerReferences", optional({ kind: "list", goType: "[]v1.OwnerReference", of: () => OWNER })],
  ["finalizers", optional(STRINGS)],
  ["managedFields", optional({ kind: "list", goType: "[]v1.ManagedFieldsEntry", of: () => MANAGER })],
]);

export const OBJECT_META: GoShape = { kind: "struct", goType: "v1.ObjectMeta", fields: () => FIELDS };
