/**
 * One HTTPS request to the API server, with the raw response: stories check status codes, Warning headers and Status bodies,
 * which a client library would convert. Every request has its own connection, so that no connection is broken after a
 * restart of the server.
 */
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { expectOk, reveal, type Sensitive } from "#base";
import { parseJson, type Json } from "#kube";

export type HttpRequest = {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With the query string; starts with "/". */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
};

export type HttpResponse = {
  readonly code: number;
  /** The texts of Warning headers, without code and agent. */
  readonly warnings: readonly string[];
  readonly text: string;
  /** The body as JSON; throws when it is not JSON. */
  json(): Json;
};

export type Endpoint = { readonly url: string; readonly caPem: string; readonly token: Sensitive<string> };

const LIMIT_MS = 30_000;
const JSON_TYPE = "application/json";

export function send(
  endpoint: Endpoint,
  { method = "GET", path, body, contentType = JSON_TYPE, accept = JSON_TYPE }: HttpRequest,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, endpoint.url), {
      method,
      ca: endpoint.caPem,
      agent: false,
      signal: AbortSignal.timeout(LIMIT_MS),
      headers: {
        authorization: `Bearer ${reveal(endpoint.token)}`,
        accept,
        ...(body === undefined ? {} : { "content-type": contentType }),
      },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const code = incoming.statusCode ?? 0;
      const warnings = warningsOf(incoming.headersDistinct["warning"] ?? []);
      text(incoming).then((whole) => resolve({ code, warnings, text: whole, json: () => expectOk(parseJson(whole)) }), reject);
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** `299 - "unknown field \"spec.x\""`: RFC 9110 quoting, in which a text is always the last quoted string. */
function warningsOf(headers: readonly string[]): readonly string[] {
  return headers.map((header) => /"(.*)"$/s.exec(header)?.[1]?.replaceAll(/\\(.)/g, "$1") ?? header);
}
