/**
 * The annotation of client-side `kubectl apply`: the manager "kubectl" may take over, without force, fields that it applied on the client
 * side before, and server-side apply updates the annotation.
 *
 * This applies only to the name "kubectl"; other managers get conflicts.
 */
import { err, ok, type Result } from "#base";
import { field, fieldAt, isJsonObject, goJsonText, parseJson, type JsonObject } from "#kube";
import { compare } from "./compare.ts";
import { difference, EMPTY_SET, type FieldSet } from "./field-set.ts";
import { setField, type GrowingObject } from "./own-fields.ts";
import type { TypeSchema } from "./schema.ts";
import { toFieldSet } from "./to-field-set.ts";
import { parseTyped } from "./typed-value.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_ANNOTATION_BYTES = 256 * 1024;

function lastAppliedOf(object: JsonObject): string | undefined {
  const text = fieldAt(object, "metadata", "annotations", LAST_APPLIED);
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** The fields that the client applied and that are unchanged since. None if the annotation is absent or invalid. */
export function fieldsLastApplied(type: TypeSchema, live: JsonObject, apiVersion: string): FieldSet {
  const strict = { allowDuplicates: false };
  const parsed = parseAnnotation(live, apiVersion);
  if (!parsed.ok) return EMPTY_SET;
  const last = parseTyped(type, parsed.value, strict);
  const now = parseTyped(type, live, strict);
  if (!last.ok || !now.ok) return EMPTY_SET;
  const { modified, added, removed } = compare(type, last.value.value, now.value.value);
  return difference(difference(difference(toFieldSet(type, last.value.value), modified), added), removed);
}

function parseAnnotation(live: JsonObject, apiVersion: string): Result<JsonObject, string> {
  const text = lastAppliedOf(live);
  if (text === undefined) return err("no last applied annotation");
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  return isJsonObject(parsed.value) && field(parsed.value, "apiVersion") === apiVersion ? ok(parsed.value) : err("of another version");
}

/** The object with its annotation, if it has one, updated to the applied configuration. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const annotations: GrowingObject = { ...annotationsOf(object), [LAST_APPLIED]: `${goJsonText(withoutLastApplied(applied))}\n` };
  if (bytesOf(annotations) > MAX_ANNOTATION_BYTES) delete annotations[LAST_APPLIED];
  return withAnnotations(object, annotations);
}

function withoutLastApplied(applied: JsonObject): JsonObject {
  if (fieldAt(applied, "metadata", "annotations") === undefined) return applied;
  const annotations = annotationsOf(applied);
  delete annotations?.[LAST_APPLIED];
  return withAnnotations(applied, annotations);
}

/** As Go decodes a map of strings: null is "". */
function annotationsOf(object: JsonObject): GrowingObject | undefined {
  const annotations = fieldAt(object, "metadata", "annotations");
  if (!isJsonObject(annotations)) return undefined;
  const texts: GrowingObject = {};
  for (const [name, value] of Object.entries(annotations)) setField(texts, name, value ?? "");
  return texts;
}

function withAnnotations(object: JsonObject, annotations: JsonObject | undefined): JsonObject {
  const metadata = field(object, "metadata");
  const changed: GrowingObject = isJsonObject(metadata) ? { ...metadata } : {};
  if (annotations === undefined) delete changed["annotations"];
  else changed["annotations"] = annotations;
  return { ...object, metadata: changed };
}

function bytesOf(annotations: JsonObject): number {
  const encoder = new TextEncoder();
  const texts = Object.entries(annotations).flatMap(([name, value]) => [name, typeof value === "string" ? value : ""]);
  return texts.reduce((sum, text) => sum + encoder.encode(text).length, 0);
}
