/** A Secret's `stringData`: turned into `data` before anything else looks at the object. */
import { childOf, entriesAt, setField, type Draft } from "../draft.ts";

/** Text data is a way in only: it becomes data and is never shown. */
export function mergeStringData(draft: Draft): void {
  const entries = entriesAt(draft, "stringData");
  delete draft["stringData"];
  if (entries.length === 0) return;
  const data = childOf(draft, "data");
  for (const [key, value] of entries) setField(data, key, encodeBase64(value));
}

function encodeBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
