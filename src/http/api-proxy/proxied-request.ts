/**
 * One request of a client: authenticated, sent through the tunnel of its cluster, and answered as the response arrives.
 *
 * The tunnel ends when the client disconnects, when the body is refused, or when no response comes in time; a refusal is the reason.
 */
import type { Duplex } from "node:stream";
import { err, fromPromise, ok, type Clock, type Logger, type Result } from "#base";
import { headersOfRaw, requestThroughTunnel, type OpenTunnel, type TunnelAnswer } from "#link";
import {
  abortResponse,
  discardBody,
  pacedWriter,
  writeHead,
  type AcceptUpgrade,
  type HttpRequest,
  type HttpResponse,
  type ListenerLimits,
} from "#listener";
import type { ProxyAudit } from "./audit.ts";
import type { OpenRequests } from "./open-requests.ts";
import {
  AUTHENTICATION_FAILED,
  failedInTunnel,
  invalidRequest,
  NO_RESPONSE,
  sendRefusal,
  TOO_LARGE,
  tooManyRequests,
  unavailable,
  UNAUTHORIZED,
  UPGRADE_WITH_BODY,
  type ProxyRefusal,
} from "./proxy-refusal.ts";
import { bearerToken, parseProxyRoute, type ProxyRoute } from "./proxy-route.ts";
import { hasBody, streamBody } from "./request-body.ts";

export type ProxyContext = {
  readonly authenticate: (token: string, cluster: string) => boolean | Promise<boolean>;
  readonly openTunnel: OpenTunnel;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ListenerLimits;
  readonly openRequests: OpenRequests;
  readonly requestsPerCluster: number;
  readonly responseMs: number;
};

/** 499: the client has gone before a response, as in logs of other proxies. */
const CLIENT_GONE = 499;

export class ProxiedRequest {
  readonly #context: ProxyContext;
  readonly #request: HttpRequest;
  readonly #response: HttpResponse;
  readonly #accept: AcceptUpgrade | undefined;
  readonly #stop = new AbortController();
  #refusal: ProxyRefusal | undefined;
  readonly audit: ProxyAudit;

  /** `accept`: for requests with the header Upgrade. */
  constructor(context: ProxyContext, request: HttpRequest, response: HttpResponse, accept: AcceptUpgrade | undefined) {
    this.#context = context;
    this.#request = request;
    this.#response = response;
    this.#accept = accept;
    this.audit = { method: request.method ?? "", path: "", status: CLIENT_GONE };
    response.once("close", () => this.#stop.abort());
    response.on("error", () => this.#stop.abort());
  }

  /** Resolves when the response has been written, or the client has gone. */
  async run(): Promise<void> {
    const route = await this.#authenticate();
    if (!route.ok) return this.#refuse(route.error);
    const { cluster } = route.value;
    const { openRequests, requestsPerCluster } = this.#context;
    if (!openRequests.take(cluster)) return this.#refuse(tooManyRequests(requestsPerCluster));
    try {
      const answer = await this.#send(route.value);
      if (answer.ok) await (answer.value.upgrade === undefined ? this.#respond(answer.value) : this.#upgrade(answer.value));
      else this.#refuse(answer.error);
    } finally {
      openRequests.release(cluster);
    }
  }

  async #authenticate(): Promise<Result<ProxyRoute, ProxyRefusal>> {
    const route = parseProxyRoute(this.#request.url ?? "");
    if (!route.ok) return route;
    const { cluster, path } = route.value;
    this.audit.path = path;
    const token = bearerToken(this.#request.headers.authorization);
    if (token === undefined) return err(UNAUTHORIZED);
    const checked = await fromPromise((async () => this.#context.authenticate(token, cluster))(), () => AUTHENTICATION_FAILED);
    if (!checked.ok) return checked;
    if (!checked.value) return err(UNAUTHORIZED);
    this.audit.cluster = cluster;
    return route;
  }

  async #send({ cluster, path }: ProxyRoute): Promise<Result<TunnelAnswer, ProxyRefusal>> {
    const { openTunnel, clock, limits, responseMs } = this.#context;
    const isBody = hasBody(this.#request);
    if (isBody && this.#accept !== undefined) return err(UPGRADE_WITH_BODY);
    if (Number(this.#request.headers["content-length"] ?? 0) > limits.bodyBytes) return err(TOO_LARGE);
    const frames = await openTunnel(cluster, this.#stop.signal);
    if (!frames.ok) return err(unavailable(frames.error.message));
    const stop = (refusal?: ProxyRefusal) => this.#stopWith(refusal);
    const cancelTimer = clock.after(responseMs, () => stop(NO_RESPONSE));
    const input = {
      method: this.#request.method ?? "",
      path,
      headers: headersOfRaw(this.#request.rawHeaders).filter(([name]) => !name.startsWith(":")),
      body: isBody ? streamBody(this.#request, { limits, clock, stop }) : undefined,
      upgrade: this.#accept !== undefined,
    };
    const answer = await requestThroughTunnel(frames.value, input, this.#stop.signal);
    cancelTimer();
    if (answer.ok) return ok(answer.value);
    const { kind, message } = answer.error;
    return err(this.#refusal ?? (kind === "invalid" ? invalidRequest(message) : failedInTunnel(message)));
  }

  #stopWith(refusal: ProxyRefusal | undefined): void {
    this.#refusal ??= refusal;
    this.#stop.abort();
  }

  #refuse(refusal: ProxyRefusal): void {
    const { limits, clock } = this.#context;
    if (this.#response.destroyed || this.#response.closed) return;
    this.audit.status = refusal.code;
    discardBody(this.#request, { limits, clock });
    sendRefusal(this.#response, refusal);
  }

  async #respond({ status, headers, body }: TunnelAnswer): Promise<void> {
    this.audit.status = status;
    writeHead(this.#response, status, recordOf(headers));
    // the head of a watch must not wait for its first event
    if (!("stream" in this.#response)) this.#response.flushHeaders();
    const write = pacedWriter(this.#response, { encoding: "utf8", signal: this.#stop.signal, ahead: 0 });
    for await (const piece of body) {
      // the client must not take the part for the whole
      if (!piece.ok) return abortResponse(this.#response);
      await write(piece.value);
    }
    this.#response.end();
    // a response may come before the end of the request
    const { limits, clock } = this.#context;
    if (!this.#request.complete) discardBody(this.#request, { limits, clock });
  }

  async #upgrade({ status, headers, body, upgrade = "", send }: TunnelAnswer): Promise<void> {
    const stream = this.#accept?.([["connection", "Upgrade"], ["upgrade", upgrade], ...headers]);
    if (stream === undefined) return;
    Object.assign(this.audit, { status, upgrade });
    stream.once("close", () => this.#stop.abort());
    send(stream.iterator({ destroyOnReturn: false }));
    for await (const piece of body) {
      if (!piece.ok) return void stream.destroy();
      if (!stream.write(piece.value)) await drained(stream, this.#stop.signal);
    }
    stream.end(() => stream.destroy());
  }
}

function drained(stream: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    if (signal.aborted) return resolve();
    stream.on("drain", done);
    signal.addEventListener("abort", done);
  });
}

function recordOf(headers: TunnelAnswer["headers"]): Record<string, string | string[]> {
  const grouped = new Map<string, string[]>();
  for (const [name, value] of headers) grouped.set(name, [...(grouped.get(name) ?? []), value]);
  return Object.fromEntries([...grouped].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]));
}
