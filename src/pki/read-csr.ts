/**
 * Reads a certificate signing request of an unauthenticated peer. The input is hostile: its size is checked before it is decoded, its
 * encoding must be DER throughout, and OpenSSL receives nothing but a point of a known curve and a signature.
 *
 * Requested names and extensions (CA:TRUE, other SANs) are not even part of the result, so that no caller can use them.
 */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { andThen, err, fromThrowing, ok, sha256Hex, type Result } from "#base";
import { CURVES, type KeyCurve, type CurveName } from "./curves.ts";
import * as der from "./der.ts";
import { readChildren, readElement, type DerElement } from "./der-reader.ts";
import type { PkiError } from "./key-pair.ts";

export type CsrContent = {
  readonly publicKey: KeyObject;
  readonly curve: CurveName;
  /** SHA-256 of the public key (SubjectPublicKeyInfo). */
  readonly keyHash: string;
  /** SHA-256 of the request as DER. */
  readonly digest: string;
};

export type CsrLimits = {
  /** Of the PEM text. */
  readonly maxBytes: number;
};

export const CSR_LIMITS: CsrLimits = { maxBytes: 16_384 };
/** The deepest element of a usual request is a value inside an extension: 8. */
const MAX_DEPTH = 16;

export function readCsr(pem: string, limits: CsrLimits = CSR_LIMITS): Result<CsrContent, PkiError> {
  if (pem.length > limits.maxBytes) return invalid(`the request is larger than ${limits.maxBytes} bytes`);
  return andThen(bytesOfPem(pem), (bytes) => {
    const parts = partsOf(bytes);
    if (!parts.ok) return invalid(parts.error);
    return andThen(publicKeyOf(parts.value.keyInfo), ({ publicKey, curve }) => {
      const { info, digest, signature } = parts.value;
      const signed = fromThrowing(
        () => verify(digest, info, { key: publicKey, dsaEncoding: "der" }, signature),
        () => "unreadable",
      );
      if (!signed.ok || !signed.value) return invalid("the request is not signed by its own key");
      return ok({ publicKey, curve: curve.name, keyHash: sha256Hex(parts.value.keyInfo), digest: sha256Hex(bytes) });
    });
  });
}

const PEM_BLOCK = /^\s*-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----\s*$/;

function bytesOfPem(pem: string): Result<Buffer, PkiError> {
  const body = PEM_BLOCK.exec(pem)?.[1]?.replaceAll(/[\r\n]/g, "");
  if (body === undefined) return invalid("the request is not one PEM block CERTIFICATE REQUEST");
  const bytes = Buffer.from(body, "base64");
  // Buffer.from skips what it cannot decode: only the canonical text encodes to itself
  return bytes.toString("base64") === body ? ok(bytes) : invalid("the request is not canonical base64");
}

type CsrParts = {
  /** CertificationRequestInfo: the signed bytes. */
  readonly info: Uint8Array;
  readonly keyInfo: Uint8Array;
  readonly digest: KeyCurve["digest"];
  readonly signature: Uint8Array;
};

const VERSION_0 = der.integer(0n);
const [SEQUENCE, BIT_STRING, ATTRIBUTES] = [0x30, 0x03, 0xa0];

function partsOf(bytes: Uint8Array): Result<CsrParts, string> {
  const outer = readElement(bytes);
  if (!outer.ok) return outer;
  if (outer.value.rest.byteLength > 0) return err("the request has trailing bytes");
  const parts = childrenOf(outer.value, [SEQUENCE, SEQUENCE, BIT_STRING]);
  if (!parts.ok) return parts;
  const [info, algorithm, signature] = parts.value;
  if (info === undefined || algorithm === undefined || signature === undefined) return err("the request is incomplete");
  const fields = childrenOf(info, [VERSION_0[0] ?? 0, SEQUENCE, SEQUENCE, ATTRIBUTES]);
  if (!fields.ok) return fields;
  const [version, subject, keyInfo, attributes] = fields.value;
  if (version === undefined || subject === undefined || keyInfo === undefined || attributes === undefined) {
    return err("the request is incomplete");
  }
  if (!VERSION_0.equals(version.whole)) return err("the version of the request is not 1");
  const nested = [subject, attributes].map((part) => nestingFault(part.content, 2)).find((fault) => fault !== undefined);
  if (nested !== undefined) return err(nested);
  const curve = CURVES.find(({ signatureOid }) => der.sequence(der.oid(signatureOid)).equals(algorithm.whole));
  if (curve === undefined) return err("the request is not signed with ECDSA and SHA-256 or SHA-384");
  if (signature.content[0] !== 0) return err("the signature is not a whole number of bytes");
  return ok({ info: info.whole, keyInfo: keyInfo.whole, digest: curve.digest, signature: signature.content.subarray(1) });
}

/** The children of an element, which must have exactly these tags. */
function childrenOf(parent: DerElement, tags: readonly number[]): Result<readonly DerElement[], string> {
  return andThen(readChildren(parent.content, tags.length), (children) => {
    const fits = parent.tag === SEQUENCE && children.length === tags.length && children.every(({ tag }, at) => tag === tags[at]);
    return fits ? ok(children) : err("the request does not have the structure of PKCS #10");
  });
}

/** The first error in the encoding of nested elements: parts that are ignored must be DER too. */
function nestingFault(content: Uint8Array, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return "the request is nested too deeply";
  const children = readChildren(content);
  if (!children.ok) return children.error;
  for (const child of children.value) {
    const fault = (child.tag & 0x20) === 0 ? undefined : nestingFault(child.content, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function publicKeyOf(keyInfo: Uint8Array): Result<{ publicKey: KeyObject; curve: KeyCurve }, PkiError> {
  const bytes = Buffer.from(keyInfo);
  const curve = CURVES.find(
    ({ keyInfoPrefix, pointBytes }) =>
      bytes.byteLength === keyInfoPrefix.byteLength + pointBytes && bytes.subarray(0, keyInfoPrefix.byteLength).equals(keyInfoPrefix),
  );
  if (curve === undefined) return invalid("the key of the request is not an ECDSA P-256 or P-384 key");
  const key = fromThrowing(
    () => createPublicKey({ key: bytes, format: "der", type: "spki" }),
    () => "unreadable",
  );
  // compressed and hybrid points of the right length have other first bytes; points beside the curve are rejected by OpenSSL
  if (!key.ok || bytes[curve.keyInfoPrefix.byteLength] !== 4) return invalid("the key of the request is not a point of its curve");
  return ok({ publicKey: key.value, curve });
}

function invalid(message: string): Result<never, PkiError> {
  return err({ kind: "invalid-csr", message });
}
