/**
 * JSON Web Tokens in their compact form: three segments separated by dots. Parsing and verification are two steps.
 */
import { Buffer } from "node:buffer";
import { bytesOfBase64Url, fromThrowing } from "#base";
import { isJsonObject, type JsonObject } from "#kube";
import type { SigningKey } from "#pki";

export type ReadToken = {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly signed: string;
  readonly signature: Uint8Array;
};

export function signToken(key: SigningKey, claims: JsonObject): string {
  const signed = `${encode({ alg: key.algorithm, kid: key.id })}.${encode(claims)}`;
  return `${signed}.${Buffer.from(key.sign(signed)).toString("base64url")}`;
}

/** `undefined`: not a JSON Web Token. The signature is not verified yet. Each segment has exactly one valid encoding. */
export function readToken(token: string): ReadToken | undefined {
  const [header = "", claims = "", signature = "", ...more] = token.split(".", 4);
  if (more.length > 0 || signature === "") return undefined;
  const [readHeader, readClaims, bytes] = [decode(header), decode(claims), bytesOfBase64Url(signature)];
  if (readHeader === undefined || readClaims === undefined || !bytes.ok) return undefined;
  return { header: readHeader, claims: readClaims, signed: `${header}.${claims}`, signature: bytes.value };
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(text: string): JsonObject | undefined {
  const bytes = bytesOfBase64Url(text);
  if (!bytes.ok) return undefined;
  const parsed = fromThrowing(
    () => JSON.parse(utf8.decode(bytes.value)) as unknown,
    () => undefined,
  );
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}
