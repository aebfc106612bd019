/**
 * A response of the cluster, as an interceptor gets it: a value, events, text, or a broken connection.
 *
 * Values are copies: stored objects are shared by all readers, and an interceptor may change its value.
 */
import { parseJson, type Json } from "#kube";
import { copyJson, type ApiBody, type ApiResponse } from "#kube-server";

/**
 * The response to an action.
 *
 * @example
 * cluster.intercept({ verb: "get", resource: "pods" }, async (_action, next) => {
 *   const answer = await next();
 *   return answer.kind === "json" ? { ...answer, warnings: ["old"] } : answer;
 * });
 */
export type ActionAnswer =
  | { readonly kind: "json"; readonly code: number; readonly body: Json; readonly warnings: readonly string[] }
  /** Discovery as YAML. */
  | { readonly kind: "text"; readonly code: number; readonly text: string }
  /** OpenAPI for Go clients. */
  | { readonly kind: "bytes"; readonly code: number; readonly bytes: Uint8Array }
  /** The log of a Pod; the response ends with the iteration. */
  | { readonly kind: "log"; readonly code: number; readonly chunks: AsyncIterable<Uint8Array> }
  /** An open watch. Each event is `{ type, object }`; the watch ends with the iteration. */
  | { readonly kind: "watch"; readonly events: AsyncIterable<Json> }
  /** No response: the connection breaks. */
  | { readonly kind: "broken" };

export function answerOf({ status, warnings, body }: ApiResponse): ActionAnswer {
  switch (body.kind) {
    case "json":
      return { kind: "json", code: status, body: copyJson(body.value), warnings };
    case "text":
      return { kind: "text", code: status, text: body.text };
    case "bytes":
      return { kind: "bytes", code: status, bytes: body.bytes };
    case "byte-stream":
      return { kind: "log", code: status, chunks: body.chunks };
    case "stream":
      return { kind: "watch", events: eventsIn(body.chunks) };
    case "none":
      return { kind: "text", code: status, text: "" };
    case "cut":
      return { kind: "broken" };
  }
}

export function responseOf(answer: ActionAnswer, headers: ApiResponse["headers"] = {}): ApiResponse {
  switch (answer.kind) {
    case "json":
      return {
        status: answer.code,
        headers: { ...headers, "content-type": "application/json", ...retryAfter(answer.body) },
        warnings: answer.warnings,
        body: { kind: "json", value: answer.body },
      };
    case "text":
      return {
        status: answer.code,
        headers: { "content-type": "text/plain; charset=utf-8", ...headers },
        warnings: [],
        body: { kind: "text", text: answer.text },
      };
    case "bytes":
      return { status: answer.code, headers, warnings: [], body: { kind: "bytes", bytes: answer.bytes } };
    case "log":
      return { status: answer.code, headers, warnings: [], body: { kind: "byte-stream", chunks: answer.chunks } };
    case "watch":
      return { status: 200, headers: { "content-type": "application/json" }, warnings: [], body: streamOf(answer.events) };
    case "broken":
      return { status: 500, headers: {}, warnings: [], body: { kind: "cut" } };
  }
}

/** A Status with retryAfterSeconds sets the Retry-After header, as a real server does. */
function retryAfter(body: Json): Readonly<Record<string, string>> {
  const details = isRecord(body) && body["kind"] === "Status" ? body["details"] : undefined;
  const seconds = isRecord(details) ? details["retryAfterSeconds"] : undefined;
  return typeof seconds === "number" ? { "retry-after": String(seconds) } : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function streamOf(events: AsyncIterable<Json>): ApiBody {
  return { kind: "stream", chunks: linesOf(events) };
}

async function* linesOf(events: AsyncIterable<Json>): AsyncGenerator<string, void> {
  for await (const event of events) yield `${JSON.stringify(event)}\n`;
}

/** A chunk has whole lines, as the server writes them. */
async function* eventsIn(chunks: AsyncIterable<string>): AsyncGenerator<Json, void> {
  for await (const chunk of chunks) {
    for (const line of chunk.split("\n")) {
      const event = parseJson(line);
      if (event.ok) yield event.value;
    }
  }
}
