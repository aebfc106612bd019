/** Writes responses of HTTP/1.1 and HTTP/2 alike, and waits for clients that read slowly. */
import type { HttpResponse } from "./http-server.ts";

export type ResponseHead = Record<string, string | number | string[]>;

/** In one call: Node checks headers twice that are set one by one. */
export function writeHead(response: HttpResponse, status: number, head: ResponseHead): void {
  if ("stream" in response) response.writeHead(status, head);
  else response.writeHead(status, head);
}

export type Pacing = {
  readonly encoding: BufferEncoding;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
  /** How many characters or bytes may wait for the client before the writer does. 0: none. */
  readonly ahead: number;
};

/** A function that writes; its promise, if there is one, is to be awaited before the next call. */
export function pacedWriter(
  response: HttpResponse,
  { encoding, signal, ahead }: Pacing,
): (chunk: string | Uint8Array) => Promise<void> | undefined {
  let waiting = 0;
  return (chunk) => {
    if (send(response, chunk, encoding)) waiting = 0;
    else waiting += chunk.length;
    if (waiting === 0 || waiting < ahead) return undefined;
    waiting = 0;
    return drained(response, signal);
  };
}

function send(response: HttpResponse, chunk: string | Uint8Array, encoding: BufferEncoding): boolean {
  return "stream" in response ? response.write(chunk, encoding) : response.write(chunk, encoding);
}

function drained(response: HttpResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    // an aborted signal fires no second event
    if (signal.aborted) return resolve();
    response.on("drain", done);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** INTERNAL_ERROR of RFC 9113: clients do not retry the request, as they would if it had never arrived. */
const INTERNAL_ERROR = 2;

/** Ends the connection (HTTP/1.1) or the stream (HTTP/2) without completing the response. */
export function abortResponse(response: HttpResponse): void {
  if ("stream" in response) response.stream.close(INTERNAL_ERROR);
  else response.destroy();
}
