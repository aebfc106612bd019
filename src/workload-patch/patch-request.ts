/**
 * The writes by which the controller sends a Deployment through the webhook, as JSON merge patches. The label makes API servers select the write; the
 * annotation makes it a change.
 */
import type { JsonObject } from "#kube";
import { PATCHED_LABEL, REQUEST_ANNOTATION } from "./patch-record.ts";

/** `id`: of what is requested. */
export function patchRequest(id: string): JsonObject {
  return { metadata: { labels: { [PATCHED_LABEL]: "true" }, annotations: { [REQUEST_ANNOTATION]: id } } };
}

/** Of a request on which no webhook acted. */
export const withdrawnRequest: JsonObject = {
  metadata: { labels: { [PATCHED_LABEL]: null }, annotations: { [REQUEST_ANNOTATION]: null } },
};
