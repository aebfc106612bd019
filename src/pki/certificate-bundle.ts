/** Bundles: several certificates in one PEM text. */
import { X509Certificate } from "node:crypto";
import { andThen, err, fromThrowing, ok, type Result } from "#base";
import type { PkiError } from "./key-pair.ts";

const [BEGIN, END] = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"];
const MAX_CERTIFICATES = 1_000;

/** The certificates of both bundles in their order, each once, without those that have expired at `now`. An empty bundle is valid. */
export function combineBundles(first: string, second: string, now: number): Result<string, PkiError> {
  return andThen(readBundle(first), (one) =>
    andThen(readBundle(second), (other) => {
      const valid = [...one, ...other].filter(({ validToDate }) => validToDate.getTime() > now);
      return ok([...new Set(valid.map((certificate) => certificate.toString()))].join(""));
    }),
  );
}

/** Whether every certificate of `part` is in the bundle. A bundle that is not readable includes none. */
export function bundleIncludes(bundle: string, part: string): boolean {
  const [whole, wanted] = [readBundle(bundle), readBundle(part)];
  if (!whole.ok || !wanted.ok) return false;
  const present = new Set(whole.value.map(({ fingerprint256 }) => fingerprint256));
  return wanted.value.every(({ fingerprint256 }) => present.has(fingerprint256));
}

/** Whether an authority of the bundle has signed the certificate. A bundle that is not readable has none. */
export function bundleHasIssuer(bundle: string, certificate: X509Certificate): boolean {
  const read = readBundle(bundle);
  const authorities = read.ok ? read.value : [];
  return authorities.some((authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey));
}

function readBundle(text: string): Result<readonly X509Certificate[], PkiError> {
  const certificates: X509Certificate[] = [];
  for (let begin = text.indexOf(BEGIN); begin >= 0; begin = text.indexOf(BEGIN, begin)) {
    if (certificates.length >= MAX_CERTIFICATES) return invalid(`the bundle has more than ${MAX_CERTIFICATES} certificates`);
    const end = text.indexOf(END, begin) + END.length;
    // without an end, the text is not readable either
    const block = text.slice(begin, end);
    const parsed = fromThrowing(
      () => new X509Certificate(block),
      () => `certificate ${certificates.length + 1} of the bundle is not readable PEM`,
    );
    if (!parsed.ok) return invalid(parsed.error);
    certificates.push(parsed.value);
    begin = end;
  }
  return certificates.length === 0 && text.trim() !== "" ? invalid("the bundle has no certificate") : ok(certificates);
}

function invalid(message: string): Result<never, PkiError> {
  return err({ kind: "invalid-certificate", message });
}
