/** Where a field of a Deployment is. Elements of lists are named by their key, because other writers move them. */
import type { Json, JsonObject } from "#kube";

/**
 * One step: the name of a field; `key`: the element of a list with these fields (`{name: "main"}`); `value`: the element that equals the value,
 * for lists without a key (`envFrom`).
 */
export type PatchedStep = string | { readonly key: JsonObject } | { readonly value: Json };

/** From the Deployment to one field. */
export type PatchedPath = readonly PatchedStep[];
