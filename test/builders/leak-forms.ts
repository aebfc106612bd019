/** The forms in which a secret value could be read or guessed from a text: encodings, and digests without a key. */
import { createHash } from "node:crypto";

/** `core`: letters and digits that are part of every value that contains the secret, whatever escapes the rest. */
export function encodedForms(core: string): readonly string[] {
  const bytes = Buffer.from(core);
  return [core, bytes.toString("hex"), ...[0, 1, 2].map((offset) => base64Inside(core, offset))];
}

/** Base64 of the text inside of a larger one, without the characters that depend on its surroundings. */
function base64Inside(core: string, offset: number): string {
  const text = Buffer.from(`${"\0".repeat(offset)}${core}`)
    .toString("base64")
    .replaceAll("=", "");
  return text.slice(offset === 0 ? 0 : offset + 1, (offset + core.length) % 3 === 0 ? undefined : -1);
}

/** A prefix is enough: names contain shortened digests. */
const DIGEST_CHARACTERS = 12;

export function digestForms(values: readonly string[]): readonly string[] {
  return values.flatMap((value) =>
    ["sha256", "sha512"].flatMap((algorithm) => {
      const digest = createHash(algorithm).update(value).digest();
      return [digest.toString("hex").slice(0, DIGEST_CHARACTERS), digest.toString("base64").slice(0, DIGEST_CHARACTERS)];
    }),
  );
}
