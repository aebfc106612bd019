/**
 * The HTTP/2 connections to one server with one identity: as few as the streams need.
 *
 * Connections are opened one at a time and all waiting calls share the next one: a thousand calls at start-up open ten connections, not a
 * thousand.
 */
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";
import type { TLSSocket } from "node:tls";
import { err, ok, type Result } from "#base";
import { failure, notSent, type KubeError } from "../errors.ts";
import type { TransportRequest } from "../transport.ts";
import { unlessAborted } from "../unless-aborted.ts";
import { connectFailure } from "./connection-error.ts";
import { Http2Connection, MAX_STREAMS, type Liveness } from "./http2-connection.ts";
import { dial, type TlsEndpoint } from "./tls-socket.ts";

/** Flow control windows of one stream and of all streams together: a slow reader must not block the others. */
const STREAM_WINDOW = 4 * 1024 * 1024;
const CONNECTION_WINDOW = STREAM_WINDOW * MAX_STREAMS;
const LOST_CONNECTIONS_LIMIT = 3;

export type PoolOptions = Liveness & { readonly connectTimeoutMs: number };
type Dialled = Result<Http2Connection | "http/1.1", KubeError>;

export class Http2Pool {
  readonly #endpoint: TlsEndpoint;
  readonly #options: PoolOptions;
  /** Each with a promise that resolves when its session is closed. */
  readonly #connections = new Map<Http2Connection, Promise<void>>();
  readonly #closing = new AbortController();
  #dialling: Promise<Dialled> | undefined;

  constructor(endpoint: TlsEndpoint, options: PoolOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** A stream on some connection, or "http/1.1" when the server does not support HTTP/2. */
  async open(
    headers: OutgoingHttpHeaders,
    { endStream, mayLeave }: { readonly endStream: boolean; readonly mayLeave: TransportRequest["mayLeave"] },
    signal: AbortSignal,
  ): Promise<Result<ClientHttp2Stream | "http/1.1", KubeError>> {
    for (let lost = 0; lost < LOST_CONNECTIONS_LIMIT;) {
      const free = this.#withRoom();
      if (free !== undefined) return mayLeave?.() === false ? notSent() : ok(free.open(headers, endStream));
      const dialled = await unlessAborted((this.#dialling ??= this.#dial()), signal);
      if (dialled === undefined) return failure("cancelled", "the call was cancelled before it was sent", "safe");
      if (!dialled.ok) return dialled;
      if (dialled.value === "http/1.1") return ok(dialled.value);
      if (dialled.value.isGone) lost += 1;
    }
    return failure("network", `${this.#endpoint.server} closes connections as soon as they are open`, "safe");
  }

  /** Open streams continue; connections close after them. */
  drain(): void {
    for (const connection of this.#connections.keys()) connection.drain();
  }

  get isEmpty(): boolean {
    return this.#connections.size === 0 && this.#dialling === undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const connection of this.#connections.keys()) connection.destroy();
    await Promise.all(this.#connections.values());
  }

  #withRoom(): Http2Connection | undefined {
    for (const connection of this.#connections.keys()) {
      if (connection.hasRoom) return connection;
      if (connection.isGone) connection.drain();
    }
    return undefined;
  }

  async #dial(): Promise<Dialled> {
    try {
      const { clock, connectTimeoutMs } = this.#options;
      const socket = await dial(this.#endpoint, { clock, timeoutMs: connectTimeoutMs, signal: this.#closing.signal });
      if (!socket.ok) return socket;
      if (socket.value.alpnProtocol !== "h2") {
        socket.value.destroy();
        return ok("http/1.1");
      }
      return await this.#begin(socket.value);
    } finally {
      this.#dialling = undefined;
    }
  }

  /** Waits for the server's settings, which have the number of streams. */
  async #begin(socket: TLSSocket): Promise<Dialled> {
    const session = connect(this.#endpoint.url.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      // in MB; with the default of 10, streams are refused during large bodies
      maxSessionMemory: 1_000,
    });
    // registered at once: a session emits "close" only once
    const gone = new Promise<void>((resolve) => session.once("close", resolve));
    // Node does not report a TLS alert (a refused client certificate): the session would wait for ever
    socket.once("error", (thrown) => session.destroy(thrown));
    const ready = await this.#settingsOf(session);
    if (!ready.ok) {
      session.destroy();
      socket.destroy();
      return ready;
    }
    session.setLocalWindowSize(CONNECTION_WINDOW);
    const connection = new Http2Connection(session, socket, this.#options);
    this.#connections.set(
      connection,
      gone.then(() => void this.#connections.delete(connection)),
    );
    return ok(connection);
  }

  #settingsOf(session: ClientHttp2Session): Promise<Result<void, KubeError>> {
    const { server } = this.#endpoint;
    return new Promise((resolve) => {
      const settle = (result: Result<void, KubeError>) => {
        cancelTimer();
        this.#closing.signal.removeEventListener("abort", onAbort);
        session.off("close", onClose);
        session.off("remoteSettings", onSettings);
        resolve(result);
      };
      const onAbort = () => settle(failure("cancelled", "the client was closed while it connected", "safe"));
      const onClose = () => settle(err(connectFailure(server, new Error("it closed the connection without an error"))));
      const onSettings = () => settle(ok(undefined));
      const cancelTimer = this.#options.clock.after(this.#options.connectTimeoutMs, () =>
        settle(failure("network", `cannot connect to ${server}: it does not respond in HTTP/2`, "safe")),
      );
      if (this.isClosed) return onAbort();
      this.#closing.signal.addEventListener("abort", onAbort, { once: true });
      session.on("error", (thrown) => settle(err(connectFailure(server, thrown))));
      session.once("close", onClose);
      session.once("remoteSettings", onSettings);
    });
  }
}
