/** Parts of a certificate that `X509Certificate` does not offer as bytes: its subject, and its URI names. */
import { andThen, err, ok, type Result } from "#base";
import * as der from "./der.ts";
import { readChildren, readElement, type DerElement } from "./der-reader.ts";

const SUBJECT_ALT_NAME = der.oid("2.5.29.17");
const [EXTENSIONS, URI_NAME] = [0xa3, 0x86];

/** The subject as DER. TBSCertificate is version, serial, algorithm, issuer, validity, subject. */
export function subjectOf(raw: Uint8Array): Result<Uint8Array, string> {
  return andThen(tbsFields(raw), (fields) => {
    const subject = fields[5];
    return subject === undefined ? err("the certificate has no subject") : ok(subject.whole);
  });
}

/** All URI names, in their order. */
export function uriNamesOf(raw: Uint8Array): Result<readonly string[], string> {
  return andThen(tbsFields(raw), (fields) => {
    const wrapper = fields.find(({ tag }) => tag === EXTENSIONS);
    if (wrapper === undefined) return ok([]);
    const extensions = andThen(readElement(wrapper.content), ({ content }) => readChildren(content));
    if (!extensions.ok) return extensions;
    const names = extensions.value.map((extension) => readChildren(extension.content)).find((parts) => parts.ok && isAltName(parts.value));
    const value = names?.ok === true ? names.value.at(-1) : undefined;
    if (value === undefined) return ok([]);
    const listed = andThen(readElement(value.content), ({ content }) => readChildren(content));
    if (!listed.ok) return listed;
    return ok(listed.value.filter(({ tag }) => tag === URI_NAME).map(({ content }) => Buffer.from(content).toString("latin1")));
  });
}

function isAltName(parts: readonly DerElement[]): boolean {
  return parts[0] !== undefined && SUBJECT_ALT_NAME.equals(parts[0].whole);
}

function tbsFields(raw: Uint8Array): Result<readonly DerElement[], string> {
  return andThen(readElement(raw), (certificate) => andThen(readElement(certificate.content), (signed) => readChildren(signed.content)));
}
