/**
 * One HTTP/2 connection: it hands out streams while there is room, and finds out when nobody is at the other end.
 *
 * While streams are open a PING goes out at intervals; one that is not answered in time destroys the connection, and every
 * stream on it fails. While none is open there are no timers and the socket does not keep the process alive; a connection that
 * was idle for longer than an interval is not trusted again, because nobody checked it.
 */
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "#base";

/** What kube-apiserver allows; a server that allows fewer says so. */
export const MAX_STREAMS = 100;

export type Liveness = { readonly clock: Clock; readonly pingIntervalMs: number; readonly pingTimeoutMs: number };

export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #socket: TLSSocket;
  readonly #liveness: Liveness;
  #streams = 0;
  #draining = false;
  #idleSince: number;
  #cancelTimer: () => void = () => {};

  constructor(session: ClientHttp2Session, socket: TLSSocket, liveness: Liveness) {
    this.#session = session;
    this.#socket = socket;
    this.#liveness = liveness;
    this.#idleSince = liveness.clock.monotonic();
    session.on("goaway", () => this.drain());
    session.on("close", () => this.drain());
    // streams report what broke them; without a listener the session would throw as well
    session.on("error", () => {});
    session.unref();
  }

  /** No new streams will be opened here. */
  get isGone(): boolean {
    return this.#draining || this.#session.closed || this.#session.destroyed || this.#isStale();
  }

  get hasRoom(): boolean {
    const allowed = this.#session.remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS;
    return !this.isGone && this.#streams < Math.min(MAX_STREAMS, Math.max(1, allowed));
  }

  /** Ask `hasRoom` first. */
  open(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    const stream = this.#session.request(headers, { endStream });
    this.#streams += 1;
    if (this.#streams === 1) this.#wake();
    stream.once("close", () => {
      this.#streams -= 1;
      if (this.#streams === 0) this.#rest();
    });
    return stream;
  }

  /** Open streams go on to their end. */
  drain(): void {
    this.#draining = true;
    if (this.#streams === 0) this.destroy();
  }

  destroy(reason = "the connection was closed"): void {
    this.#draining = true;
    this.#cancelTimer();
    // without an error Node ends open streams as if they were complete
    this.#session.destroy(new Error(reason));
    // after a GOAWAY Node waits for the other side to hang up, and a server that does not would keep the socket for ever
    this.#socket.destroy();
  }

  #isStale(): boolean {
    return this.#streams === 0 && this.#liveness.clock.monotonic() - this.#idleSince > this.#liveness.pingIntervalMs;
  }

  #wake(): void {
    this.#session.ref();
    this.#schedulePing();
  }

  #rest(): void {
    this.#cancelTimer();
    this.#idleSince = this.#liveness.clock.monotonic();
    this.#session.unref();
    if (this.#draining) this.destroy();
  }

  #schedulePing(): void {
    this.#cancelTimer = this.#liveness.clock.after(this.#liveness.pingIntervalMs, () => this.#ping());
  }

  #ping(): void {
    const { clock, pingTimeoutMs } = this.#liveness;
    const cancel = clock.after(pingTimeoutMs, () => this.destroy(`no answer to a PING within ${pingTimeoutMs} ms`));
    this.#cancelTimer = cancel;
    this.#session.ping((error) => {
      // another timer stands there now: the connection rested in between
      if (error !== null || this.#cancelTimer !== cancel) return;
      cancel();
      if (this.#streams > 0) this.#schedulePing();
    });
  }
}
