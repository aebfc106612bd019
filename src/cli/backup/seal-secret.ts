/** The key or the passphrase of a backup: from a file, or typed on the terminal. Never an argument or an environment variable. */
import { resolve } from "node:path";
import { bytesOfBase64, err, ok, sensitive, textOfFile, type Result } from "#base";
import type { SealSecret } from "#pki";
import type { CommandIo } from "../io.ts";
import { MAX_SMALL_FILE, readRegularFile } from "../regular-file.ts";

export type SealFlags = { readonly keyFile?: string; readonly passphraseFile?: string };

const KEY_BYTES = 32;
const LEAST_CHARACTERS = 12;

/** `use`: a new passphrase is typed twice. */
export async function readSealSecret(
  io: CommandIo,
  { keyFile, passphraseFile }: SealFlags,
  use: "new" | "existing",
): Promise<Result<SealSecret, string>> {
  if (keyFile !== undefined && passphraseFile !== undefined) return err("--key-file and --passphrase-file exclude each other");
  if (keyFile !== undefined) return readKey(io, keyFile, use);
  if (passphraseFile !== undefined) return readPassphrase(io, passphraseFile);
  if (io.askHidden === undefined) return err("give --key-file or --passphrase-file; a passphrase can be typed only on a terminal");
  const first = await io.askHidden("passphrase: ");
  if (first === undefined) return err("no passphrase was typed");
  if (use === "existing") return ok({ kind: "passphrase", passphrase: sensitive(first) });
  const second = await io.askHidden("the same again: ");
  return second === first ? newPassphrase(first) : err("the two passphrases differ");
}

function readKey(io: CommandIo, file: string, use: "new" | "existing"): Result<SealSecret, string> {
  const bytes = readRegularFile(resolve(io.cwd, file), { bytes: MAX_SMALL_FILE, pipes: true });
  if (!bytes.ok) return err(`--key-file: ${file} ${bytes.error}`);
  const key = bytes.value.length === KEY_BYTES ? bytes.value : keyOfText(bytes.value);
  if (key === undefined) {
    // never a command that would overwrite the file: it may be the only copy of a key
    const advice =
      use === "new" ? `make one in a new file with: openssl rand -out NEWFILE ${KEY_BYTES}` : "give the file that the backup was made with";
    return err(`--key-file: ${file} is no key of ${KEY_BYTES} bytes, as bytes, hexadecimal or base64; ${advice}`);
  }
  return ok({ kind: "key", key: sensitive(new Uint8Array(key)) });
}

function keyOfText(bytes: Uint8Array): Uint8Array | undefined {
  const text = textOfFile(bytes);
  if (!text.ok) return undefined;
  const trimmed = text.value.trim();
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return Buffer.from(trimmed, "hex");
  const decoded = bytesOfBase64(trimmed);
  return decoded.ok && decoded.value.length === KEY_BYTES ? decoded.value : undefined;
}

function readPassphrase(io: CommandIo, file: string): Result<SealSecret, string> {
  const bytes = readRegularFile(resolve(io.cwd, file), { bytes: MAX_SMALL_FILE, pipes: true });
  const text = bytes.ok ? textOfFile(bytes.value) : bytes;
  if (!text.ok) return err(`--passphrase-file: ${file} ${text.error}`);
  const made = newPassphrase(text.value.replace(/\r?\n$/, ""));
  return made.ok ? made : err(`--passphrase-file: ${file}: ${made.error}`);
}

function newPassphrase(text: string): Result<SealSecret, string> {
  if (Array.from(text).length < LEAST_CHARACTERS) return err(`the passphrase is shorter than ${LEAST_CHARACTERS} characters`);
  if (/[\r\n]/.test(text)) return err("the passphrase has several lines");
  return ok({ kind: "passphrase", passphrase: sensitive(text) });
}
