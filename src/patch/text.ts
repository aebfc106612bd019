/** The same functions on JSON texts: numbers keep all digits, and fields are printed sorted, as in Go. */
import { ok, type Result } from "#base";
import { badJson, type PatchError } from "./errors.ts";
import { ExactReader, printExact } from "./exact-text.ts";
import { applyJsonPatch, type JsonPatchOptions } from "./json-patch.ts";
import { isObject, type Json } from "./json.ts";
import { applyMergePatch, createMergePatch, createThreeWayMergePatch, type MergePatchOptions } from "./merge-patch.ts";
import type { PatchSchema } from "./schema/port.ts";
import { applyStrategicMergePatch, type StrategicOptions } from "./strategic/apply.ts";
import { createThreeWayStrategicPatch, createTwoWayStrategicPatch, type CreateOptions } from "./strategic/create.ts";
import { sortMergeLists } from "./strategic/sort-lists.ts";

/** A document as text, or an error. */
export type PatchTextResult = Result<string, PatchError>;

/**
 * @example applyStrategicMergePatchText('{"metadata":{"generation":9007199254740993}}', '{"kind":"Pod"}', podSchema)
 * // ok: '{"kind":"Pod","metadata":{"generation":9007199254740993}}'
 */
export function applyStrategicMergePatchText(
  original: string,
  patch: string,
  schema: PatchSchema,
  options?: StrategicOptions,
): PatchTextResult {
  return withDocuments([original, patch], ([base, change]) => applyStrategicMergePatch(base, change, schema, options));
}

/**
 * An empty text counts as an empty document when a patch is created, as in Kubernetes.
 *
 * @example createTwoWayStrategicPatchText('{"a":1}', '{"a":2}', schema) // ok: '{"a":2}'
 */
export function createTwoWayStrategicPatchText(
  original: string,
  modified: string,
  schema: PatchSchema,
  options?: CreateOptions,
): PatchTextResult {
  return withDocuments(orEmpty([original, modified]), ([before, after]) => createTwoWayStrategicPatch(before, after, schema, options));
}

/** The three documents of a three-way patch, as texts. */
export type ThreeWayText = { readonly original: string; readonly modified: string; readonly current: string };

/** @example createThreeWayStrategicPatchText({ original: "", modified: '{"a":2}', current: '{"a":1}' }, schema, { overwrite: true }) */
export function createThreeWayStrategicPatchText(
  documents: ThreeWayText,
  schema: PatchSchema,
  options?: CreateOptions & { readonly overwrite?: boolean },
): PatchTextResult {
  return withDocuments(orEmpty([documents.original, documents.modified, documents.current]), ([original, modified, current]) =>
    createThreeWayStrategicPatch({ original, modified, current }, schema, options),
  );
}

/** @example sortMergeListsText('{"spec":{"containers":[{"name":"b"},{"name":"a"}]}}', podSchema) */
export function sortMergeListsText(document: string, schema: PatchSchema): PatchTextResult {
  return withDocuments([document], ([object]) => sortMergeLists(object, schema));
}

/** @example applyMergePatchText('{"a":1,"b":2}', '{"a":null}') // ok: '{"b":2}' */
export function applyMergePatchText(document: string, patch: string, options?: MergePatchOptions): PatchTextResult {
  return withValues([document, patch], ([base, change]) => applyMergePatch(base, change ?? null, options));
}

/** @example createMergePatchText('{"a":1,"b":2}', '{"b":3}') // ok: '{"a":null,"b":3}' */
export function createMergePatchText(original: string, modified: string): PatchTextResult {
  return withDocuments(orEmpty([original, modified]), ([before, after]) => createMergePatch(before, after));
}

/** @example createThreeWayMergePatchText({ original: '{"a":1}', modified: "{}", current: '{"a":1,"b":1}' }) // ok: '{"a":null}' */
export function createThreeWayMergePatchText(documents: ThreeWayText, options?: CreateOptions): PatchTextResult {
  return withDocuments(orEmpty([documents.original, documents.modified, documents.current]), ([original, modified, current]) =>
    createThreeWayMergePatch({ original, modified, current }, options),
  );
}

/** @example applyJsonPatchText('{"a":1}', '[{"op":"remove","path":"/a"}]') // ok: '{}' */
export function applyJsonPatchText(document: string, operations: string, options?: JsonPatchOptions): PatchTextResult {
  return withValues([document, operations], ([base, steps]) => applyJsonPatch(base ?? null, steps ?? null, options));
}

function orEmpty(texts: readonly string[]): readonly string[] {
  return texts.map((text) => (text === "" ? "{}" : text));
}

type Work = (values: readonly Json[]) => Result<Json, PatchError>;

function withDocuments(texts: readonly string[], work: Work): PatchTextResult {
  return withValues(texts, (values) => (values.every((value) => value === null || isObject(value)) ? work(values) : badJson()));
}

function withValues(texts: readonly string[], work: Work): PatchTextResult {
  const reader = new ExactReader();
  const values: Json[] = [];
  for (const text of texts) {
    const value = reader.read(text);
    if (!value.ok) return value;
    values.push(value.value);
  }
  const result = work(values);
  return result.ok ? ok(printExact(result.value)) : result;
}
