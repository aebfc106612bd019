/**
 * One HTTP/2 connection: it opens streams up to its limit, and detects a peer that no longer responds.
 *
 * While streams are open a PING is sent at intervals; without a response in time the connection is destroyed, and every stream on it fails.
 * While none is open there are no timers and the socket does not keep the process alive; a connection that was idle for longer than an
 * interval is not used again, because it was not checked.
 */
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "#base";

/** The limit of kube-apiserver; a server with a lower limit sends it in its settings. */
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
    // streams report their errors; without a listener the session would throw as well
    session.on("error", () => {});
    session.unref();
  }

  /** No new streams are opened on this connection. */
  get isGone(): boolean {
    return this.#draining || this.#session.closed || this.#session.destroyed || this.#isStale();
  }

  get hasRoom(): boolean {
    const allowed = this.#session.remoteSettings?.maxConcurrentStreams ?? MAX_STREAMS;
    return !this.isGone && this.#streams < Math.min(MAX_STREAMS, Math.max(1, allowed));
  }

  /** Check `hasRoom` first. */
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

  /** Open streams continue to their end. */
  drain(): void {
    this.#draining = true;
    if (this.#streams === 0) this.destroy();
  }

  destroy(reason = "the connection was closed"): void {
    this.#draining = true;
    this.#cancelTimer();
    // without an error Node ends open streams as if they were complete
    this.#session.destroy(new Error(reason));
    // after a GOAWAY Node waits for the peer to close, and a server that does not would keep the socket for ever
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
    const cancel = clock.after(pingTimeoutMs, () => this.destroy(`no response to a PING within ${pingTimeoutMs} ms`));
    this.#cancelTimer = cancel;
    this.#session.ping((error) => {
      // the timer was replaced: the connection was idle in between
      if (error !== null || this.#cancelTimer !== cancel) return;
      cancel();
      if (this.#streams > 0) this.#schedulePing();
    });
  }
}
