/**
 * The admission webhook of an operator: `POST /mutate/deployments` over HTTPS. API servers do not authenticate at webhooks, so the oldest connection
 * is closed for the newest when there are too many: one that holds connections open must not keep an API server out.
 */
import { Buffer } from "node:buffer";
import { describeThrown, fromPromise, map, mapErr, type Result } from "#base";
import { discardBody, listen, writeHead, type HttpRequest, type HttpResponse, type ListenerLimits, type ListenerTls } from "#listener";
import { AdmissionHandler, type AdmissionAnswer, type AdmissionHandlerOptions } from "./handler.ts";
import { ADMISSION_LIMITS, type AdmissionLimits } from "./limits.ts";

export type AdmissionServerOptions = Omit<AdmissionHandlerOptions, "limits"> & {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: ListenerTls;
  /** Instead of the defaults in `ADMISSION_LIMITS`. */
  readonly limits?: Partial<Omit<AdmissionLimits, "listener">> & { readonly listener?: Partial<ListenerLimits> };
};

export type AdmissionServer = {
  readonly port: number;
  /** Another certificate for new connections; open ones continue. After an error the previous one is still used. */
  readonly reloadTls: (tls: ListenerTls) => Result<void, string>;
  readonly close: () => Promise<void>;
};

export async function startAdmissionServer(options: AdmissionServerOptions): Promise<Result<AdmissionServer, string>> {
  const { host, port, tls, clock } = options;
  const limits = { ...ADMISSION_LIMITS, ...options.limits, listener: { ...ADMISSION_LIMITS.listener, ...options.limits?.listener } };
  const handler = new AdmissionHandler({ ...options, limits });
  const listening = await listen(
    { host, port, clock, certificate: tls, limits: limits.listener, overflow: "close-oldest" },
    (request, response) => void serve(request, response, { ...options, handler, limits: limits.listener }),
  );
  const described = mapErr(listening, (reason) => `cannot listen on ${host}:${port} for admission: ${reason}`);
  return map(described, (listener) => ({ port: listener.port, reloadTls: listener.reloadCertificate, close: listener.close }));
}

type Serving = Pick<AdmissionServerOptions, "clock" | "logger"> & { readonly handler: AdmissionHandler; readonly limits: ListenerLimits };

async function serve(request: HttpRequest, response: HttpResponse, { handler, logger, ...reading }: Serving): Promise<void> {
  const handled = await fromPromise(handler.handle(request), describeThrown);
  if (!handled.ok) logger.error("an admission request met a bug", { error: handled.error });
  const written = "stream" in response ? response.stream : response;
  if (written.destroyed) return;
  if (!request.complete) written.once("finish", () => request.complete || discardBody(request, reading));
  send(response, handled.ok ? handled.value : INTERNAL_ERROR);
}

const INTERNAL_ERROR: AdmissionAnswer = { result: "refused", status: 500, body: '{"error":"internal error"}\n' };

function send(response: HttpResponse, { status, body }: AdmissionAnswer): void {
  writeHead(response, status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(body);
}
