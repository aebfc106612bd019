/**
 * How much work a record or a patch is, before it is done: an element of a list is looked up by comparing all of them, for each field again. Records
 * and Deployments can be of any origin, and the process that reads them answers API servers and holds a lease: it may not be busy for seconds.
 */
import { field, fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import type { PatchedField } from "./patch-record.ts";
import type { PatchedStep } from "./patched-path.ts";
import type { WorkloadPatch } from "./workload-patch.ts";

/** Some tenths of a second. 2,000 fields of a Deployment with 200 variables are about 3,000,000. */
const MOST_STEPS = 15_000_000;
/** Of a key, which is compared with each element; a value is read only where it is found. */
const LOOKUP = 3;
/** Fields of a pod have shorter paths. For each step of a longer one, the list may be searched again. */
const USUAL_PATH = 10;

/** A larger object is a hash table, and each change copies it. */
const LARGE_MAP = 1_000;
const COPIED_KEY = 20;

export function isTooMuchWork(parts: number, deployment: KubeObject | JsonObject): boolean {
  return parts > 0 && parts * longestIn(deployment) > MOST_STEPS;
}

/** The parts of keys and values of fields, weighed by how often each may be compared with all elements of a list. */
export function partsOfFields(fields: readonly Pick<PatchedField, "path" | "before" | "after">[]): number {
  let parts = 0;
  for (const { path, before, after } of fields) {
    for (const step of path) if (typeof step !== "string") parts += LOOKUP * lookupParts(step);
    if (path.length > USUAL_PATH) parts += 2 * LOOKUP * path.length;
    parts += 1 + partsOf(before) + partsOf(after);
  }
  return parts;
}

function lookupParts(step: Exclude<PatchedStep, string>): number {
  return "key" in step ? Object.keys(step.key).length : partsOf(step.value);
}

/** Variables are looked up by name alone. */
export function partsOfPatch({ patch, envFrom, variables }: WorkloadPatch): number {
  const names = Object.values(variables).reduce((sum, container) => sum + Object.keys(container).length, 0);
  return partsOf(patch) + partsOf(envFrom) + LOOKUP * names;
}

/** Values, and lists and objects, in a value. */
export function partsOf(value: Json | undefined): number {
  if (value === undefined) return 0;
  if (typeof value !== "object" || value === null) return 1;
  let parts = 1;
  for (const inner of Object.values(value)) parts += partsOf(inner);
  return parts;
}

/** The length of the longest list or map that a patch can change. */
function longestIn(deployment: KubeObject | JsonObject): number {
  const [labels, annotations] = ["labels", "annotations"].map((name) => longest(fieldAt(deployment, "metadata", name)));
  return Math.max(labels ?? 0, annotations ?? 0, longest(field(field(deployment, "spec"), "template")));
}

function longest(value: Json | undefined): number {
  if (typeof value !== "object" || value === null) return 0;
  const isMap = isJsonObject(value);
  const inside: readonly (Json | undefined)[] = isMap ? Object.values(value) : value;
  let most = isMap && inside.length > LARGE_MAP ? COPIED_KEY * inside.length : inside.length;
  for (const inner of inside) if (typeof inner === "object") most = Math.max(most, longest(inner));
  return most;
}
