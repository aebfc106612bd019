/** `jsonpatch.escapeKey`: escapes a text as one token of a JSON pointer. Only mutations of policies have it. */
import { declare, type Declarations } from "../declarations.ts";
import { tooLongText } from "../size-limits.ts";
import { NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";

export function jsonPatch(): Declarations {
  return declare([
    [
      "string_jsonpatch_escapeKey_string",
      "jsonpatch.escapeKey(string) -> string",
      (key) => (typeof key === "string" ? escaped(key) : NO_SUCH_OVERLOAD),
    ],
  ]);
}

function escaped(key: string): CelValue {
  const text = key.replaceAll("~", "~0").replaceAll("/", "~1");
  return tooLongText(text.length) ?? text;
}
