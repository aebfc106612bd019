/** The continue token of a list: the revision of all pages, and the last key of the previous page. Base64 of JSON, as on a real server. */
import { Buffer } from "node:buffer";
import { err, ok, type Result } from "#base";
import { field, parseJson } from "#kube";
import { goJsonError } from "../protocol/go-json-error.ts";

export type Continue = { /** -1: the current revision. */ readonly revision: number; readonly after: string };

const VERSION = "meta.k8s.io/v1";

export function encodeContinue({ revision, after }: Continue): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: VERSION, rv: revision, start: `${after}\u0000` }));
  return btoa(String.fromCharCode(...bytes))
    .replace(/=+$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

export function decodeContinue(token: string): Result<Continue, string> {
  const invalidToken = (what: string) => err(`invalid continue token: continue key is not valid: ${what}`);
  const illegal = illegalByte(token);
  if (illegal !== undefined) return invalidToken(`illegal base64 data at input byte ${illegal}`);
  const text = Buffer.from(token, "base64url").toString("utf8");
  const parsed = parseJson(text);
  if (!parsed.ok) return invalidToken(goJsonError(Buffer.from(token, "base64url").toString("latin1")));
  const [version, revision, start] = ["v", "rv", "start"].map((name) => field(parsed.value, name)) as [unknown, unknown, unknown];
  if (version !== VERSION)
    return invalidToken(`server does not recognize this encoded version ${typeof version === "string" ? version : ""}`);
  if (typeof revision !== "number" || !Number.isInteger(revision) || revision === 0) {
    return invalidToken(`incorrect encoded start resourceVersion (version ${VERSION})`);
  }
  if (typeof start !== "string" || start === "") return invalidToken(`encoded start key empty (version ${VERSION})`);
  return ok({ revision, after: start.endsWith("\u0000") ? start.slice(0, -1) : start });
}

/** The position that Go reports for illegal base64 without padding. */
function illegalByte(token: string): number | undefined {
  const at = token.search(/[^A-Za-z0-9_-]/);
  if (at >= 0) return at;
  return token.length % 4 === 1 ? token.length - 1 : undefined;
}
