/** The cluster over HTTP(S), for clients in other processes: kubectl, operators in other languages. Opened on demand. */
import { ok, type Clock, type Logger, type Result } from "#base";
import { ANONYMOUS, serveHttp, type ApiServer, type User } from "#kube-server";
import { ALL_ADDRESSES, LOOPBACK, type Authority } from "./authority.ts";

/**
 * Where to listen. Port 0: any free port; plain HTTP is for loopback only.
 *
 * @example await cluster.listen({ port: 6443 })
 */
export type ListenOptions = { readonly host?: string; readonly port?: number; readonly http?: boolean };

/**
 * The address of a cluster that listens.
 *
 * @example const { url } = await cluster.listen(); // "https://127.0.0.1:41243"
 */
export type Endpoint = {
  readonly url: string;
  /** PEM of the certificate authority of the server. Absent with plain HTTP. */
  readonly certificateAuthority: string | undefined;
};

export type OpenEndpoint = Endpoint & { readonly address: string; readonly close: () => Promise<void> };

type Served = {
  readonly authority: Authority;
  readonly server: ApiServer;
  readonly authenticate: (token: string) => User | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
};

/** The URL of a server that listens on every address has the loopback address. */
function hostInUrl(host: string): string {
  if (ALL_ADDRESSES.includes(host)) return LOOPBACK;
  return host.includes(":") ? `[${host}]` : host;
}

export async function openEndpoint(
  { host = LOOPBACK, port = 0, http = false }: ListenOptions,
  served: Served,
): Promise<Result<OpenEndpoint, string>> {
  const certificate = http ? ok(undefined) : served.authority.certificate(host);
  if (!certificate.ok) return certificate;
  const place = { host, port, certificate: certificate.value?.server, clientAuthority: certificate.value?.authority };
  const { server, authenticate, logger, clock } = served;
  const listener = await serveHttp(place, { server, authenticate, logger, clock, anonymous: ANONYMOUS });
  if (!listener.ok) return listener;
  const address = `${hostInUrl(host)}:${listener.value.port}`;
  const url = `${http ? "http" : "https"}://${address}`;
  return ok({ url, address, certificateAuthority: certificate.value?.authority, close: listener.value.close });
}
