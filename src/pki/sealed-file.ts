/**
 * Seals a stream of bytes: AES-256-GCM in chunks of 64 KiB, so that memory stays bounded. Every chunk is authenticated with the header, its
 * number and whether it is the last one: no chunk can be changed, exchanged, repeated or cut off.
 *
 * The key of a file is derived with a salt of its own, so a nonce (prefix, number, mark of the last chunk) is never used twice under one key.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, pbkdf2, randomBytes } from "node:crypto";
import { equalInConstantTime, err, fromThrowing, ok, reveal, type Result, type Sensitive } from "#base";
import {
  CHUNK_BYTES,
  FIRST_LINE,
  headerBytes,
  ITERATIONS,
  NONCE_PREFIX_BYTES,
  parseFirstLine,
  parseHeader,
  SALT_BYTES,
  type KeyDerivation,
} from "./sealed-header.ts";

export type SealSecret =
  /** 32 random bytes. */
  { readonly kind: "key"; readonly key: Sensitive<Uint8Array> } | { readonly kind: "passphrase"; readonly passphrase: Sensitive<string> };

export type ByteSink = (bytes: Uint8Array) => Result<void, string>;
/** Up to this many bytes; fewer only at the end. */
export type ByteSource = (bytes: number) => Result<Uint8Array, string>;

const TAG_BYTES = 16;
const KEY_BYTES = 32;

export async function sealStream(secret: SealSecret, plain: Iterable<Uint8Array>, write: ByteSink): Promise<Result<void, string>> {
  const salt = randomBytes(SALT_BYTES);
  const kdf: KeyDerivation =
    secret.kind === "key" ? { name: "HKDF-SHA-256", salt } : { name: "PBKDF2-HMAC-SHA-256", iterations: ITERATIONS, salt };
  const keys = await deriveKeys(secret, kdf);
  if (!keys.ok) return keys;
  const nonce = randomBytes(NONCE_PREFIX_BYTES);
  const header = headerBytes({ kdf, nonce, check: keys.value.check });
  const written = write(header);
  if (!written.ok) return written;
  const chunk = (index: number, last: boolean, bytes: Uint8Array) => {
    const cipher = createCipheriv("aes-256-gcm", keys.value.encryption, nonceOf(nonce, index, last), { authTagLength: TAG_BYTES });
    cipher.setAAD(additionalData(header, index, last));
    return write(Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
  };
  let index = 0;
  let open = Buffer.alloc(0);
  for (const bytes of plain) {
    open = Buffer.concat([open, bytes]);
    // the last chunk is written at the end: it may be a whole one
    for (; open.length > CHUNK_BYTES; index += 1) {
      const sealed = chunk(index, false, open.subarray(0, CHUNK_BYTES));
      if (!sealed.ok) return sealed;
      open = open.subarray(CHUNK_BYTES);
    }
  }
  return chunk(index, true, open);
}

/** `onChunk` gets authenticated bytes only. The errors are predicates: the caller puts the name of the file before them. */
export async function openStream(secret: SealSecret, read: ByteSource, onChunk: ByteSink): Promise<Result<void, string>> {
  const opened = await openHeader(secret, read);
  if (!opened.ok) return opened;
  const { header, nonce, encryption } = opened.value;
  const authentic = (index: number, last: boolean, sealed: Uint8Array) =>
    fromThrowing(
      () => {
        const decipher = createDecipheriv("aes-256-gcm", encryption, nonceOf(nonce, index, last), { authTagLength: TAG_BYTES });
        decipher.setAAD(additionalData(header, index, last));
        decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
        return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()]);
      },
      () => undefined,
    );
  let next = read(CHUNK_BYTES + TAG_BYTES);
  for (let index = 0; ; index += 1) {
    if (!next.ok) return next;
    const sealed = next.value;
    if (sealed.length < TAG_BYTES) return err("is truncated");
    next = sealed.length < CHUNK_BYTES + TAG_BYTES ? ok(new Uint8Array()) : read(CHUNK_BYTES + TAG_BYTES);
    if (!next.ok) return next;
    const last = next.value.length === 0;
    const plain = authentic(index, last, sealed);
    if (!plain.ok)
      return err(last ? endProblem(authentic(index, false, sealed).ok) : `was edited: part ${index + 1} is not as it was written`);
    const taken = onChunk(plain.value);
    if (!taken.ok || last) return taken;
  }
}

function endProblem(isWhole: boolean): string {
  return isWhole ? "is truncated: its last part is missing" : "is truncated or was edited: its last part is not as it was written";
}

type OpenedHeader = { readonly header: Uint8Array; readonly nonce: Uint8Array; readonly encryption: Uint8Array };

async function openHeader(secret: SealSecret, read: ByteSource): Promise<Result<OpenedHeader, string>> {
  const first = read(FIRST_LINE.length + 4);
  if (!first.ok) return first;
  const length = parseFirstLine(first.value);
  if (!length.ok) return length;
  const json = read(length.value);
  if (!json.ok) return json;
  if (json.value.length < length.value) return err("is truncated: its header is incomplete");
  const parsed = parseHeader(json.value);
  if (!parsed.ok) return parsed;
  const { kdf, nonce, check } = parsed.value;
  const wanted = kdf.name === "HKDF-SHA-256" ? "key" : "passphrase";
  if (wanted !== secret.kind)
    return err(
      wanted === "key" ? "was sealed with a key; give --key-file" : "was sealed with a passphrase; give --passphrase-file, or type it",
    );
  const keys = await deriveKeys(secret, kdf);
  if (!keys.ok) return keys;
  if (!equalInConstantTime(keys.value.check, check))
    return err(`cannot be opened with this ${wanted}: it is another one, or the header was edited`);
  return ok({ header: Buffer.concat([first.value, json.value]), nonce, encryption: keys.value.encryption });
}

type DerivedKeys = { readonly encryption: Uint8Array; readonly check: string };

async function deriveKeys(secret: SealSecret, kdf: KeyDerivation): Promise<Result<DerivedKeys, string>> {
  const main = secret.kind === "key" ? ok(reveal(secret.key)) : await stretched(reveal(secret.passphrase), kdf);
  if (!main.ok) return main;
  if (main.value.length !== KEY_BYTES) return err(`the key has ${main.value.length} bytes; it must have ${KEY_BYTES}`);
  const derive = (use: string, bytes: number) => Buffer.from(hkdfSync("sha256", main.value, kdf.salt, `lattice backup ${use}`, bytes));
  return ok({ encryption: derive("encryption", KEY_BYTES), check: derive("check", 16).toString("hex") });
}

function stretched(passphrase: string, kdf: KeyDerivation): Promise<Result<Uint8Array, string>> {
  const iterations = kdf.name === "PBKDF2-HMAC-SHA-256" ? kdf.iterations : ITERATIONS;
  return new Promise((resolve) => {
    pbkdf2(passphrase.normalize("NFC"), kdf.salt, iterations, KEY_BYTES, "sha256", (error, key) =>
      resolve(error === null ? ok(key) : err(`the key could not be derived: ${error.message}`)),
    );
  });
}

function nonceOf(prefix: Uint8Array, index: number, last: boolean): Uint8Array {
  return Buffer.concat([prefix, numberBytes(index), Uint8Array.of(last ? 1 : 0)]);
}

function additionalData(header: Uint8Array, index: number, last: boolean): Uint8Array {
  return Buffer.concat([createHash("sha256").update(header).digest(), numberBytes(index), Uint8Array.of(last ? 1 : 0)]);
}

function numberBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
