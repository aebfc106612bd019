/**
 * Requests and responses, both for sockets and for function calls in this process.
 *
 * A body is text, bytes, or a parsed value: callers in this process need not serialize JSON.
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
  /** Repeated headers with their separate values; in `headers` the values are joined. */
  readonly repeated?: ReadonlyMap<string, readonly string[]> | undefined;
  readonly body?: string | Uint8Array | { readonly value: Json } | undefined;
  readonly user: User;
};

/** The parts of a streamed response. The end of the iteration closes the response. */
export type EventStream = AsyncIterable<string> & {
  /** The listener is called when the client is too slow for a part that was already yielded: the connection must be closed. */
  readonly whenDropped?: (listener: () => void) => void;
};

export type ApiBody =
  /** `texts`: the whole body in parts, which are created one after the other. */
  | { readonly kind: "json"; readonly value: unknown; readonly pretty?: boolean; readonly texts?: (() => Iterable<string>) | undefined }
  | { readonly kind: "text"; readonly text: string; readonly texts?: (() => Iterable<string>) | undefined }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "stream"; readonly chunks: EventStream }
  /** A log. The end of the iteration closes the response. */
  | { readonly kind: "byte-stream"; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly kind: "none" }
  /** No response: the connection is closed. Used only by tests of clients. */
  | { readonly kind: "cut" };

export type ApiResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Texts of `Warning: 299 - "…"` headers. Not in `headers`, because there may be several. */
  readonly warnings: readonly string[];
  readonly body: ApiBody;
};

export function header(request: ApiRequest, name: string): string {
  return request.headers[name] ?? "";
}

export const NO_QUERY = new URLSearchParams();

/** Cached, because clients repeat a few queries. The parsed query is shared and must not be changed. */
export const readQuery = memoize({ limit: 200, longestKey: 400 }, (text: string) => new URLSearchParams(text));

/** A parameter of the query. `size` is checked first, because most requests have no query and `get` is slower. */
export function parameter({ query }: ApiRequest, name: string): string | null {
  return query.size === 0 ? null : query.get(name);
}

const UTF8 = new TextDecoder();

export function bodyText(request: ApiRequest): string {
  const { body } = request;
  if (body === undefined) return "";
  if (typeof body === "string") return replaceLoneSurrogates(body.toWellFormed());
  return replaceLoneSurrogates(body instanceof Uint8Array ? UTF8.decode(body) : JSON.stringify(body.value));
}

/** An escape: of a surrogate pair, of a lone surrogate, or any other. */
const ESCAPES = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|[^])/g;
const LONE_LENGTH = "\\uxxxx".length;

/** Go decodes an escaped lone surrogate as U+FFFD. JavaScript would keep it, and UTF-8 cannot encode it. */
function replaceLoneSurrogates(text: string): string {
  if (!text.includes("\\ud") && !text.includes("\\uD")) return text;
  return text.replaceAll(ESCAPES, (escape) => (escape.length === LONE_LENGTH ? "\\ufffd" : escape));
}

export function textResponse(status: number, text: string): ApiResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status, headers, warnings: [], body: { kind: "text", text } };
}

export function jsonResponse(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): ApiResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, warnings: [], body: { kind: "json", value } };
}
