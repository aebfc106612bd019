/**
 * What comes in and what goes out, whichever way it travels: a socket, or a function call in this process.
 *
 * A body may come as text, bytes, or already as a value: callers in this process need not print JSON only to have it read again.
 */
import { memoize } from "#base";
import type { Json } from "#kube";

export type User = {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra?: ReadonlyMap<string, readonly string[]> | undefined;
};

export type ApiRequest = {
  readonly method: string;
  /** Without the query; still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Headers that came several times, each value by itself; in `headers` they are one text. */
  readonly repeated?: ReadonlyMap<string, readonly string[]> | undefined;
  readonly body?: string | Uint8Array | { readonly value: Json } | undefined;
  readonly user: User;
};

/** Parts of an answer that comes bit by bit. `end` of the iteration closes the answer. */
export type EventStream = AsyncIterable<string> & {
  /** The listener is called when a part that was handed out must not wait for the client any longer: the connection is to be cut. */
  readonly whenDropped?: (listener: () => void) => void;
};

export type ApiBody =
  /** `texts`: the whole body in pieces, made one after the other. */
  | { readonly kind: "json"; readonly value: unknown; readonly pretty?: boolean; readonly texts?: (() => Iterable<string>) | undefined }
  | { readonly kind: "text"; readonly text: string; readonly texts?: (() => Iterable<string>) | undefined }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "stream"; readonly chunks: EventStream }
  | { readonly kind: "none" }
  /** No answer: the connection breaks off. The server never does this by itself; tests of clients ask for it. */
  | { readonly kind: "cut" };

export type ApiResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Texts of `Warning: 299 - "…"` headers: there may be several, so they are no entry of `headers`. */
  readonly warnings: readonly string[];
  readonly body: ApiBody;
};

export function header(request: ApiRequest, name: string): string {
  return request.headers[name] ?? "";
}

export const NO_QUERY = new URLSearchParams();

/** Clients send the same few queries again and again. The parsed query is shared, and is never changed. */
export const readQuery = memoize({ limit: 200, longestKey: 400 }, (text: string) => new URLSearchParams(text));

/** A parameter of the query. Most requests have none, and to find that out from the whole query takes its time. */
export function parameter({ query }: ApiRequest, name: string): string | null {
  return query.size === 0 ? null : query.get(name);
}

const UTF8 = new TextDecoder();

export function bodyText(request: ApiRequest): string {
  const { body } = request;
  if (body === undefined) return "";
  if (typeof body === "string") return wholeCharacters(body.toWellFormed());
  return wholeCharacters(body instanceof Uint8Array ? UTF8.decode(body) : JSON.stringify(body.value));
}

/** An escape: of a whole pair, of half of one, or any other. */
const ESCAPES = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|[^])/g;
const HALF = "\\uxxxx".length;

/** Half of a character that is written as an escape is U+FFFD to a Go server. JavaScript would keep the half, and no UTF-8 could say it. */
function wholeCharacters(text: string): string {
  if (!text.includes("\\ud") && !text.includes("\\uD")) return text;
  return text.replaceAll(ESCAPES, (escape) => (escape.length === HALF ? "\\ufffd" : escape));
}

export function textAnswer(status: number, text: string): ApiResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status, headers, warnings: [], body: { kind: "text", text } };
}

export function jsonAnswer(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, warnings: [], body: { kind: "json", value } };
}
