/**
 * The beginning of a sealed file: what it is, and the parameters by which its key is derived. It is not encrypted, and every chunk is
 * authenticated together with it. Parameters that are weaker or far more expensive than those written here are refused.
 */
import { base64OfBytes, bytesOfBase64, err, fromThrowing, ok, type Result } from "#base";

const SEAL_VERSION = 1;
/** Of the text before encryption; the last chunk may be shorter. */
export const CHUNK_BYTES = 65_536;
export const SALT_BYTES = 32;
export const NONCE_PREFIX_BYTES = 7;
const MOST_HEADER_BYTES = 4_096;

export const ITERATIONS = 600_000;
const MOST_ITERATIONS = 10_000_000;

const MAGIC = "lattice-backup/";
export const FIRST_LINE = `${MAGIC}${SEAL_VERSION}\n`;

export type KeyDerivation =
  | { readonly name: "PBKDF2-HMAC-SHA-256"; readonly iterations: number; readonly salt: Uint8Array }
  | { readonly name: "HKDF-SHA-256"; readonly salt: Uint8Array };

export type SealHeader = {
  readonly kdf: KeyDerivation;
  /** The first bytes of every nonce; its counter and the mark of the last chunk follow. */
  readonly nonce: Uint8Array;
  /** Derived from the key: tells a wrong key from an edited file. */
  readonly check: string;
};

/** The first line, a length, and the header as JSON. */
export function headerBytes({ kdf, nonce, check }: SealHeader): Uint8Array {
  const salt = base64OfBytes(kdf.salt);
  const shown = kdf.name === "HKDF-SHA-256" ? { name: kdf.name, salt } : { name: kdf.name, iterations: kdf.iterations, salt };
  const json = Buffer.from(
    JSON.stringify({ cipher: "AES-256-GCM", chunkBytes: CHUNK_BYTES, kdf: shown, nonce: base64OfBytes(nonce), check }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([Buffer.from(FIRST_LINE), length, json]);
}

/** The number of bytes of the JSON. `bytes`: the first line and the length. */
export function parseFirstLine(bytes: Uint8Array): Result<number, string> {
  const text = Buffer.from(bytes).toString("latin1");
  if (!text.startsWith(MAGIC)) return err("is no backup of lattice");
  if (!text.startsWith(FIRST_LINE))
    return err(
      `has another version (${/^[0-9]+/.exec(text.slice(MAGIC.length))?.[0] ?? "unknown"}); use the version of lattice that wrote it`,
    );
  if (bytes.length < FIRST_LINE.length + 4) return err("is truncated: its header is incomplete");
  const length = Buffer.from(bytes).readUInt32BE(FIRST_LINE.length);
  return length > MOST_HEADER_BYTES ? err("was edited: its header is too long") : ok(length);
}

export function parseHeader(json: Uint8Array): Result<SealHeader, string> {
  const parsed = fromThrowing(
    () => JSON.parse(Buffer.from(json).toString("utf8")) as unknown,
    () => "was edited: its header cannot be read",
  );
  if (!parsed.ok) return parsed;
  const field = (value: unknown, name: string): unknown =>
    typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  const { value } = parsed;
  const kdf = field(value, "kdf");
  const salt = bytesIn(field(kdf, "salt"), SALT_BYTES);
  const nonce = bytesIn(field(value, "nonce"), NONCE_PREFIX_BYTES);
  const check = field(value, "check");
  if (salt === undefined || nonce === undefined || typeof check !== "string") return err("was edited: its header is incomplete");
  if (field(value, "cipher") !== "AES-256-GCM" || field(value, "chunkBytes") !== CHUNK_BYTES)
    return err("was edited: its cipher is not supported");
  if (field(kdf, "name") === "HKDF-SHA-256") return ok({ kdf: { name: "HKDF-SHA-256", salt }, nonce, check });
  const iterations = field(kdf, "iterations");
  if (field(kdf, "name") !== "PBKDF2-HMAC-SHA-256" || typeof iterations !== "number" || !Number.isSafeInteger(iterations))
    return err("was edited: its key derivation is not supported");
  if (iterations < ITERATIONS || iterations > MOST_ITERATIONS)
    return err(`was edited: ${iterations} iterations of its key derivation are not between ${ITERATIONS} and ${MOST_ITERATIONS}`);
  return ok({ kdf: { name: "PBKDF2-HMAC-SHA-256", iterations, salt }, nonce, check });
}

function bytesIn(value: unknown, length: number): Uint8Array | undefined {
  const bytes = typeof value === "string" ? bytesOfBase64(value) : undefined;
  return bytes?.ok === true && bytes.value.length === length ? bytes.value : undefined;
}
