/**
 * URLs and mail addresses as Go's net/url and net/mail parse them, which differs from browsers.
 *
 * Mail addresses cover the common forms (a name, quotes, a domain or an address in brackets), not every form of RFC 5322.
 */
import { err, ok, type Result } from "#base";
import { goQuote } from "#kube";

export type GoUrl = {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  readonly host: string;
  /** As written, still escaped. */
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
};

export function isRequestUri(text: string): boolean {
  return parseUrl(text, "request").ok;
}

/** "request": an absolute URI or an absolute path, and "#" is an ordinary character. */
export function parseUrl(text: string, mode: "request" | "any"): Result<GoUrl, string> {
  const hash = mode === "any" ? text.indexOf("#") : -1;
  const parsed = parseParts(hash < 0 ? text : text.slice(0, hash), mode);
  const fragment = hash < 0 ? "" : text.slice(hash + 1);
  if (!parsed.ok) return err(`parse ${goQuote(text)}: ${parsed.error}`);
  const problem = badEscape(fragment);
  return problem === undefined ? ok({ ...parsed.value, fragment }) : err(`parse ${goQuote(text)}: ${problem}`);
}

function parseParts(text: string, mode: "request" | "any"): Result<Omit<GoUrl, "fragment">, string> {
  if (Array.from(text).some((character) => character < " " || character === "\u007f"))
    return err("net/url: invalid control character in URL");
  if (text === "" && mode === "request") return err("empty url");
  const empty = { scheme: "", opaque: "", user: undefined, host: "", path: "", query: "" };
  if (text === "*") return ok({ ...empty, path: "*" });
  const schemed = schemeOf(text);
  if (!schemed.ok) return schemed;
  const { scheme } = schemed.value;
  const question = schemed.value.rest.indexOf("?");
  const rest = question < 0 ? schemed.value.rest : schemed.value.rest.slice(0, question);
  const query = question < 0 ? "" : schemed.value.rest.slice(question + 1);
  if (!rest.startsWith("/")) {
    if (scheme !== "") return ok({ ...empty, scheme, opaque: rest, query });
    if (mode === "request") return err("invalid URI for request");
    if ((rest.split("/")[0] ?? "").includes(":")) return err("first path segment in URL cannot contain colon");
  }
  if (!rest.startsWith("//") || (scheme === "" && (mode === "request" || rest.startsWith("///"))))
    return withPath({ ...empty, scheme, query }, rest);
  const slash = rest.indexOf("/", 2);
  const authority = parseAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash));
  return authority.ok ? withPath({ ...empty, scheme, query, ...authority.value }, slash < 0 ? "" : rest.slice(slash)) : authority;
}

function withPath(url: Omit<GoUrl, "fragment">, path: string): Result<Omit<GoUrl, "fragment">, string> {
  const problem = badEscape(path);
  return problem === undefined ? ok({ ...url, path }) : err(problem);
}

function schemeOf(text: string): Result<{ readonly scheme: string; readonly rest: string }, string> {
  if (text.startsWith(":")) return err("missing protocol scheme");
  const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
  const [all = "", scheme = ""] = match ?? [];
  return ok({ scheme: scheme.toLowerCase(), rest: text.slice(all.length) });
}

function parseAuthority(text: string): Result<Pick<GoUrl, "user" | "host">, string> {
  const at = text.lastIndexOf("@");
  const user = at < 0 ? undefined : text.slice(0, at);
  if (user !== undefined && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return err("net/url: invalid userinfo");
  const host = text.slice(at + 1);
  const problem = hostProblem(host);
  return problem === undefined ? ok({ user, host: unescape(host) }) : err(problem);
}

function hostProblem(host: string): string | undefined {
  const bracket = host.lastIndexOf("]");
  if (host.startsWith("[") && bracket < 0) return "missing ']' in host";
  const port = host.startsWith("[") ? host.slice(bracket + 1) : host.includes(":") ? host.slice(host.lastIndexOf(":")) : "";
  if (port !== "" && !/^:\d*$/.test(port)) return `invalid port ${goQuote(port)} after host`;
  const bad = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.exec(host)?.[0];
  if (bad !== undefined) return `invalid character ${goQuote(bad)} in host name`;
  return badEscape(host);
}

function badEscape(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${goQuote(bad)}`;
}

/** Decodes percent escapes; bytes that are no UTF-8 become U+FFFD. */
export function unescape(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (escapes) =>
    new TextDecoder().decode(Uint8Array.from(escapes.slice(1).split("%"), (byte) => Number.parseInt(byte, 16))),
  );
}

const ATOM = '[^\\s()<>[\\]:;@\\\\,."\\u0000-\\u001f\\u007f]+';
const LOCAL = `(?:${ATOM}(?:\\.${ATOM})*|"(?:[^"\\\\\\r\\n]|\\\\.)*")`;
const DOMAIN = `(?:${ATOM}(?:\\.${ATOM})*|\\[[0-9A-Fa-f:.]+\\])`;
const PLAIN_ADDRESS = new RegExp(`^\\s*${LOCAL}@${DOMAIN}\\s*$`, "u");
const NAMED_ADDRESS = new RegExp(`^[^<>@,;:]*<${LOCAL}@${DOMAIN}>\\s*$`, "u");

export function isEmail(text: string): boolean {
  return text.length <= 10_000 && (PLAIN_ADDRESS.test(text) || NAMED_ADDRESS.test(text));
}
