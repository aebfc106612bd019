/** The token between two pages of a list: the revision all pages show, and the key after which the next begins. Base64 of JSON, as the real one. */
import { err, fromThrowing, ok, type Result } from "#base";
import { field, parseJson } from "#kube";

export type Continue = { /** -1: whatever is current. */ readonly revision: number; readonly after: string };

const VERSION = "meta.k8s.io/v1";

export function encodeContinue({ revision, after }: Continue): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: VERSION, rv: revision, start: `${after}\u0000` }));
  return btoa(String.fromCharCode(...bytes))
    .replace(/=+$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

export function decodeContinue(token: string): Result<Continue, string> {
  const bytes = fromThrowing(
    () => atob(token.replaceAll("-", "+").replaceAll("_", "/")),
    () => "continue key is not valid: illegal base64 data",
  );
  if (!bytes.ok) return err(`invalid continue token: ${bytes.error}`);
  const parsed = parseJson(new TextDecoder().decode(Uint8Array.from(bytes.value, (byte) => byte.charCodeAt(0))));
  if (!parsed.ok)
    return err(
      `invalid continue token: continue key is not valid: invalid character ${quoteFirst(bytes.value)} looking for beginning of value`,
    );
  const revision = field(parsed.value, "rv");
  const start = field(parsed.value, "start");
  if (field(parsed.value, "v") !== VERSION)
    return err("invalid continue token: continue key is not valid: server does not recognize this encoded version");
  if (typeof revision !== "number" || !Number.isInteger(revision) || revision === 0 || typeof start !== "string") {
    return err("invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  return ok({ revision, after: start.endsWith("\u0000") ? start.slice(0, -1) : start });
}

/** Go takes a byte for a character here, and shows those that have no picture by their number. */
function quoteFirst(bytes: string): string {
  const first = bytes.trimStart()[0] ?? "";
  const shown = /[\u007f-\u00a0\u00ad]/.test(first)
    ? `\\u${first.charCodeAt(0).toString(16).padStart(4, "0")}`
    : JSON.stringify(first).slice(1, -1);
  return `'${shown}'`;
}
