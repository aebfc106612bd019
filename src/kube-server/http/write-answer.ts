/**
 * Writes a response. A complete body is sent at once; a stream is sent as it is produced, and waits for a client that reads slowly.
 *
 * Long lists are written in small pieces: allocating one text of a megabyte takes longer than creating it.
 */
import { Buffer } from "node:buffer";
import { abortResponse, pacedWriter, writeHead, type HttpResponse, type ResponseHead } from "#listener";
import type { ApiResponse, EventStream } from "../protocol/request.ts";
import type { TurnBudget } from "../turns.ts";

export type Writing = {
  /** Only the head is sent. */
  readonly headOnly: boolean;
  readonly signal: AbortSignal;
  readonly turns: TurnBudget;
};

export async function writeAnswer(response: HttpResponse, answered: ApiResponse, writing: Writing): Promise<void> {
  const { body, headers, status, warnings } = answered;
  const { headOnly, signal } = writing;
  if (body.kind === "cut") return abortResponse(response);
  const head: ResponseHead = { "cache-control": "no-cache, private", ...headers };
  if (warnings.length > 0) head["warning"] = warnings.map((text) => `299 - ${quoted(text)}`);
  if (body.kind === "stream" || body.kind === "byte-stream") {
    writeHead(response, status, head);
    if (headOnly) return void response.end(); // otherwise the connection would be busy until the watch ends
    return sendStream(response, body.chunks, signal);
  }
  const begun = body.kind === "bytes" ? NO_TEXTS : beginTexts(textsOf(answered), writing.turns);
  const length = body.kind === "bytes" ? body.bytes.byteLength : sum(begun.first, (text) => Buffer.byteLength(text));
  // an incomplete body is sent in chunks
  if (begun.rest === undefined && (length > 0 || status === 200)) head["content-length"] = length;
  writeHead(response, status, head);
  if (headOnly) response.end();
  else if (body.kind === "bytes") response.end(body.bytes);
  else if (begun.rest === undefined) await writeTexts(response, begun.first, length, signal);
  else await streamTexts(response, { ...begun, rest: begun.rest }, writing);
}

/** Longer bodies are sent while they are built. */
const AT_ONCE = 1024 * 1024;

type Begun = {
  readonly first: readonly string[];
  /** The rest of the body; undefined: none. */
  readonly rest: Iterator<string> | undefined;
  readonly pause: Promise<void> | undefined;
};
const NO_TEXTS: Begun = { first: [], rest: undefined, pause: undefined };

function beginTexts(texts: Iterable<string>, turns: TurnBudget): Begun {
  const first: string[] = [];
  const rest = texts[Symbol.iterator]();
  let length = 0;
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    first.push(next.value);
    length += next.value.length;
    const pause = first.length % TEXTS_PER_CHECK === 0 ? turns.pause() : undefined;
    if (length > AT_ONCE || pause !== undefined) return { first, rest, pause };
  }
  return { first, rest: undefined, pause: undefined };
}

/** Texts between two reads of the clock. */
const TEXTS_PER_CHECK = 16;

async function streamTexts(
  response: HttpResponse,
  { first, rest, pause }: Begun & { readonly rest: Iterator<string> },
  { signal, turns }: Writing,
): Promise<void> {
  const write = pacedWriter(response, { encoding: "utf8", signal, ahead: AHEAD });
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

/** The body, with the line break that a Go server writes after JSON. */
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
/** How much is sent before waiting for the client to read it. Waiting after each piece takes longer than sending it. */
const AHEAD = 1024 * 1024;
/** The watch counts the events that wait for its client, so none wait here uncounted. */
const AHEAD_OF_WATCH = 0;

async function writeTexts(response: HttpResponse, texts: readonly string[], bytes: number, signal: AbortSignal): Promise<void> {
  // pure ASCII needs no encoding, and is sent together with the head
  const encoding = bytes === sum(texts, ({ length }) => length) ? "latin1" : "utf8";
  const write = pacedWriter(response, { encoding, signal, ahead: AHEAD });
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

const PLAIN = /^[\x20-\x7e]*$/;

/** A quoted-string of HTTP: quotes and backslashes escaped, no line breaks, only Latin-1. */
function quoted(text: string): string {
  const safe = PLAIN.test(text) ? text : inLatin1(text);
  return `"${safe.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function inLatin1(text: string): string {
  return Array.from(text, (character) => (character < " " || character > "\u00ff" ? " " : character)).join("");
}

/** Headers are sent at once: the client knows that its watch has begun before the first event. */
async function sendStream(response: HttpResponse, chunks: EventStream | AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  if ("flushHeaders" in response) response.flushHeaders();
  if ("whenDropped" in chunks) chunks.whenDropped?.(() => abortResponse(response));
  const write = pacedWriter(response, { encoding: "utf8", signal, ahead: AHEAD_OF_WATCH });
  for await (const chunk of chunks) {
    if (signal.aborted) break;
    const full = write(chunk);
    if (full !== undefined) await full;
  }
  response.end();
}
