/**
 * Limits the number of fields and items of a body before it is parsed. Decoding, validating and tracking takes a few microseconds for each, so
 * their number, not the size in bytes, determines how long a request blocks all others.
 */
import { Buffer } from "node:buffer";
import { ok, type Result } from "#base";
import { isJsonObject, type KubeObject } from "#kube";
import { isProtobuf } from "../protobuf/index.ts";
import { header, type ApiRequest } from "../protocol/request.ts";
import { tooLarge, type Failure } from "../protocol/status.ts";
import type { CollectionName } from "../store/index.ts";

/** Largest number of fields and items of one object. */
export const MAX_PARTS = 32_000;
/** Lower, because merging and applying takes longer per part than creating and replacing. */
const MAX_PATCH_PARTS = 20_000;
/** Definitions contain whole schemas, and take less time per part. The largest of kube-prometheus have 9,000. */
export const MAX_DEFINITION_PARTS = 40_000;
/** Enough for 10,000 operations, the limit of a real server. */
const MAX_JSON_PATCH_PARTS = 60_000;
/** YAML is parsed about ten times as slowly as JSON. A larger object could not be stored in etcd. */
export const MAX_YAML_BYTES = 1536 * 1024;
/** In YAML a line may be a field, or a line of a text. */
export const MAX_YAML_LINES = 40_000;
/** Larger bodies are processed in several turns of the event loop. */
const LARGE_BYTES = 64 * 1024;

export function isLarge({ body }: ApiRequest): boolean {
  return (typeof body === "string" || body instanceof Uint8Array) && body.length > LARGE_BYTES;
}
/** A body needs two bytes for a part, so shorter ones are not counted. */
const UNCOUNTED_BYTES = 2 * MAX_PATCH_PARTS;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, LINE_BREAK] = [34, 92, 44, 91, 123, 10];

const DEFINITIONS: CollectionName = "apiextensions.k8s.io/customresourcedefinitions";

function mostParts(collection: CollectionName): number {
  return collection === DEFINITIONS ? MAX_DEFINITION_PARTS : MAX_PARTS;
}

function mostBodyParts(method: string, collection: CollectionName): number {
  return method === "PATCH" && collection !== DEFINITIONS ? MAX_PATCH_PARTS : mostParts(collection);
}

/** The stored object, which may be large after a small change. managedFields do not count, because the server writes them. */
export function checkObjectSize({ metadata, ...rest }: KubeObject, collection: CollectionName): Result<undefined, Failure> {
  const most = mostParts(collection);
  const { managedFields: _managed, ...own } = metadata;
  if (partsLeft([own, rest], most) >= 0) return FITS;
  return tooLarge(`the object would have more than ${most} fields and items`);
}

/** Negative: the value has more parts than `most`. */
function partsLeft(value: unknown, most: number): number {
  let left = most;
  if (Array.isArray(value)) {
    for (const item of value) left = left < 0 ? left : partsLeft(item, left - 1);
  } else if (isJsonObject(value)) {
    for (const name in value) left = left < 0 ? left : partsLeft(value[name], left - 1);
  }
  return left;
}

/** Values from callers in this process are trusted, and not limited. */
export function checkBodySize(request: ApiRequest, collection: CollectionName): Result<undefined, Failure> {
  const { body } = request;
  if (body === undefined || (typeof body === "object" && "value" in body)) return FITS;
  const type = header(request, "content-type");
  const most = type.includes("json-patch") ? MAX_JSON_PATCH_PARTS : mostBodyParts(request.method, collection);
  if (body.length <= UNCOUNTED_BYTES || isProtobuf(type)) return FITS;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (countParts(bytes, most) > most) return tooLarge(`the body has more than ${most} fields and items`);
  return type.includes("yaml") && !isJsonText(bytes) ? checkYaml(bytes) : FITS;
}

function checkYaml(bytes: Uint8Array): Result<undefined, Failure> {
  if (bytes.length > MAX_YAML_BYTES) return tooLarge(`limit of YAML is ${MAX_YAML_BYTES}`);
  let lines = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at >= 0; at = bytes.indexOf(LINE_BREAK, at + 1)) lines += 1;
  return lines > MAX_YAML_LINES ? tooLarge(`the body has more than ${MAX_YAML_LINES} lines of YAML`) : FITS;
}

const FITS = ok(undefined);

function isJsonText(bytes: Uint8Array): boolean {
  return UTF8.decode(bytes.subarray(0, 100)).trimStart().startsWith('{"');
}

const UTF8 = new TextDecoder();

/** Outside strings, every field and item has a comma or an opening bracket. */
function countParts(bytes: Uint8Array, most: number): number {
  let parts = 0;
  for (let at = 0; at < bytes.length && parts <= most; at += 1) {
    const code = bytes[at];
    if (code === COMMA || code === BRACKET || code === BRACE) parts += 1;
    else if (code === QUOTE) at = endOfString(bytes, at + 1);
  }
  return parts;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
