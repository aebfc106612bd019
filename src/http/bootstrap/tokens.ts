/**
 * Tokens of a child: `<cluster>.<32 random bytes as base64url>`. The name selects the record, and the SHA-256 of the whole text is compared
 * with it in constant time.
 *
 * The CSR token is derived from the bootstrap token with HMAC. The cell keeps neither, and yet it can send the same CSR token again when the
 * answer to a registration was lost.
 */
import { Buffer } from "node:buffer";
import { equalInConstantTime, hmacSha256Hex, reveal, sensitive, sha256Hex, type Sensitive } from "#base";
import { parseDnsLabel } from "#kube";

const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CSR_PURPOSE = "lattice csr token 1";
/** Longer than every token: a longer header is not read. */
const MAX_TOKEN = 128;

export type RandomBytes = (count: number) => Uint8Array;

export function createToken(cluster: string, randomBytes: RandomBytes): Sensitive<string> {
  return sensitive(`${cluster}.${Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url")}`);
}

export function csrTokenOf(cluster: string, bootstrapToken: Sensitive<string>): Sensitive<string> {
  const digest = hmacSha256Hex(reveal(bootstrapToken), CSR_PURPOSE);
  return sensitive(`${cluster}.${Buffer.from(digest, "hex").toString("base64url")}`);
}

export function hashOfToken(token: Sensitive<string>): string {
  return sha256Hex(reveal(token));
}

/** The cluster that a token names; undefined when the text has not the form of a token. */
export function clusterOfToken(token: Sensitive<string>): string | undefined {
  const text = reveal(token);
  const dot = text.indexOf(".");
  if (text.length > MAX_TOKEN || dot < 0 || !/^[A-Za-z0-9_-]+$/.test(text.slice(dot + 1))) return undefined;
  const cluster = text.slice(0, dot);
  return text.length - dot - 1 === SECRET_LENGTH && parseDnsLabel(cluster).ok ? cluster : undefined;
}

/** No token has this hash: tokens of unknown clusters are compared with it, so that they take as long as those of known ones. */
const NO_TOKEN = "0".repeat(64);

export function isToken(token: Sensitive<string>, hash: string | undefined): boolean {
  const isEqual = equalInConstantTime(hashOfToken(token), hash ?? NO_TOKEN);
  return isEqual && hash !== undefined;
}

/** The token of exactly one `Authorization: Bearer` header. `rawHeaders` has names and values in turn, and duplicates. */
export function bearerToken(rawHeaders: readonly string[]): Sensitive<string> | undefined {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === "authorization");
  const [value = ""] = values;
  const found = value.length <= MAX_TOKEN + 16 ? /^Bearer ([A-Za-z0-9._-]+)$/i.exec(value)?.[1] : undefined;
  return values.length === 1 && found !== undefined ? sensitive(found) : undefined;
}
