/** One HTTP exchange: reads the request within its limits, passes it to the server, writes the response. The same for HTTP/1.1 and HTTP/2. */
import { describeThrown, type Logger } from "#base";
import { discardBody, readBody, type HttpRequest, type HttpResponse, type ListenerLimits } from "#listener";
import type { ApiServer } from "../rest/api-server.ts";
import { NO_QUERY, readQuery, type ApiRequest, type ApiResponse, type User } from "../protocol/request.ts";
import { failureResponse } from "../protocol/respond.ts";
import { failure, tooLarge, unauthorized } from "../protocol/status.ts";
import type { TurnBudget } from "../turns.ts";
import { senderOf, type CredentialOptions } from "./credentials.ts";
import { writeAnswer } from "./write-answer.ts";

export type Exchange = CredentialOptions & {
  readonly server: ApiServer;
  readonly logger: Logger;
};

/** `turns`: many requests that arrive at once are not all answered in one turn of the event loop. */
type LimitedExchange = Exchange & { readonly limits: ListenerLimits; readonly turns: TurnBudget };

/** The user of requests that are rejected before authentication. */
const NO_USER: User = { name: "", uid: "", groups: [] };

export async function answerHttp(request: HttpRequest, response: HttpResponse, exchange: LimitedExchange): Promise<void> {
  const disconnected = new AbortController();
  const { signal } = disconnected;
  // not after a complete response: an abort costs more than most requests
  response.on("close", () => response.writableEnded || disconnected.abort());
  response.on("error", () => disconnected.abort());
  try {
    const answered = await answerOf(request, exchange, signal);
    await writeAnswer(response, answered, { headOnly: request.method === "HEAD", signal, turns: exchange.turns });
    if (request.method === "HEAD" && answered.body.kind === "stream") disconnected.abort(); // ends the watch
  } catch (thrown) {
    // the client left during its own request; a request that was read completely is "destroyed" too, and needs its response
    if (signal.aborted || (request.destroyed && !request.complete)) return;
    exchange.logger.error("a request could not be answered", { error: describeThrown(thrown), path: pathOf(request) });
    if (response.headersSent) return void response.end();
    const writing = { headOnly: false, signal, turns: exchange.turns };
    await writeAnswer(response, failureResponse(requestOf(request, NO_USER), internalError()), writing);
  }
}

function internalError() {
  const message = "Internal error occurred: the request could not be answered";
  return failure({ code: 500, reason: "InternalError", message, details: { causes: [{ message: "the request could not be answered" }] } });
}

function pathOf(request: HttpRequest): string {
  return (request.url ?? "/").split("?")[0] ?? "/";
}

async function answerOf(request: HttpRequest, exchange: LimitedExchange, signal: AbortSignal): Promise<ApiResponse> {
  const sender = senderOf(request, exchange);
  if (!sender.ok) {
    request.resume();
    return failureResponse(requestOf(request, NO_USER), unauthorized());
  }
  const { user, warnings } = sender.value;
  const answered = await answerTo(request, requestOf(request, user), { ...exchange, signal });
  return warnings.length === 0 ? answered : { ...answered, warnings: [...warnings, ...answered.warnings] };
}

type OpenExchange = LimitedExchange & { readonly signal: AbortSignal };

async function answerTo(request: HttpRequest, asked: ApiRequest, exchange: OpenExchange): Promise<ApiResponse> {
  if (!BODILESS.has(asked.method)) return answerWithBody(request, asked, exchange);
  const pause = exchange.turns.pause();
  if (pause !== undefined) await pause;
  return exchange.server.handle(asked, exchange.signal);
}

/** The request is authorized before its body is read, and only then. */
async function answerWithBody(request: HttpRequest, asked: ApiRequest, exchange: OpenExchange): Promise<ApiResponse> {
  const { server, limits, signal, turns } = exchange;
  const authorized = server.authorize(asked);
  if (!authorized.ok) {
    discardBody(request, exchange);
    return authorized.error;
  }
  const body = await readBody(request, exchange);
  if (!body.ok) {
    if (body.error === "disconnected") return NO_RESPONSE;
    discardBody(request, exchange);
    return failureResponse(asked, tooLarge(`limit is ${limits.bodyBytes}`).error);
  }
  const pause = turns.pause();
  if (pause !== undefined) await pause;
  return authorized.value(body.value.byteLength === 0 ? undefined : body.value, signal);
}

const NO_RESPONSE: ApiResponse = { status: 0, headers: {}, warnings: [], body: { kind: "cut" } };

function requestOf(request: HttpRequest, user: User): ApiRequest {
  const url = request.url ?? "/";
  const mark = url.indexOf("?");
  // node:http joins repeated headers into one text, except `set-cookie`, which clients do not send
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  return {
    method: request.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? NO_QUERY : readQuery(url.slice(mark + 1)),
    headers,
    ...(IMPERSONATE in headers ? { repeated: repeatedHeaders(request.rawHeaders) } : {}),
    user,
  };
}

/** Each group is a header of its own, and its name may contain a comma. */
function repeatedHeaders(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, readonly string[]>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    values.set(name, [...(values.get(name) ?? []), raw[at + 1] ?? ""]);
  }
  return values;
}

const IMPERSONATE = "impersonate-user";
const BODILESS = new Set(["GET", "HEAD"]);
