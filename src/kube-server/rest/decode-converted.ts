/**
 * What a strategic patch or an apply has made, read as its kind. It comes through Go's converter and not through its JSON reader: the words for
 * mistakes are others, and integers that are too large are cut.
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
  return again.ok ? again : err(inItsWords(again.error));
}

/** Only types that read themselves speak here; they do not know which field they are. */
function inItsWords(problem: string): string {
  return problem
    .replace(/into Go struct field \S+ of type/, "into Go value of type")
    .replace(/^illegal base64/, "error decoding from json: $&");
}
