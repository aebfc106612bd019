/** Values as Go's `%+v` prints them: they stand in messages about patches. */
import { isJsonObject, type Json } from "#kube";

export function goFormat(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goFormat).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  const fields = Object.keys(value).toSorted();
  return `map[${fields.map((name) => `${name}:${goFormat(value[name])}`).join(" ")}]`;
}

/** A string in quotes as Go's `%q` writes it: `<`, `>` and `&` stay as they are. */
export function goQuote(text: string): string {
  return JSON.stringify(text);
}
