/** What a person wants to see of a certificate: `lattice certs` and its JSON. No key material. */
import { map, sha256Hex, type Result } from "#base";
import { uriNamesOf } from "./certificate-fields.ts";
import { curveOf, type CurveName } from "./curves.ts";
import { readCertificate, type PkiError } from "./key-pair.ts";
import { publicKeyInfo } from "./x509.ts";

export type CertificateSummary = {
  /** In one line: "O=lattice, CN=east". */
  readonly subject: string;
  readonly issuer: string;
  /** Upper-case hexadecimal. */
  readonly serial: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly authority: boolean;
  /** Undefined: another kind of key. */
  readonly curve: CurveName | undefined;
  /** As OpenSSL prints them, without their types; URIs not included. */
  readonly names: readonly string[];
  readonly uriNames: readonly string[];
  /** SHA-256 of the public key. */
  readonly keyHash: string;
};

/** Of the first certificate in the text. */
export function certificateSummary(pem: string): Result<CertificateSummary, PkiError> {
  return map(readCertificate(pem), (certificate) => {
    const uris = uriNamesOf(certificate.raw);
    const listed = (certificate.subjectAltName ?? "").split(", ").filter((name) => name !== "" && !name.startsWith("URI:"));
    return {
      subject: oneLine(certificate.subject),
      issuer: oneLine(certificate.issuer),
      serial: certificate.serialNumber,
      notBefore: certificate.validFromDate,
      notAfter: certificate.validToDate,
      authority: certificate.ca,
      curve: curveOf(certificate.publicKey)?.name,
      names: listed.map((name) => name.slice(name.indexOf(":") + 1)),
      uriNames: uris.ok ? uris.value : [],
      keyHash: sha256Hex(publicKeyInfo(certificate.publicKey)),
    };
  });
}

function oneLine(name: string): string {
  return name.split("\n").join(", ");
}
