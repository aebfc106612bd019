/** One HTTP exchange: read the request within its limits, ask the server, write the answer as it comes. HTTP/1.1 and HTTP/2 look alike here. */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { describeThrown, type Clock, type Logger } from "#base";
import type { ApiServer } from "../rest/api-server.ts";
import type { ApiRequest, ApiResponse, EventStream, User } from "../rest/request.ts";
import { answerFailure } from "../rest/respond.ts";
import { failure, tooLarge, unauthorized } from "../rest/status.ts";
import { senderOf, type Credentials } from "./credentials.ts";
import type { Limits } from "./limits.ts";

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

export type Exchange = Credentials & {
  readonly server: ApiServer;
  readonly logger: Logger;
};

const NOBODY: User = { name: "", uid: "", groups: [] };

export async function answerHttp(
  request: HttpRequest,
  response: HttpResponse,
  exchange: Exchange & { readonly limits: Limits },
): Promise<void> {
  const gone = new AbortController();
  // an answer that was given to its end leaves nobody to be told, and an abort costs more than most requests
  response.on("close", () => response.writableEnded || gone.abort());
  response.on("error", () => gone.abort());
  try {
    const answered = await answerOf(request, exchange, gone.signal);
    await write(response, answered, request.method === "HEAD", gone.signal);
  } catch (thrown) {
    // the client went away in the middle of its own request; one that was read to its end is "destroyed", too, and wants its answer
    if (gone.signal.aborted || (request.destroyed && !request.complete)) return;
    exchange.logger.error("a request could not be answered", { error: describeThrown(thrown), path: pathOf(request) });
    if (response.headersSent) response.end();
    else await write(response, answerFailure(requestOf(request, NOBODY), brokenAnswer()), false, gone.signal);
  }
}

function brokenAnswer() {
  const message = "Internal error occurred: the request could not be answered";
  return failure({ code: 500, reason: "InternalError", message, details: { causes: [{ message: "the request could not be answered" }] } });
}

function pathOf(request: HttpRequest): string {
  return (request.url ?? "/").split("?")[0] ?? "/";
}

type Limited = Exchange & { readonly limits: Limits };

async function answerOf(request: HttpRequest, exchange: Limited, signal: AbortSignal): Promise<ApiResponse> {
  const sender = senderOf(request, exchange);
  if (!sender.ok) {
    request.resume();
    return answerFailure(requestOf(request, NOBODY), unauthorized());
  }
  const { user, warnings } = sender.value;
  const answered = await answerTo(request, requestOf(request, user), { ...exchange, signal });
  return warnings.length === 0 ? answered : { ...answered, warnings: [...warnings, ...answered.warnings] };
}

type Asked = Limited & { readonly signal: AbortSignal };

/** Who may not ask is told so before his body is read. */
async function answerTo(request: HttpRequest, asked: ApiRequest, { server, clock, limits, signal }: Asked): Promise<ApiResponse> {
  if (BODILESS.has(asked.method)) return server.handle(asked, signal);
  const entered = server.letIn?.(asked);
  if (entered?.ok === false) {
    drainBriefly(request, clock, limits);
    return entered.error;
  }
  const body = await readInTime(request, clock, limits);
  if (body === "too large") {
    drainBriefly(request, clock, limits);
    return answerFailure(asked, tooLarge(`limit is ${limits.bodyBytes}`).error);
  }
  return server.handle(body.byteLength === 0 ? asked : { ...asked, body }, signal);
}

/** A body that comes drop by drop holds a connection for nothing. Of HTTP/1.1 node:http looks after that itself (`requestTimeout`). */
function readInTime(request: HttpRequest, clock: Clock, limits: Limits): Promise<Uint8Array | "too large"> {
  if (!("stream" in request)) return readBody(request, limits);
  return readBody(request, limits).finally(clock.after(limits.requestMs, () => cutOff(request)));
}

/** Nobody keeps the rest of what is too large or not wanted. It is still read for a moment: a client that sends would not see the answer otherwise. */
function drainBriefly(request: HttpRequest, clock: Clock, limits: Limits): void {
  request.resume();
  const stop = clock.after(limits.lingerMs, () => cutOff(request));
  request.once("close", stop);
}

function cutOff(request: HttpRequest): void {
  if ("stream" in request) request.stream.close();
  else request.destroy();
}

