/** The response of a webhook, as the Go types that decode it. */
import { normaliseBase64 } from "../../builtin-kinds/codec/base64.ts";
import { BOOLEAN, optional, pointer, STRING, STRINGS, type GoShape } from "../../protocol/shapes.ts";
import { STATUS, struct, UID, type ReviewKind } from "../../webhook-client/index.ts";

const TEXTS_BY_NAME: GoShape = { kind: "map", goType: "map[string]string", of: () => STRING };

const PATCH: GoShape = {
  kind: "parsed",
  goType: "[]uint8",
  check: (text) => {
    const decoded = normaliseBase64(text);
    return decoded.ok ? undefined : decoded.error;
  },
};

function reviewShape(version: string): GoShape {
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
