/** One HTTP exchange: read the request within its limits, ask the server, write the answer. HTTP/1.1 and HTTP/2 look alike here. */
import { Buffer } from "node:buffer";
import { describeThrown, type Clock, type Logger } from "#base";
import type { HttpRequest, HttpResponse, Limits } from "#listener";
import type { ApiServer } from "../rest/api-server.ts";
import { NO_QUERY, readQuery, type ApiRequest, type ApiResponse, type User } from "../protocol/request.ts";
import { answerFailure } from "../protocol/respond.ts";
import { failure, tooLarge, unauthorized } from "../protocol/status.ts";
import type { TurnBudget } from "../turns.ts";
import { senderOf, type Credentials } from "./credentials.ts";
import { writeAnswer } from "./write-answer.ts";

export type Exchange = Credentials & {
  readonly server: ApiServer;
  readonly logger: Logger;
};

/** `turns`: many requests that arrive at once are not all answered in one turn of the event loop. */
type Limited = Exchange & { readonly limits: Limits; readonly turns: TurnBudget };

const NOBODY: User = { name: "", uid: "", groups: [] };

export async function answerHttp(request: HttpRequest, response: HttpResponse, exchange: Limited): Promise<void> {
  const gone = new AbortController();
  // an answer that was given to its end leaves nobody to be told, and an abort costs more than most requests
  response.on("close", () => response.writableEnded || gone.abort());
  response.on("error", () => gone.abort());
  try {
    const answered = await answerOf(request, exchange, gone.signal);
    await writeAnswer(response, answered, { headOnly: request.method === "HEAD", signal: gone.signal, turns: exchange.turns });
    if (request.method === "HEAD" && answered.body.kind === "stream") gone.abort(); // nobody will read it
  } catch (thrown) {
    // the client went away in the middle of its own request; one that was read to its end is "destroyed", too, and wants its answer
    if (gone.signal.aborted || (request.destroyed && !request.complete)) return;
    exchange.logger.error("a request could not be answered", { error: describeThrown(thrown), path: pathOf(request) });
    if (response.headersSent) return void response.end();
    const writing = { headOnly: false, signal: gone.signal, turns: exchange.turns };
    await writeAnswer(response, answerFailure(requestOf(request, NOBODY), brokenAnswer()), writing);
  }
}

function brokenAnswer() {
  const message = "Internal error occurred: the request could not be answered";
  return failure({ code: 500, reason: "InternalError", message, details: { causes: [{ message: "the request could not be answered" }] } });
}

function pathOf(request: HttpRequest): string {
  return (request.url ?? "/").split("?")[0] ?? "/";
}

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

/** A request with a body is authorized before its body is read. */
async function answerTo(request: HttpRequest, asked: ApiRequest, { server, clock, limits, signal, turns }: Asked): Promise<ApiResponse> {
  if (BODILESS.has(asked.method)) {
    const pause = turns.pause();
    if (pause !== undefined) await pause;
    return server.handle(asked, signal);
  }
  const authorized = server.authorize(asked);
  if (!authorized.ok) {
    drainBriefly(request, clock, limits);
    return authorized.error;
  }
  const body = await readInTime(request, clock, limits);
  if (body === "too large") {
    drainBriefly(request, clock, limits);
    return answerFailure(asked, tooLarge(`limit is ${limits.bodyBytes}`).error);
  }
  const pause = turns.pause();
  if (pause !== undefined) await pause;
  return authorized.value(body.byteLength === 0 ? undefined : body, signal);
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
    query: mark < 0 ? NO_QUERY : readQuery(url.slice(mark + 1)),
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
