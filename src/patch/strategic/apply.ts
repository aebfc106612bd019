/** Applying a strategic merge patch: what kube-apiserver does with `application/strategic-merge-patch+json`. */
import { type Result } from "#base";
import { badJson, tooDeep, type PatchError } from "../errors.ts";
import { depthExceeds, isObject, MAX_DEPTH, type Json, type JsonObject } from "../json.ts";
import type { PatchSchema } from "../schema/port.ts";
import { mergeObjects, type MergeMode } from "./merge-object.ts";

/** The metadata that selects how lists are merged. */
export type StrategicOptions = {
  /**
   * "patch-metadata" (the default) is Kubernetes: lists follow `x-kubernetes-patch-strategy` and `-patch-merge-key`. "list-types"
   * follows `x-kubernetes-list-type` instead, for custom resources: map lists merge and append, sets are joined, other lists are replaced.
   */
  readonly lists?: MergeMode["lists"];
};

/**
 * Applies a strategic merge patch. Neither document is changed; the result shares their unchanged parts.
 * `undefined` and `null` count as an empty document, as in Kubernetes.
 *
 * @example
 * const pod = { spec: { containers: [{ name: "web", image: "nginx:1.14" }, { name: "log", image: "log:1" }] } };
 * const patch = { spec: { containers: [{ name: "web", image: "nginx:1.21" }] } };
 * const schema = builtinSchema({ group: "", version: "v1", kind: "Pod" });
 * applyStrategicMergePatch(pod, patch, schema) // ok: both containers are there, web has the new image
 */
export function applyStrategicMergePatch(
  original: Json | undefined,
  patch: Json | undefined,
  schema: PatchSchema,
  options: StrategicOptions = {},
): Result<JsonObject, PatchError> {
  const base = original ?? {};
  const change = patch ?? {};
  if (!isObject(base) || !isObject(change)) return badJson();
  // The recursion is never deeper than the patch, so the original may have any depth.
  if (depthExceeds(change, MAX_DEPTH)) return tooDeep();
  return mergeObjects(base, change, schema, { target: "object", lists: options.lists ?? "patch-metadata" });
}

/**
 * Merges patches into one with the same effect as applying them in order; directives and nulls are kept. If two patches change the
 * same field the later one wins: `strategicPatchesConflict` finds such fields.
 *
 * @example mergeStrategicPatches([{ spec: { replicas: 2 } }, { spec: { paused: true } }], schema)
 * // ok: { spec: { replicas: 2, paused: true } }
 */
export function mergeStrategicPatches(patches: readonly JsonObject[], schema: PatchSchema): Result<JsonObject, PatchError> {
  let merged: Result<JsonObject, PatchError> = { ok: true, value: {} };
  for (const patch of patches) {
    if (!merged.ok) return merged;
    if (depthExceeds(patch, MAX_DEPTH)) return tooDeep();
    merged = mergeObjects(merged.value, patch, schema, { target: "patch", lists: "patch-metadata" });
  }
  return merged;
}
