/**
 * The operator's own small HTTP server: /livez and /readyz for the kubelet, /metrics for Prometheus.
 *
 * It answers from memory only. A health check that asked the API server would restart the operator whenever the API server is
 * slow, which is when restarts hurt most.
 *
 * Clients are not authenticated, so connections that send nothing, or slowly, must not keep a probe from its answer: each serves one
 * request within seconds, and when there are too many, the oldest is closed for the newest.
 */
import { Buffer } from "node:buffer";
import { map, mapErr, type Clock, type MetricsRegistry, type Result } from "#base";
import { listen, writeHead, type HttpRequest, type HttpResponse, type Listener, type ListenerLimits } from "#listener";

export type Health = {
  readonly live: boolean;
  readonly ready: boolean;
  /** One line per part that is checked: "informer latticeclusters.lattice.dev": "watching". */
  readonly details: Readonly<Record<string, string>>;
};

export type HealthServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly health: () => Health;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  /** 512: more than can wait to be accepted at once, so that a flood does not close a probe before its request is read. */
  readonly maxConnections?: number;
};

export type HealthServer = { readonly url: string; close(): Promise<void> };

/** For requests without a body and answers from memory. */
const LIMITS: Partial<ListenerLimits> = { requestMs: 3_000, headersMs: 2_000, checkMs: 1_000, stallMs: 5_000, headerBytes: 8 * 1024 };
const MAX_CONNECTIONS = 512;

export async function startHealthServer(options: HealthServerOptions): Promise<Result<HealthServer, string>> {
  const { host, port, clock, maxConnections = MAX_CONNECTIONS } = options;
  const limits = { ...LIMITS, connections: maxConnections };
  const listening = await listen({ host, port, clock, limits, overflow: "close-oldest" }, (request, response) =>
    answer(request, response, options),
  );
  const described = mapErr(listening, (reason) => `cannot listen on ${host}:${port} for health and metrics: ${reason}`);
  return map(described, (listener) => ({ url: urlOf(listener), close: listener.close }));
}

function answer(request: HttpRequest, response: HttpResponse, options: HealthServerOptions): void {
  if (request.method !== "GET" && request.method !== "HEAD") return send(response, 405, "only GET is answered here\n");
  const path = (request.url ?? "/").split("?", 1)[0];
  switch (path) {
    case "/livez":
    case "/healthz":
      return sendHealth(response, options.health(), "live");
    case "/readyz":
      return sendHealth(response, options.health(), "ready");
    case "/metrics":
      return send(response, 200, options.metrics.render(), "text/plain; version=0.0.4; charset=utf-8");
    case "/":
      return send(response, 200, "lattice operator: /livez /readyz /metrics\n");
    default:
      return send(response, 404, "not found; there is /livez, /readyz and /metrics\n");
  }
}

function sendHealth(response: HttpResponse, health: Health, part: "live" | "ready"): void {
  const details = Object.entries(health.details).map(([name, state]) => `${name}: ${state}\n`);
  send(response, health[part] ? 200 : 503, `${health[part] ? "ok" : `not ${part}`}\n${details.join("")}`);
}

function send(response: HttpResponse, code: number, text: string, type = "text/plain; charset=utf-8"): void {
  const headers = { "content-type": type, "content-length": Buffer.byteLength(text), "x-content-type-options": "nosniff" };
  writeHead(response, code, { ...headers, connection: "close" });
  response.end(text);
}

function urlOf({ address, port }: Listener): string {
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}
