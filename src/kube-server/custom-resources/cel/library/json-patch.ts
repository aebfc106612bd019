/** `jsonpatch.escapeKey`: a text as one step of a JSON pointer. Only mutations of policies have it. */
import { declare, type Declarations } from "../declarations.ts";
import { NO_SUCH_OVERLOAD } from "../values.ts";

export function jsonPatch(): Declarations {
  return declare([
    [
      "string_jsonpatch_escapeKey_string",
      "jsonpatch.escapeKey(string) -> string",
      (key) => (typeof key === "string" ? key.replaceAll("~", "~0").replaceAll("/", "~1") : NO_SUCH_OVERLOAD),
    ],
  ]);
}
