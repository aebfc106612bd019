/**
 * The operator's own small HTTP server: /livez and /readyz for the kubelet, /metrics for Prometheus.
 *
 * It answers from memory only. A health check that asked the API server would restart the operator whenever the API server is
 * slow, which is when restarts hurt most.
 *
 * Clients are not authenticated, so connections that send nothing, or slowly, must not keep a probe from its answer: each serves one
 * request within seconds, and when there are too many, the oldest is closed for the newest.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
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
  /** 512: more than can wait to be accepted at once, so that a flood does not close a probe before its request is read. */
  readonly maxConnections?: number;
};

export type HealthServer = { readonly url: string; close(): Promise<void> };

/** For requests without a body and answers that are at hand. Node checks the time limits at intervals; 30 seconds unless set. */
const LIMITS = { requestTimeout: 3_000, headersTimeout: 2_000, connectionsCheckingInterval: 500, maxHeaderSize: 8 * 1024 };
/** A client that neither sends nor reads. */
const IDLE_MS = 5_000;
const MAX_CONNECTIONS = 512;

export async function startHealthServer(options: HealthServerOptions): Promise<Result<HealthServer, string>> {
  const server = createServer(LIMITS, (request, response) => answer(request, response, options));
  server.setTimeout(IDLE_MS);
  closeOldest(server, options.maxConnections ?? MAX_CONNECTIONS);
  const listening = await listen(server, options);
  if (!listening.ok) return listening;
  return ok({ url: urlOf(server), close: () => close(server) });
}

/** Instead of `server.maxConnections`, which refuses the newest. */
function closeOldest(server: Server, max: number): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (open.size > max) oldest?.destroy();
  });
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
  const headers = { "content-type": type, "content-length": Buffer.byteLength(text), "x-content-type-options": "nosniff" };
  response.writeHead(code, { ...headers, connection: "close" }).end(text);
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
