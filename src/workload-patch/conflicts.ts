/**
 * Conflicts with other managers. Every run of `helm upgrade` or `kubectl apply` sends the owner's value of a patched field again, also when nothing
 * has changed; that is no conflict, however often it is run. It is one when another manager, such as a controller that corrects drift, does it three
 * times in ten minutes in requests that change nothing else. The field is then given up for a time that grows.
 */
import { millisecondsOf, timestampOf } from "#base";
import { field, isJsonObject, jsonEqual, type Json, type JsonObject, type KubeObject } from "#kube";
import { lastWriter, ownerOfField } from "./field-owner.ts";
import type { MergedField } from "./merge.ts";
import type { PatchWrite } from "./outcomes.ts";
import { RECORD_ANNOTATION, REQUEST_ANNOTATION, type PatchedField } from "./patch-record.ts";
import { valueAt } from "./patched-path.ts";

const FLIPS = 3;
const FLIP_WINDOW_MS = 10 * 60_000;
const FIRST_BACKOFF_MS = 10 * 60_000;
const MAX_BACKOFF_MS = 60 * 60_000;
/** Annotations that change although the owner's object does not. */
const IGNORED = new Set([RECORD_ANNOTATION, REQUEST_ANNOTATION, "kubectl.kubernetes.io/last-applied-configuration"]);
const IGNORED_PREFIX = "deployment.kubernetes.io/";
/** Field managers of tools that send the whole manifest when a user or a pipeline runs them. They do not watch the Deployment. */
const RUN_TOOLS = new Set(["helm", "kubectl", "kubectl-client-side-apply", "kubectl-replace"]);

/** Whether the field is given up at this time. A changed patch is tried again at once, and so is a record with a time that is too far ahead. */
export function isGivenUp(recorded: PatchedField | undefined, merged: MergedField, at: string): boolean {
  if (recorded?.backoff === undefined || !jsonEqual(recorded.after, merged.after)) return false;
  const left = millisecondsOf(recorded.backoff.until) - millisecondsOf(at);
  return left > 0 && left <= MAX_BACKOFF_MS;
}

/** Whether two Deployments with the patch are equal: then the write between them changes nothing but patched fields. */
export function sameButForPatch(a: JsonObject, b: JsonObject): boolean {
  if (!jsonEqual(field(a, "spec"), field(b, "spec"))) return false;
  const [now, then] = [field(a, "metadata"), field(b, "metadata")];
  return jsonEqual(field(now, "labels"), field(then, "labels")) && jsonEqual(ownAnnotations(now), ownAnnotations(then));
}

function ownAnnotations(metadata: Json | undefined): JsonObject {
  const annotations = field(metadata, "annotations");
  const entries = Object.entries(isJsonObject(annotations) ? annotations : {});
  return Object.fromEntries(entries.filter(([name]) => !IGNORED.has(name) && !name.startsWith(IGNORED_PREFIX)));
}

/**
 * Whether the write has the owner's unchanged value in place of the patched one. Another value is an upgrade. A list of sources is always sent as a
 * whole (`envFrom`), so the owner's list says nothing about ours.
 */
export function isFlip({ path, after, before, created, backoff }: PatchedField, deployment: JsonObject): boolean {
  if (created === true || backoff !== undefined || path.includes("envFrom")) return false;
  const now = valueAt(deployment, path);
  return !jsonEqual(now, after) && (jsonEqual(now, before) || isMix(now, before));
}

/** An element with all fields of the owner and some of ours: the owner's tool merged its value into the patched one. */
function isMix(now: Json | undefined, before: Json | undefined): boolean {
  if (!isJsonObject(now) || !isJsonObject(before)) return false;
  return Object.entries(before).every(([name, value]) => jsonEqual(field(now, name), value));
}

/**
 * The field after one more flip: three in ten minutes give it up. Waits start again after an hour without conflict. A run of a tool is no flip,
 * neither through the webhook nor while it did not answer.
 */
export function withFlip(recorded: PatchedField, deployment: KubeObject, { at, manager }: PatchWrite): PatchedField {
  const managedFields = deployment.metadata.managedFields ?? [];
  const owner = ownerOfField(managedFields, recorded.path, manager) ?? lastWriter(managedFields, manager);
  if (owner !== undefined && RUN_TOOLS.has(owner.manager)) return recorded;
  const { flips: earlier = [], backoffs = 0, ...rest } = recorded;
  const now = millisecondsOf(at);
  const flips = [...earlier.filter((time) => now - millisecondsOf(time) < FLIP_WINDOW_MS), at];
  if (flips.length < FLIPS) return { ...rest, flips, ...(backoffs === 0 ? {} : { backoffs }) };
  const count = now - millisecondsOf(recorded.since) > MAX_BACKOFF_MS ? 1 : backoffs + 1;
  const wait = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(count - 1, 10), MAX_BACKOFF_MS);
  return { ...rest, backoffs: count, backoff: { until: timestampOf(now + wait), ...owner } };
}
