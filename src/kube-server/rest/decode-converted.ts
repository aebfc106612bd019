/**
 * Decodes the result of a strategic patch or an apply. A real server uses Go's converter of unstructured objects instead of its JSON decoder:
 * error messages differ, and integers that are too large are truncated.
 */
import { err, type Result } from "#base";
import type { Json, KubeObject } from "#kube";
import type { Decoded, ResourceType } from "../resource-type.ts";

export function decodeConverted(type: ResourceType, value: Json, like: KubeObject | undefined): Result<Decoded, string> {
  if (type.decodeMerged !== undefined) return type.decodeMerged(value);
  const decoded = type.decode(value, like);
  if (decoded.ok || type.fromUnstructured === undefined) return decoded;
  const converted = type.fromUnstructured(value);
  if (!converted.ok) return converted;
  const again = converted.value === value ? decoded : type.decode(converted.value, like);
  return again.ok ? again : err(asConverterError(again.error));
}

/** These errors come from types with their own decoder, which do not have the name of the field. */
function asConverterError(problem: string): string {
  return problem
    .replace(/into Go struct field \S+ of type/, "into Go value of type")
    .replace(/^illegal base64/, "error decoding from json: $&");
}
