/** What a webhook answers, as the Go types that read it. */
import { normaliseBase64 } from "../../builtin-kinds/codec/base64.ts";
import { BOOLEAN, optional, pointer, STRING, STRINGS } from "../../custom-resources/decode/schema-shape.ts";
import type { Field, Shape } from "../../custom-resources/decode/shapes.ts";
import type { ReviewKind } from "../call-webhook/index.ts";

const INT32: Shape = { kind: "integer", goType: "int32" };
const INT64: Shape = { kind: "integer", goType: "int64" };
const UID: Shape = { kind: "string", goType: "types.UID" };
const TEXTS_BY_NAME: Shape = { kind: "map", goType: "map[string]string", of: () => STRING };

function struct(goType: string, fields: Readonly<Record<string, Field>>): Shape {
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

const PATCH: Shape = {
  kind: "parsed",
  goType: "[]uint8",
  check: (text) => {
    const decoded = normaliseBase64(text);
    return decoded.ok ? undefined : decoded.error;
  },
};

function reviewShape(version: string): Shape {
  const response = struct(`${version}.AdmissionResponse`, {
    uid: { shape: UID, keep: "always" },
    allowed: { shape: BOOLEAN, keep: "always" },
    status: pointer(STATUS),
    patch: optional(PATCH),
    patchType: pointer({ kind: "string", goType: `${version}.PatchType` }),
    auditAnnotations: optional(TEXTS_BY_NAME),
    warnings: optional(STRINGS),
  });
  return struct(`${version}.AdmissionReview`, { kind: optional(STRING), apiVersion: optional(STRING), response: pointer(response) });
}

const GROUP = "admission.k8s.io";

export const ADMISSION_REVIEWS: Readonly<Record<"v1" | "v1beta1", ReviewKind>> = {
  v1: { group: GROUP, version: "v1", kind: "AdmissionReview", shape: reviewShape("v1"), others: ["v1beta1"] },
  v1beta1: { group: GROUP, version: "v1beta1", kind: "AdmissionReview", shape: reviewShape("v1beta1"), others: ["v1"] },
};