function requestOf(request: HttpRequest, user: User): ApiRequest {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  // node:http gives each header as one text, but for `set-cookie`, which clients do not send and nobody here asks for
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  return {
    method: request.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1)),
    headers,
    ...(IMPERSONATE in headers ? { repeated: repeatedHeaders(request.rawHeaders) } : {}),
    user,
  };
}

/** Groups come one per header, and a name may hold a comma. */
function repeatedHeaders(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, readonly string[]>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    values.set(name, [...(values.get(name) ?? []), raw[at + 1] ?? ""]);
  }
  return values;
}

const NO_QUERY = new URLSearchParams();
const IMPERSONATE = "impersonate-user";
const BODILESS = new Set(["GET", "HEAD"]);

async function readBody(request: HttpRequest, limits: Limits): Promise<Uint8Array | "too large"> {
  const declared = Number(request.headers["content-length"] ?? 0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (declared > limits.bodyBytes) return "too large";
  // events, not `for await`: an iterator over a stream costs as much as the rest of reading it
  return new Promise((resolve, reject) => {
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.byteLength;
      if (size > limits.bodyBytes) resolve("too large"); // the rest flows by
      else chunks.push(chunk);
    });
    request.once("error", reject);
    request.once("end", () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
    // only for who did not come to the end: an error costs a stack trace
    request.once("close", () => request.readableEnded || reject(new Error("the client went away before the end of its request")));
  });
}

type Head = Record<string, string | number | string[]>;

/** In one call: headers set one by one are looked at twice. */
function startAnswer(response: HttpResponse, status: number, head: Head): void {
  if ("stream" in response) response.writeHead(status, head);
  else response.writeHead(status, head);
}

async function write(response: HttpResponse, answered: ApiResponse, headOnly: boolean, signal: AbortSignal): Promise<void> {
  const { body, headers, status, warnings } = answered;
  if (body.kind === "cut") return breakOff(response);
  const head: Head = { "cache-control": "no-cache, private", ...headers };
  if (warnings.length > 0) head["warning"] = warnings.map((text) => `299 - ${quoted(text)}`);
  if (body.kind === "stream") {
    startAnswer(response, status, head);
    return pour(response, body.chunks, signal);
  }
  const payload = body.kind === "bytes" ? body.bytes : textOf(answered);
  const length = typeof payload === "string" ? Buffer.byteLength(payload) : payload.byteLength;
  if (length > 0 || status === 200) head["content-length"] = length;
  startAnswer(response, status, head);
  if (headOnly) response.end();
  // pure ASCII goes out together with the head, and without being looked at again
  else if (typeof payload === "string" && length === payload.length) response.end(payload, "latin1");
  else response.end(payload);
}

/** INTERNAL_ERROR of RFC 9113: clients may not take it for a request that never arrived. */
const INTERNAL_ERROR = 2;

function breakOff(response: HttpResponse): void {
  if ("stream" in response) response.stream.close(INTERNAL_ERROR);
  else response.destroy();
}

const PLAIN = /^[\x20-\x7e]*$/;

/** A quoted-string of HTTP: quotes and backslashes escaped, no line breaks, nothing outside Latin-1. */
function quoted(text: string): string {
  const safe = PLAIN.test(text) ? text : inLatin1(text);
  return `"${safe.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function inLatin1(text: string): string {
  return Array.from(text, (character) => (character < " " || character > "\u00ff" ? " " : character)).join("");
}

function textOf({ body }: ApiResponse): string {
  if (body.kind === "text") return body.text;
  if (body.kind !== "json") return "";
  if (body.pretty !== true && body.text !== undefined) return `${body.text()}\n`;
  return body.pretty === true ? JSON.stringify(body.value, null, 2) : `${JSON.stringify(body.value)}\n`;
}

/** Headers go out at once: a client knows that it watches before anything happens. */
async function pour(response: HttpResponse, chunks: EventStream, signal: AbortSignal): Promise<void> {
  if ("flushHeaders" in response) response.flushHeaders();
  for await (const chunk of chunks) {
    if (signal.aborted) break;
    if (!("stream" in response ? response.write(chunk) : response.write(chunk))) await drained(response, signal);
  }
  response.end();
}

function drained(response: HttpResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    response.on("drain", done);
    signal.addEventListener("abort", done, { once: true });
  });
}
