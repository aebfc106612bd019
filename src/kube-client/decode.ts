/**
 * Decodes bodies of responses to typed objects, with the checks that the types rely on.
 *
 * Servers leave `apiVersion` and `kind` out of the list items of built-in kinds; they are added here, because every KubeObject has them.
 */
import { err, ok, type Result } from "#base";
import { apiVersionOf, field, fieldAt, isJsonObject, parseJson, type Json, type KubeList, type KubeObject, type Resource } from "#kube";
import { failure, type KubeError } from "./errors.ts";

export function decodeUtf8(pieces: readonly Uint8Array[]): Result<string, KubeError> {
  const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  try {
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return failure("protocol", "the API server sent bytes that are not UTF-8");
  }
}

export function decodeJson(text: string): Result<Json, KubeError> {
  const parsed = parseJson(text);
  // the error of the parser quotes the text, which may be a Secret
  return parsed.ok ? parsed : failure("protocol", "the API server sent a body that is not JSON");
}

export function decodeObject<T extends KubeObject>(resource: Resource<T>, value: Json | undefined): Result<T, KubeError> {
  if (typeof fieldAt(value, "metadata", "name") !== "string" || !isJsonObject(value)) {
    return failure("protocol", `the API server sent a body that is not a ${resource.kind}`);
  }
  // a PartialObjectMetadata has its own kind; the caller gets the kind that it requested
  if (resource.view === "metadata") return ok({ ...value, apiVersion: apiVersionOf(resource), kind: resource.kind } as unknown as T);
  if (field(value, "kind") !== undefined) return ok(value as unknown as T);
  return ok({ apiVersion: apiVersionOf(resource), kind: resource.kind, ...value } as unknown as T);
}

export function decodeList<T extends KubeObject>(resource: Resource<T>, value: Json): Result<KubeList<T>, KubeError> {
  const metadata = field(value, "metadata");
  // Go encodes a nil slice as null
  const raw = field(value, "items") ?? [];
  if (typeof field(metadata, "resourceVersion") !== "string" || !Array.isArray(raw)) {
    return failure("protocol", `the API server sent a body that is not a list of ${resource.plural}`);
  }
  const items: T[] = [];
  for (const item of raw as readonly Json[]) {
    const decoded = decodeObject(resource, item);
    if (!decoded.ok) return err(decoded.error);
    items.push(decoded.value);
  }
  return ok({ metadata: metadata as unknown as KubeList["metadata"], items });
}
