/**
 * An answer on its way out. What there is of it goes at once; a stream goes as it comes, and waits for a client that reads slowly.
 *
 * Long lists are written in pieces of a size that the allocator has at hand: one text of a megabyte costs more in fresh memory than in work.
 */
import { Buffer } from "node:buffer";
import type { HttpResponse } from "#listener";
import type { ApiResponse, EventStream } from "../protocol/request.ts";
import type { TurnBudget } from "../turns.ts";

type Head = Record<string, string | number | string[]>;

export type Writing = {
  /** Only the head is sent. */
  readonly headOnly: boolean;
  readonly signal: AbortSignal;
  readonly turns: TurnBudget;
};

export async function writeAnswer(response: HttpResponse, answered: ApiResponse, writing: Writing): Promise<void> {
  const { body, headers, status, warnings } = answered;
  const { headOnly, signal } = writing;
  if (body.kind === "cut") return breakOff(response);
  const head: Head = { "cache-control": "no-cache, private", ...headers };
  if (warnings.length > 0) head["warning"] = warnings.map((text) => `299 - ${quoted(text)}`);
  if (body.kind === "stream") {
    startAnswer(response, status, head);
    if (headOnly) return void response.end(); // or the connection would belong to it for as long as the watch goes on
    return pour(response, body.chunks, signal);
  }
  const begun = body.kind === "bytes" ? NOTHING : beginTexts(textsOf(answered), writing.turns);
  const length = body.kind === "bytes" ? body.bytes.byteLength : sum(begun.first, (text) => Buffer.byteLength(text));
  // a body that is not all there is sent in chunks
  if (begun.rest === undefined && (length > 0 || status === 200)) head["content-length"] = length;
  startAnswer(response, status, head);
  if (headOnly) response.end();
  else if (body.kind === "bytes") response.end(body.bytes);
  else if (begun.rest === undefined) await writeTexts(response, begun.first, length, signal);
  else await streamTexts(response, { ...begun, rest: begun.rest }, writing);
}

/** Longer bodies are sent while they are made. */
const AT_ONCE = 1024 * 1024;

type Begun = {
  readonly first: readonly string[];
  /** What comes after it; undefined: nothing. */
  readonly rest: Iterator<string> | undefined;
  readonly pause: Promise<void> | undefined;
};
const NOTHING: Begun = { first: [], rest: undefined, pause: undefined };

function beginTexts(texts: Iterable<string>, turns: TurnBudget): Begun {
  const first: string[] = [];
  const rest = texts[Symbol.iterator]();
  let length = 0;
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    first.push(next.value);
    length += next.value.length;
    const pause = first.length % LOOK_EVERY === 0 ? turns.pause() : undefined;
    if (length > AT_ONCE || pause !== undefined) return { first, rest, pause };
  }
  return { first, rest: undefined, pause: undefined };
}

/** Texts between two looks at the clock. */
const LOOK_EVERY = 16;

async function streamTexts(
  response: HttpResponse,
  { first, rest, pause }: Begun & { readonly rest: Iterator<string> },
  { signal, turns }: Writing,
): Promise<void> {
  const write = outflow(response, "utf8", signal);
  let full = write(first.join(""));
  let piece = "";
  if (pause !== undefined) await pause;
  for (let next = rest.next(); next.done !== true && !signal.aborted; next = rest.next()) {
    piece += next.value;
    if (full !== undefined) await full;
    full = undefined;
    const turn = turns.pause();
    if (turn !== undefined) await turn;
    if (piece.length < PIECE) continue;
    full = write(piece);
    piece = "";
  }
  response.end(piece, "utf8");
}

/** In one call: headers set one by one are looked at twice. */
function startAnswer(response: HttpResponse, status: number, head: Head): void {
  if ("stream" in response) response.writeHead(status, head);
  else response.writeHead(status, head);
}

/** The body, with the line break that a Go server puts behind JSON. */
function textsOf({ body }: ApiResponse): Iterable<string> {
  if (body.kind !== "text" && body.kind !== "json") return [];
  if (body.texts !== undefined) return body.texts();
  if (body.kind === "text") return [body.text];
  return [body.pretty === true ? JSON.stringify(body.value, null, 2) : `${JSON.stringify(body.value)}\n`];
}

function sum(texts: readonly string[], measure: (text: string) => number): number {
  let total = 0;
  for (const text of texts) total += measure(text);
  return total;
}

const PIECE = 64 * 1024;
/** How much is sent before anybody waits for the other end to read it. To wait after each piece takes longer than to send it. */
const AHEAD = 1024 * 1024;
/** What waits for the client of a watch is counted by the watch, so little may wait here uncounted. */
const AHEAD_OF_WATCH = 0;

async function writeTexts(response: HttpResponse, texts: readonly string[], bytes: number, signal: AbortSignal): Promise<void> {
  // pure ASCII need not be looked at again, and goes out together with the head
  const encoding = bytes === sum(texts, ({ length }) => length) ? "latin1" : "utf8";
  const write = outflow(response, encoding, signal);
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    const full = write(piece);
    if (full !== undefined) await full;
    piece = "";
    if (signal.aborted) return;
  }
  response.end(piece, encoding);
}

/** Writes; the promise, if there is one, is to be waited for before the next. */
function outflow(
  response: HttpResponse,
  encoding: BufferEncoding,
  signal: AbortSignal,
  most = AHEAD,
): (text: string) => Promise<void> | undefined {
  let ahead = 0;
  return (text) => {
    if (send(response, text, encoding)) ahead = 0;
    else ahead += text.length;
    if (ahead === 0 || ahead < most) return undefined;
    ahead = 0;
    return drained(response, signal);
  };
}

function send(response: HttpResponse, text: string, encoding: BufferEncoding): boolean {
  return "stream" in response ? response.write(text, encoding) : response.write(text, encoding);
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

/** Headers go out at once: a client knows that it watches before anything happens. */
async function pour(response: HttpResponse, chunks: EventStream, signal: AbortSignal): Promise<void> {
  if ("flushHeaders" in response) response.flushHeaders();
  chunks.whenDropped?.(() => breakOff(response));
  const write = outflow(response, "utf8", signal, AHEAD_OF_WATCH);
  for await (const chunk of chunks) {
    if (signal.aborted) break;
    const full = write(chunk);
    if (full !== undefined) await full;
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
    // a signal that has been given is not given again
    if (signal.aborted) return resolve();
    response.on("drain", done);
    signal.addEventListener("abort", done, { once: true });
  });
}
