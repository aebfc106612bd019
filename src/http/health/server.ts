/**
 * The operator's own small HTTP server: /livez and /readyz for the kubelet, /metrics for Prometheus.
 *
 * It answers from memory only. A health check that asked the API server would restart the operator whenever the API server is
 * slow, which is when restarts hurt most.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describeThrown, err, ok, type MetricsRegistry, type Result } from "#base";

export type Health = {
  readonly live: boolean;
  readonly ready: boolean;
  /** One line per part that is looked at: "informer latticeclusters.lattice.dev": "watching". */
  readonly details: Readonly<Record<string, string>>;
};

export type HealthServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly health: () => Health;
  readonly metrics: MetricsRegistry;
};

export type HealthServer = { readonly url: string; close(): Promise<void> };

/** Short questions, short answers: nothing here needs more. */
const LIMITS = { requestTimeout: 5_000, headersTimeout: 5_000, keepAliveTimeout: 5_000, maxHeaderSize: 8 * 1024 };
const MAX_CONNECTIONS = 64;

export async function startHealthServer(options: HealthServerOptions): Promise<Result<HealthServer, string>> {
  const server = createServer(LIMITS, (request, response) => answer(request, response, options));
  server.maxConnections = MAX_CONNECTIONS;
  const listening = await listen(server, options);
  if (!listening.ok) return listening;
  return ok({ url: urlOf(server), close: () => close(server) });
}

function answer(request: IncomingMessage, response: ServerResponse, options: HealthServerOptions): void {
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

function sendHealth(response: ServerResponse, health: Health, part: "live" | "ready"): void {
  const details = Object.entries(health.details).map(([name, state]) => `${name}: ${state}\n`);
  send(response, health[part] ? 200 : 503, `${health[part] ? "ok" : `not ${part}`}\n${details.join("")}`);
}

function send(response: ServerResponse, code: number, text: string, type = "text/plain; charset=utf-8"): void {
  response
    .writeHead(code, { "content-type": type, "content-length": Buffer.byteLength(text), "x-content-type-options": "nosniff" })
    .end(text);
}

function listen(server: Server, { host, port }: HealthServerOptions): Promise<Result<void, string>> {
  return new Promise((resolve) => {
    server.once("error", (error) => resolve(err(`cannot listen on ${host}:${port} for health and metrics: ${describeThrown(error)}`)));
    server.listen(port, host, () => resolve(ok(undefined)));
  });
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
