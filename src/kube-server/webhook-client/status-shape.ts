/** The Status in the response of a webhook, as the Go types that decode it. */
import { optional, pointer, STRING, type Field, type GoShape } from "../protocol/shapes.ts";

const INT32: GoShape = { kind: "integer", goType: "int32" };
const INT64: GoShape = { kind: "integer", goType: "int64" };
export const UID: GoShape = { kind: "string", goType: "types.UID" };

export function struct(goType: string, fields: Readonly<Record<string, Field>>): GoShape {
  const known = new Map(Object.entries(fields));
  return { kind: "struct", goType, fields: () => known };
}

const CAUSE = struct("v1.StatusCause", {
  reason: optional({ kind: "string", goType: "v1.CauseType" }),
  message: optional(STRING),
  field: optional(STRING),
});

const DETAILS = struct("v1.StatusDetails", {
  name: optional(STRING),
  group: optional(STRING),
  kind: optional(STRING),
  uid: optional(UID),
  causes: optional({ kind: "list", goType: "[]v1.StatusCause", of: () => CAUSE }),
  retryAfterSeconds: optional(INT32),
});

const LIST_META = struct("v1.ListMeta", {
  selfLink: optional(STRING),
  resourceVersion: optional(STRING),
  continue: optional(STRING),
  remainingItemCount: pointer(INT64),
});

export const STATUS = struct("v1.Status", {
  kind: optional(STRING),
  apiVersion: optional(STRING),
  metadata: { shape: LIST_META, keep: "always" },
  status: optional(STRING),
  message: optional(STRING),
  reason: optional({ kind: "string", goType: "v1.StatusReason" }),
  details: pointer(DETAILS),
  code: optional(INT32),
});
