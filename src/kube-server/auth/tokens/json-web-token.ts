/**
 * JSON Web Tokens in their compact form: three texts with dots between them. Reading one and believing it are two steps.
 */
import { Buffer } from "node:buffer";
import { fromThrowing } from "#base";
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

/** `undefined`: it is no such token. Nothing is said yet about who made it. */
export function readToken(token: string): ReadToken | undefined {
  const [header = "", claims = "", signature = "", ...more] = token.split(".");
  if (more.length > 0 || header === "" || claims === "" || signature === "") return undefined;
  const [readHeader, readClaims] = [decode(header), decode(claims)];
  if (readHeader === undefined || readClaims === undefined) return undefined;
  return { header: readHeader, claims: readClaims, signed: `${header}.${claims}`, signature: Buffer.from(signature, "base64url") };
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;

function decode(text: string): JsonObject | undefined {
  if (!BASE64URL.test(text)) return undefined;
  const parsed = fromThrowing(
    () => JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown,
    () => undefined,
  );
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}
