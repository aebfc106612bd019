/**
 * The bootstrap webhook of a cell: register, csr, renew, report. TLS 1.3, tokens instead of client certificates.
 *
 * It is the one port of a cell that clients without any certificate reach, so the oldest connection is closed for the newest when there are too many.
 */
import { describeThrown, fromPromise, map, mapErr, type Clock, type Logger, type Metrics, type Result } from "#base";
import { discardBody, listen, type HttpRequest, type HttpResponse, type ListenerLimits, type ListenerTls } from "#listener";
import { internalError, sendAnswer } from "./answers.ts";
import { BootstrapAudit } from "./audit.ts";
import { BootstrapHandler } from "./handler.ts";
import { BOOTSTRAP_LIMITS, type BootstrapLimits } from "./limits.ts";
import type { OnReport } from "./ports.ts";
import { clientAddress } from "./rate-limits.ts";
import type { Registrations } from "./registrations.ts";

export type BootstrapServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: ListenerTls;
  readonly registrations: Registrations;
  /** A node reported a failed step. Its text is printable, and has at most 1 KiB. */
  readonly onReport?: OnReport | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Instead of the defaults in `BOOTSTRAP_LIMITS`. */
  readonly limits?: Partial<BootstrapLimits> | undefined;
};

export type BootstrapServer = {
  readonly port: number;
  /** Another certificate for new connections; after an error the previous one is still used. */
  readonly reloadTls: (tls: ListenerTls) => Result<void, string>;
  readonly close: () => Promise<void>;
};

export async function startBootstrapServer(options: BootstrapServerOptions): Promise<Result<BootstrapServer, string>> {
  const { host, port, tls, clock, onReport = () => {} } = options;
  const limits = { ...BOOTSTRAP_LIMITS, ...options.limits };
  const serving = {
    handler: new BootstrapHandler({ registrations: options.registrations, onReport, clock, limits }),
    audit: new BootstrapAudit(options),
    logger: options.logger,
    limits: limits.listener,
    clock,
  };
  const listening = await listen(
    { host, port, clock, certificate: tls, minTlsVersion: "TLSv1.3", limits: limits.listener, overflow: "close-oldest" },
    (request, response) => void serve(request, response, serving),
  );
  const described = mapErr(listening, (reason) => `cannot listen on ${host}:${port} for the bootstrap of clusters: ${reason}`);
  return map(described, (listener) => ({ port: listener.port, reloadTls: listener.reloadCertificate, close: listener.close }));
}

type Serving = {
  readonly handler: BootstrapHandler;
  readonly audit: BootstrapAudit;
  readonly logger: Logger;
  readonly limits: ListenerLimits;
  readonly clock: Clock;
};

async function serve(request: HttpRequest, response: HttpResponse, serving: Serving): Promise<void> {
  const { handler, audit, logger } = serving;
  const address = clientAddress(request.socket.remoteAddress);
  const handled = await fromPromise(handler.handle(request), describeThrown);
  if (!handled.ok) logger.error("bootstrap request met a bug", { error: handled.error });
  const { answer, ...about } = handled.ok ? handled.value : { endpoint: "none", cluster: undefined, address, answer: internalError() };
  audit.record(about, answer);
  // a body that was not read ends a short time after the answer: not before, because a client may read its manifests slowly
  request.resume();
  // on HTTP/2 the response itself finishes only with its request
  const written = "stream" in response ? response.stream : response;
  if (written.destroyed) return;
  written.once("finish", () => request.complete || discardBody(request, serving));
  sendAnswer(response, answer);
}
