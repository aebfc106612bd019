/**
 * `/clusters/<name>/…`: the API servers of the children, for clients on the parent that must not connect to a child themselves.
 *
 * Cluster API's managers are its first clients: a child that is not connected is a 503, because a 401 or an empty
 * response makes them replace machines.
 */
import { describeThrown, fromPromise, map, mapErr, type Clock, type Logger, type Metrics, type Result } from "#base";
import type { OpenTunnel } from "#link";
import {
  abortResponse,
  LISTENER_LIMITS,
  listen,
  type AcceptUpgrade,
  type HttpRequest,
  type HttpResponse,
  type ListenerLimits,
  type ListenerTls,
} from "#listener";
import { writeAudit } from "./audit.ts";
import { OpenRequests } from "./open-requests.ts";
import { ProxiedRequest, type ProxyContext } from "./proxied-request.ts";

export type ApiProxyOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: ListenerTls;
  /** Whether the token is valid for this cluster. False for a cluster that does not exist. */
  readonly authenticate: (token: string, cluster: string) => boolean | Promise<boolean>;
  readonly openTunnel: OpenTunnel;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Open requests of one cluster, watches included. Default: 256. */
  readonly requestsPerCluster?: number | undefined;
  /** From the opened tunnel to the head of the response. Default: two minutes. */
  readonly responseMs?: number | undefined;
  /** Instead of the defaults of the listener. */
  readonly limits?: Partial<ListenerLimits> | undefined;
};

export type ApiProxy = {
  readonly address: string;
  readonly port: number;
  /** For new connections. */
  reloadTls(tls: ListenerTls): Result<void, string>;
  /** Ends every request and connection. */
  close(): Promise<void>;
};

const REQUESTS_PER_CLUSTER = 256;
const RESPONSE_MS = 120_000;

export async function startApiProxy(options: ApiProxyOptions): Promise<Result<ApiProxy, string>> {
  const { host, port, tls, clock, metrics, requestsPerCluster = REQUESTS_PER_CLUSTER, responseMs = RESPONSE_MS } = options;
  const limits = { ...LISTENER_LIMITS, ...options.limits };
  const gauge = metrics.gauge("lattice_api_proxy_open_requests", "Open requests to the API servers of children.");
  const counter = metrics.counter("lattice_api_proxy_requests_total", "Requests to the API servers of children.");
  const openRequests = new OpenRequests(requestsPerCluster, gauge);
  const context: ProxyContext = { ...options, limits, openRequests, requestsPerCluster, responseMs };
  const serve = async (request: HttpRequest, response: HttpResponse, accept?: AcceptUpgrade) => {
    const started = clock.monotonic();
    const proxied = new ProxiedRequest(context, request, response, accept);
    const { audit } = proxied;
    const run = await fromPromise(proxied.run(), describeThrown);
    if (!run.ok) {
      options.logger.error("api request failed", { reason: run.error });
      abortResponse(response);
    }
    counter.add(1, { cluster: audit.cluster ?? "", code: String(audit.status) });
    writeAudit(options.logger, audit, clock.monotonic() - started);
  };
  const listening = await listen(
    {
      host,
      port,
      certificate: tls,
      minTlsVersion: "TLSv1.3",
      limits,
      clock,
      upgrade: (request, response, accept) => void serve(request, response, accept),
    },
    (request, response) => void serve(request, response),
  );
  return map(
    mapErr(listening, (reason) => `cannot listen on ${host}:${port} for the API proxy: ${reason}`),
    (listener) => ({ ...listener, reloadTls: listener.reloadCertificate }),
  );
}
