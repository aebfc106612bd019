/**
 * The Transport over HTTP: HTTP/2 where the server supports it, HTTP/1.1 where it does not (and on plain http://, which is accepted on this
 * machine only).
 *
 * A 401 is retried once with fresh credentials, if there are any: the server did not process the request, so writes may be sent again too.
 * A new client certificate uses new connections; open calls end on the old ones.
 */
import { err, ok, type Clock, type Result } from "#base";
import type { ClusterConfig, Credential } from "../cluster-config.ts";
import { failure, type KubeError } from "../errors.ts";
import type { Transport, TransportResponse, TransportRequest } from "../transport.ts";
import { requestHeaders, type RequestHeaders } from "./headers.ts";
import { Http1Carrier } from "./http1-carrier.ts";
import { responseOn } from "./http2-response.ts";
import { Http2Pool, type PoolOptions } from "./http2-pool.ts";
import { endpointOf, type TlsEndpoint } from "./tls-socket.ts";

export type HttpTransportOptions = {
  readonly clock: Clock;
  readonly userAgent?: string;
  readonly connectTimeoutMs?: number;
  /** How often an HTTP/2 connection in use is checked. */
  readonly pingIntervalMs?: number;
  /** The time limit of its response. */
  readonly pingTimeoutMs?: number;
};

export function httpTransport(config: ClusterConfig, options: HttpTransportOptions): Transport {
  return new HttpTransport(config, options);
}

class HttpTransport implements Transport {
  readonly #config: ClusterConfig;
  readonly #options: PoolOptions;
  readonly #userAgent: string;
  #route: Route | undefined;
  /** Routes of earlier certificates with open calls. */
  #retired: Route[] = [];
  #closed = false;

  constructor(config: ClusterConfig, options: HttpTransportOptions) {
    const { clock, connectTimeoutMs = 10_000, pingIntervalMs = 30_000, pingTimeoutMs = 15_000 } = options;
    this.#config = config;
    this.#options = { clock, connectTimeoutMs, pingIntervalMs, pingTimeoutMs };
    this.#userAgent = options.userAgent ?? "lattice";
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<Result<TransportResponse, KubeError>> {
    const first = await this.#config.credentials.get(signal);
    if (!first.ok) return first;
    const answer = await this.#sendAs(request, first.value, signal);
    if (!answer.ok || answer.value.code !== 401 || !this.#config.credentials.refused(first.value)) return answer;
    const second = await this.#config.credentials.get(signal);
    if (second.ok && isSame(first.value, second.value)) return answer;
    await discard(answer.value);
    return second.ok ? this.#sendAs(request, second.value, signal) : second;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#config.credentials.close();
    await Promise.all([...this.#retired, ...(this.#route === undefined ? [] : [this.#route])].map((route) => route.close()));
  }

  async #sendAs(request: TransportRequest, credential: Credential, signal: AbortSignal): Promise<Result<TransportResponse, KubeError>> {
    if (this.#closed || signal.aborted) return failure("cancelled", "the call was cancelled before it was sent", "safe");
    const route = this.#routeFor(credential);
    if (!route.ok) return route;
    const headers = requestHeaders(this.#config, credential, request.headers, this.#userAgent);
    return headers.ok ? route.value.send(request, headers.value, signal) : headers;
  }

  #routeFor(credential: Credential): Result<Route, KubeError> {
    const identity = credential.certificate?.certificate;
    if (this.#route !== undefined && this.#route.identity === identity) return ok(this.#route);
    const endpoint = endpointOf(this.#config, credential.certificate);
    if (!endpoint.ok) return endpoint;
    this.#retire();
    this.#route = new Route(endpoint.value, identity, this.#options);
    return ok(this.#route);
  }

  #retire(): void {
    if (this.#route === undefined) return;
    this.#route.drain();
    this.#retired = [...this.#retired, this.#route].filter((route) => !route.isEmpty);
  }
}

/** The connections to the server with one client certificate. The protocol is detected by the first connection. */
class Route {
  readonly identity: string | undefined;
  readonly #endpoint: TlsEndpoint;
  readonly #prefix: string;
  readonly #pool: Http2Pool;
  #http1: Http1Carrier | undefined;

  constructor(endpoint: TlsEndpoint, identity: string | undefined, options: PoolOptions) {
    this.identity = identity;
    this.#endpoint = endpoint;
    this.#prefix = endpoint.url.pathname.replace(/\/$/, "");
    this.#pool = new Http2Pool(endpoint, options);
    if (endpoint.url.protocol === "http:") this.#http1 = new Http1Carrier(endpoint);
  }

  async send(request: TransportRequest, headers: RequestHeaders, signal: AbortSignal): Promise<Result<TransportResponse, KubeError>> {
    const path = `${this.#prefix}${request.path}`;
    if (this.#http1 !== undefined) return this.#http1.send({ ...request, path }, headers, signal);
    const own = { ":method": request.method, ":path": path, ":scheme": "https", ":authority": this.#endpoint.url.host };
    const stream = await this.#pool.open(
      { ...own, ...headers },
      { endStream: request.body === undefined, mayLeave: request.mayLeave },
      signal,
    );
    if (!stream.ok) return err(stream.error);
    if (stream.value !== "http/1.1") {
      return responseOn(stream.value, request.body, { server: this.#endpoint.server, signal, isClosed: () => this.#pool.isClosed });
    }
    this.#http1 ??= new Http1Carrier(this.#endpoint);
    return this.#http1.send({ ...request, path }, headers, signal);
  }

  get isEmpty(): boolean {
    return this.#pool.isEmpty && (this.#http1?.isEmpty ?? true);
  }

  drain(): void {
    this.#pool.drain();
    if (this.#http1?.isEmpty === true) this.#http1.close();
  }

  async close(): Promise<void> {
    this.#http1?.close();
    await this.#pool.close();
  }
}

function isSame(a: Credential, b: Credential): boolean {
  return a.token === b.token && a.certificate?.certificate === b.certificate?.certificate;
}

/** Discards a response: starting to read its body and stopping closes its stream. */
async function discard(answer: TransportResponse): Promise<void> {
  for await (const piece of answer.body) {
    if (piece.ok) break;
  }
}
