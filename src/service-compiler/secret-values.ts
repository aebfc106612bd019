/**
 * Maps a secret path to a Secret and a key, and reads its value: the same for files and for a cluster.
 *
 * A value that is not UTF-8 is refused: a decoder that replaces bytes would silently change a password.
 */
import { bytesOfBase64, err, ok, reveal, sensitive, textOfBytes, type Result, type Sensitive } from "#base";
import { fieldAt, isJsonObject, type KubeObject } from "#kube";

/** By key. Undefined: a value that is not UTF-8. */
export type SecretTexts = ReadonlyMap<string, Sensitive<string> | undefined>;

/** `postgres/main-db/password` is key `password` of Secret `postgres-main-db`. */
export function secretOfPath(path: string): { readonly name: string; readonly key: string } {
  const parts = path.split("/");
  return { name: parts.slice(0, -1).join("-"), key: parts.at(-1) ?? "" };
}

/** Base64 under `data`, plain text under `stringData`. Values that are not base64 are left out. */
export function secretTexts(secret: KubeObject): SecretTexts {
  const values = new Map<string, Sensitive<string> | undefined>();
  for (const [key, encoded] of entriesOf(fieldAt(secret, "data"))) {
    const bytes = bytesOfBase64(encoded);
    if (!bytes.ok) continue;
    const text = textOfBytes(bytes.value);
    values.set(key, text.ok ? sensitive(text.value) : undefined);
  }
  for (const [key, text] of entriesOf(fieldAt(secret, "stringData"))) values.set(key, sensitive(text));
  return values;
}

/** The text of a key; undefined: the Secret does not have it. */
export function secretText(
  texts: SecretTexts,
  { namespace, name, key }: { readonly namespace: string; readonly name: string; readonly key: string },
): Result<string | undefined, string> {
  const text = texts.get(key);
  if (text !== undefined) return ok(reveal(text));
  if (!texts.has(key)) return ok(undefined);
  return err(
    `key '${key}' of Secret ${namespace}/${name} is not UTF-8 text, so no template can contain it\nmount it as a volume (secret:${name})`,
  );
}

function entriesOf(value: unknown): readonly (readonly [string, string])[] {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return entries.flatMap(([key, text]) => (typeof text === "string" ? [[key, text] as const] : []));
}
