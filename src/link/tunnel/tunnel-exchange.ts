/**
 * One request and its response between a cell and an API server, on the agent's side.
 *
 * Two loops run side by side: frames of the cell to the API server, and the response to the cell. Each waits for its reader, so that no more than
 * one frame is held in each direction beside the buffers of the sockets.
 */
import { once } from "node:events";
import type { ClientRequest } from "node:http";
import type { Writable } from "node:stream";
import { sleep, type Clock, type Logger } from "#base";
import { unlessAborted } from "#kube-client";
import type { TunnelFrame } from "../protocol/generated/agent_pb.ts";
import type { TunnelConnections } from "./api-server-connections.ts";
import { responseOf, type ApiServerResponse } from "./api-server-response.ts";
import { BodyLength } from "./body-length.ts";
import { dataFrames, endFrame, failureFrame, responseFrame, type FrameContent, type FrameReader } from "./frames.ts";
import type { TunnelRequestHead } from "./request-head.ts";
import { headersOfRaw, parseTunnelHeaders, responseHeadersFor } from "./tunnel-headers.ts";
import { TUNNEL_LIMITS } from "./tunnel-limits.ts";
import { ENDED, type TunnelFrames } from "./tunnel-types.ts";

export type ExchangeOptions = {
  readonly frames: TunnelFrames;
  readonly reader: FrameReader;
  readonly connections: TunnelConnections;
  readonly head: TunnelRequestHead;
  readonly authorization: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Requests without an effect: they are sent again if a reused connection turns out to be closed. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD"]);

type Answered = Exclude<ApiServerResponse, { kind: "failed" }>;

export class TunnelExchange {
  readonly #options: ExchangeOptions;
  /** Aborted when the cell has gone or the exchange has failed; ends the request at the API server. */
  readonly #stop = new AbortController();
  readonly #length: BodyLength;
  /** Where bytes of the cell go; undefined before an Upgrade is accepted. */
  #input: Writable | undefined;
  #failure: string | undefined;
  #isAnswered = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#length = new BodyLength(options.head.upgrade === undefined ? options.head.contentLength : undefined);
  }

  async run(): Promise<void> {
    const { frames, clock, head } = this.#options;
    const hasBody = await this.#hasBody();
    if (hasBody === undefined) return frames.cancel("the cell has cancelled the request");
    let request = this.#send(hasBody);
    const reading = this.#readFrames();
    let response = await responseOf(request, clock);
    const mayRepeat = !hasBody && REPEATABLE.has(head.method) && !this.#stop.signal.aborted;
    if (response.kind === "failed" && response.isStale && mayRepeat) {
      request = this.#send(hasBody);
      response = await responseOf(request, clock);
    }
    await this.#respond(response);
    await this.#finish(reading, request);
  }

  /** Without a declared length, the cell's next frame shows whether there is a body. Undefined: the cell has gone. */
  async #hasBody(): Promise<boolean | undefined> {
    const { head, reader } = this.#options;
    if (head.upgrade !== undefined) return false;
    if (head.contentLength !== undefined) return head.contentLength > 0;
    const next = await reader.next();
    if (next !== undefined) reader.unread(next);
    return next === undefined ? undefined : next.case === "data";
  }

  #send(hasBody: boolean): ClientRequest {
    const { connections, head, authorization } = this.#options;
    const request = connections.open(head, authorization, hasBody);
    this.#onStop(() => request.destroy());
    if (head.upgrade === undefined) this.#input = request;
    // the frame that ends an empty body may still be on its way; the request is complete without it
    if (!hasBody) request.end();
    return request;
  }

  #onStop(end: () => void): void {
    this.#stop.signal.addEventListener("abort", end, { once: true });
  }

  async #readFrames(): Promise<void> {
    let isEnded = false;
    for (let frame = await this.#options.reader.next(); frame !== undefined; frame = await this.#options.reader.next()) {
      if (this.#isAnswered || this.#stop.signal.aborted) continue;
      const problem = isEnded ? "The cell sent a frame after the end of its request." : await this.#take(frame);
      if (problem !== undefined) this.#fail(problem);
      isEnded ||= frame.case === "end";
    }
    this.#stop.abort(ENDED);
  }

  async #take(frame: FrameContent): Promise<string | undefined> {
    const input = this.#input;
    if (input === undefined || (frame.case !== "data" && frame.case !== "end")) return "The cell sent an unexpected frame.";
    if (frame.case === "end") {
      if (!this.#length.isComplete()) return "The body of the request is shorter than its declared length.";
      if (!input.writableEnded) input.end();
      return undefined;
    }
    if (frame.value.byteLength > TUNNEL_LIMITS.frameBytes) return "The cell sent a frame that is too large.";
    if (!this.#length.add(frame.value.byteLength)) return "The body of the request is longer than its declared length.";
    return input.writableEnded || input.destroyed || input.write(frame.value) ? undefined : this.#drain(input);
  }

  async #drain(input: Writable): Promise<string | undefined> {
    const drained = new AbortController();
    const signal = AbortSignal.any([drained.signal, this.#stop.signal]);
    const waits = ["drain", "close"].map((event) => once(input, event, { signal }).catch(() => undefined));
    const late = sleep(this.#options.clock, TUNNEL_LIMITS.stallMs, signal);
    const isLate = await Promise.race([late, ...waits.map((wait) => wait.then(() => false))]);
    drained.abort(ENDED);
    return isLate ? "The API server does not read the body of the request." : undefined;
  }

  /** Only the first reason counts, and none if the cell has gone: a peer that has gone reads nothing. */
  #fail(message: string): void {
    if (this.#stop.signal.aborted) return;
    this.#failure = message;
    this.#stop.abort(ENDED);
  }

  async #respond(response: ApiServerResponse): Promise<void> {
    if (response.kind === "failed") return this.#fail(response.message);
    this.#onStop(() => response.body.destroy());
    if (response.kind === "upgraded" && this.#options.head.upgrade === undefined)
      return this.#fail("The API server changed the protocol without a request.");
    // the credential is the agent's: to the client its own would seem to be wrong
    if (response.head.statusCode === 401) return this.#fail("The API server does not accept the credential of the agent.");
    if (response.kind === "upgraded") this.#input = response.input;
    await this.#stream(response);
  }

  async #stream({ head, body, kind }: Answered): Promise<void> {
    const parsed = parseTunnelHeaders(headersOfRaw(head.rawHeaders));
    if (!parsed.ok) return this.#fail(`The response of the API server was refused: ${parsed.error}.`);
    const upgrade = kind === "upgraded" ? parsed.value.filter(([name]) => name === "upgrade") : [];
    await this.#write(responseFrame(head.statusCode ?? 0, [...responseHeadersFor(parsed.value), ...upgrade]));
    try {
      for await (const chunk of body.iterator({ destroyOnReturn: true })) {
        if (!(chunk instanceof Uint8Array)) break;
        for (const frame of dataFrames(chunk)) await this.#write(frame);
        if (this.#stop.signal.aborted) return;
      }
      await this.#write(endFrame());
    } catch {
      this.#fail("The API server closed the connection before the end of its response.");
    }
  }

  /** Does not wait for a cell that has gone. */
  async #write(frame: TunnelFrame): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const written = this.#options.frames.write(frame).catch(() => this.#stop.abort(ENDED));
    await unlessAborted(written, this.#stop.signal);
  }

  async #finish(reading: Promise<void>, request: ClientRequest): Promise<void> {
    const { frames, clock, logger } = this.#options;
    if (this.#failure !== undefined) {
      logger.info("request of the cell failed", { reason: this.#failure });
      await unlessLate(frames.write(failureFrame(this.#failure)), clock);
    }
    this.#isAnswered = true;
    // a connection whose request is not complete must not be reused
    if (!request.writableEnded || this.#failure !== undefined) request.destroy();
    frames.end();
    if (!(await unlessLate(reading, clock))) frames.cancel("the cell has not completed the call");
    this.#stop.abort(ENDED);
  }
}

/** True if the promise was settled in time. */
async function unlessLate(promise: Promise<unknown>, clock: Clock): Promise<boolean> {
  const done = new AbortController();
  const late = sleep(clock, TUNNEL_LIMITS.lingerMs, done.signal);
  const isLate = await Promise.race([
    promise.then(
      () => false,
      () => false,
    ),
    late,
  ]);
  done.abort(ENDED);
  return !isLate;
}
