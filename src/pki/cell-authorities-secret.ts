/**
 * The data of Secret `lattice-cell-ca`, and of others with authorities: for each authority a certificate and a key, the cell's name, and the time of the last retirement.
 *
 * Values are base64, as in `data` of a Secret. The result of `authoritiesToSecret` is Sensitive: it contains the keys of the cell.
 */
import { andThen, base64OfText, bytesOfBase64, err, mapErr, ok, reveal, sensitive, textOfBytes, type Result, type Sensitive } from "#base";
import type { CellAuthorities } from "./cell-authorities.ts";
import { loadCertificateAuthority, type CertificateAuthority } from "./certificate.ts";
import type { PkiError } from "./key-pair.ts";

type SecretData = Readonly<Record<string, string>>;

export function authoritiesToSecret({ cell, current, successor, previous }: CellAuthorities): Sensitive<SecretData> {
  const texts: [string, string][] = [["cell", cell], ...pairTexts("current", current)];
  if (successor !== undefined) texts.push(...pairTexts("successor", successor));
  if (previous !== undefined) texts.push(...pairTexts("previous", previous), ["previous.retired", String(previous.retired)]);
  return sensitive(Object.fromEntries(texts.map(([key, text]) => [key, base64OfText(text)])));
}

function pairTexts(name: string, { certificate, key }: CertificateAuthority): [string, string][] {
  return [
    [`${name}.crt`, certificate],
    [`${name}.key`, reveal(key)],
  ];
}

/** An error names the key of the Secret that is wrong, never a value. */
export function authoritiesFromSecret(data: SecretData, secret = "lattice-cell-ca"): Result<CellAuthorities, PkiError> {
  return mapErr(readAuthorities(data), ({ kind, message }) => ({ kind, message: `Secret ${secret}, ${message}` }));
}

function readAuthorities(data: SecretData): Result<CellAuthorities, PkiError> {
  const texts = decode(data);
  if (!texts.ok) return texts;
  const cell = texts.value.get("cell");
  if (cell === undefined) return missing("cell");
  const current = readAuthority(texts.value, "current");
  if (!current.ok) return current;
  if (current.value === undefined) return missing("current.crt");
  const successor = readAuthority(texts.value, "successor");
  if (!successor.ok) return successor;
  const previous = readAuthority(texts.value, "previous");
  if (!previous.ok) return previous;
  const authorities = { cell, current: current.value, ...(successor.value === undefined ? {} : { successor: successor.value }) };
  if (previous.value === undefined) return ok(authorities);
  const retired = Number(texts.value.get("previous.retired") ?? "");
  if (!Number.isSafeInteger(retired) || retired <= 0) return invalid("previous.retired: must be milliseconds since 1970");
  return ok({ ...authorities, previous: { ...previous.value, retired } });
}

function decode(data: SecretData): Result<ReadonlyMap<string, string>, PkiError> {
  const texts = new Map<string, string>();
  for (const [key, value] of Object.entries(data)) {
    const text = andThen(bytesOfBase64(value), textOfBytes);
    if (!text.ok) return invalid(`${key}: is not text in base64`);
    texts.set(key, text.value);
  }
  return ok(texts);
}

function readAuthority(texts: ReadonlyMap<string, string>, name: string): Result<CertificateAuthority | undefined, PkiError> {
  const [certificate, key] = [texts.get(`${name}.crt`), texts.get(`${name}.key`)];
  if (certificate === undefined && key === undefined) return ok(undefined);
  if (certificate === undefined || key === undefined) return missing(certificate === undefined ? `${name}.crt` : `${name}.key`);
  const loaded = loadCertificateAuthority({ certificate, key: sensitive(key) }, "P-384");
  return loaded.ok ? loaded : err({ kind: loaded.error.kind, message: `${name}: ${loaded.error.message}` });
}

function missing(key: string): Result<never, PkiError> {
  return invalid(`${key}: is missing`);
}

function invalid(message: string): Result<never, PkiError> {
  return err({ kind: "invalid-request", message });
}
