/** Which fields of a Deployment a patch may change, and a record may restore: labels, annotations and the pod template, never the selector. */
import type { PatchedPath } from "./patched-path.ts";

const ROOTS = ["metadata.labels", "metadata.annotations", "spec.template"];

/** Used in messages. */
export const PATCHABLE_TEXT = "metadata.labels, metadata.annotations and spec.template";

/** `["spec", "template"]` itself is not: only what is inside. `metadata.labels` itself is, because it can be created. */
export function isPatchable(path: PatchedPath): boolean {
  const [first, second] = path;
  const root = typeof first === "string" && typeof second === "string" ? `${first}.${second}` : "";
  return ROOTS.includes(root) && (path.length > 2 || root !== "spec.template");
}
