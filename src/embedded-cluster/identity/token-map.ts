/** The tokens of a cluster's users in the data folder: a JSON object from user name to token. Users that are no longer given keep theirs. */
import { randomBytes } from "node:crypto";
import { andThen, err, map, ok, type Result } from "#base";
import { isJsonObject, parseJson } from "#kube";
import { IDENTITY_FILES, identityFile } from "./identity-file.ts";

/** What an HTTP header can carry. Shorter ones can be guessed. */
const TOKEN = /^[!-~]{16,1024}$/;
const REMEDY = "restore it from a copy, or delete it to create new tokens; kubeconfigs that were issued before then stop working";

export function createToken(): string {
  return randomBytes(24).toString("base64url");
}

/** The token of every user; missing ones are created. */
export function openTokens(folder: string, users: readonly string[]): Result<ReadonlyMap<string, string>, string> {
  const file = identityFile(folder, IDENTITY_FILES.tokens);
  return andThen(file.read(), (text) => {
    const parsed = text === undefined ? new Map<string, string>() : parseTokens(text);
    if (typeof parsed === "string") return err(`${file.path}: ${parsed}; ${REMEDY}`);
    const missing = users.filter((user) => !parsed.has(user));
    if (missing.length === 0) return ok(parsed);
    const all = new Map([...parsed, ...missing.map((user) => [user, createToken()] as const)]);
    return map(file.write(`${JSON.stringify(Object.fromEntries(all), null, 2)}\n`), () => all);
  });
}

/** A text: what is wrong, without any part of a token. */
function parseTokens(text: string): Map<string, string> | string {
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return "must be a JSON object of user names and tokens";
  const tokens = new Map<string, string>();
  for (const [user, token] of Object.entries(parsed.value)) {
    if (typeof token !== "string" || !TOKEN.test(token)) {
      return `the token of user ${JSON.stringify(user)} must be a text of 16 to 1024 printable characters without spaces`;
    }
    tokens.set(user, token);
  }
  return new Set(tokens.values()).size === tokens.size ? tokens : "two users have the same token";
}
