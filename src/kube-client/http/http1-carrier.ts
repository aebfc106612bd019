/**
 * HTTP/1.1 for servers without HTTP/2, and for plain http:// on this machine. One connection per open call, kept open between calls; idle
 * connections of Node's agent do not keep the process alive.
 */
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { TLSSocket } from "node:tls";
import { err, ok, type Result } from "#base";
import { failure, notSent, type KubeError } from "../errors.ts";
import type { TransportResponse, TransportRequest } from "../transport.ts";
import { connectFailure, connectionLost } from "./connection-error.ts";
import { plainHeaders, type RequestHeaders } from "./headers.ts";
import { hostOf, portOf, type TlsEndpoint } from "./tls-socket.ts";

const TCP_KEEP_ALIVE_MS = 15_000;

export class Http1Carrier {
  readonly #endpoint: TlsEndpoint;
  readonly #agent: HttpAgent;
  #closed = false;

  constructor(endpoint: TlsEndpoint) {
    this.#endpoint = endpoint;
    const options = { keepAlive: true, keepAliveMsecs: TCP_KEEP_ALIVE_MS };
    this.#agent = endpoint.url.protocol === "https:" ? new HttpsAgent({ ...options, ...endpoint.tls }) : new HttpAgent(options);
  }

  send(request: TransportRequest, headers: RequestHeaders, signal: AbortSignal): Promise<Result<TransportResponse, KubeError>> {
    if (this.#closed || signal.aborted) return Promise.resolve(failure("cancelled", "the call was cancelled before it was sent", "safe"));
    if (request.mayLeave?.() === false) return Promise.resolve(notSent());
    const outgoing = this.#open(request, headers);
    const wasConnected = connectionOf(outgoing);
    const onAbort = () => outgoing.destroy();
    signal.addEventListener("abort", onAbort, { once: true });
    outgoing.once("close", () => signal.removeEventListener("abort", onAbort));
    return new Promise((resolve) => {
      outgoing.once("response", (message) => resolve(ok(this.#responseFrom(message, signal))));
      outgoing.on("error", (thrown) => resolve(err(this.#breakOf(wasConnected(), thrown, signal))));
      outgoing.end(request.body);
    });
  }

  get isEmpty(): boolean {
    return Object.keys(this.#agent.sockets).length === 0;
  }

  close(): void {
    this.#closed = true;
    this.#agent.destroy();
  }

  #open(request: TransportRequest, headers: RequestHeaders): ClientRequest {
    const { url } = this.#endpoint;
    const length = request.body === undefined ? {} : { "content-length": String(Buffer.byteLength(request.body)) };
    const options = { host: hostOf(url), port: portOf(url), method: request.method, path: request.path, agent: this.#agent };
    return (url.protocol === "https:" ? httpsRequest : httpRequest)({ ...options, headers: { ...headers, ...length } });
  }

  #responseFrom(message: IncomingMessage, signal: AbortSignal): TransportResponse {
    const explain = (thrown: unknown) => this.#ended(signal) ?? connectionLost(this.#endpoint.server, thrown);
    // handled here as well: the connection may break before the body is read
    message.on("error", () => {});
    return { code: message.statusCode ?? 0, headers: plainHeaders(message.headers), body: bodyOf(message, explain) };
  }

  #breakOf(wasConnected: boolean, thrown: unknown, signal: AbortSignal): KubeError {
    const { server } = this.#endpoint;
    return this.#ended(signal) ?? (wasConnected ? connectionLost(server, thrown) : connectFailure(server, thrown));
  }

  #ended(signal: AbortSignal): KubeError | undefined {
    if (signal.aborted) return failure("cancelled", "the call was cancelled").error;
    return this.#closed ? failure("cancelled", "the client was closed").error : undefined;
  }
}

/** Whether the request had a connection; without one nothing was sent. */
function connectionOf(outgoing: ClientRequest): () => boolean {
  let connected = false;
  outgoing.once("socket", (socket) => {
    if (!socket.connecting) connected = true;
    else socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", () => (connected = true));
  });
  return () => connected;
}

async function* bodyOf(
  message: IncomingMessage,
  explain: (thrown: unknown) => KubeError,
): AsyncGenerator<Result<Uint8Array, KubeError>, void> {
  try {
    for await (const chunk of message) yield ok(chunk as Uint8Array);
  } catch (thrown) {
    return yield err(explain(thrown));
  }
  if (!message.complete) yield err(explain(new Error("the server ended the response early")));
}
