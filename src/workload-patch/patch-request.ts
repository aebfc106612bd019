/**
 * The writes by which the controller sends a Deployment through the webhook, as JSON merge patches. The label makes API servers select the write; the
 * annotation makes it a change.
 */
import type { JsonObject } from "#kube";
import { PATCHED_LABEL, REQUEST_ANNOTATION } from "./patch-record.ts";

/**
 * The field manager of the controller's check of a patch before it is stored, which is a dry run of the Deployment with the patch. The webhook answers
 * such a dry run with no change: it has the patch from before, and would put that on the Deployment in place of the one to check. Another client that
 * uses the name gets a dry run without the patch, and nothing else.
 */
export const PATCH_CHECK_MANAGER = "lattice-patch-check";

/** `id`: of what is requested. */
export function patchRequest(id: string): JsonObject {
  return { metadata: { labels: { [PATCHED_LABEL]: "true" }, annotations: { [REQUEST_ANNOTATION]: id } } };
}

/** Of a request on which no webhook acted. */
export const withdrawnRequest: JsonObject = {
  metadata: { labels: { [PATCHED_LABEL]: null }, annotations: { [REQUEST_ANNOTATION]: null } },
};
