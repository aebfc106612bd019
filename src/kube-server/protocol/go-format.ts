/** Formats values as Go's `%+v` does, for messages about patches. */
import { isJsonObject, type Json } from "#kube";

export function goFormat(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goFormat).join(" ")}]`;
  if (!isJsonObject(value)) return plainText(value);
  const fields = Object.keys(value).toSorted();
  return `map[${fields.map((name) => `${name}:${goFormat(value[name])}`).join(" ")}]`;
}

/** A string without quotes; anything else as JSON. */
export function plainText(value: Json | undefined): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
