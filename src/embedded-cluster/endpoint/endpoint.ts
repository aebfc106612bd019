/** The cluster over HTTP(S), for clients in other processes: kubectl, operators in other languages. Opened on demand. */
import { err, ok, type Clock, type Logger, type Result } from "#base";
import { firstPorts, portsAfter, type ClusterIdentity } from "../identity/index.ts";
import { ANONYMOUS, serveHttp, type ApiServer, type User } from "#kube-server";
import { ALL_ADDRESSES, LOOPBACK, type Authority } from "./authority.ts";

/**
 * Where to listen. Port 0 (the default): the port that the data folder keeps, else any free port. Plain HTTP is for loopback only.
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
  /** The port that the data folder kept, if another process uses it: the URL has the next free port, which is kept from now on. */
  readonly movedFrom?: number;
};

/**
 * A sentence for users of a cluster that has moved to another port; undefined if it has not.
 *
 * @example const moved = describeMove(await cluster.listen()); // "port 23456, on which this cluster listened before, is in use by …"
 */
export function describeMove({ url, movedFrom }: Endpoint): string | undefined {
  if (movedFrom === undefined) return undefined;
  const { port } = new URL(url);
  return `port ${movedFrom}, on which this cluster listened before, is in use by another process; it now listens on port ${port}: use the kubeconfig that is written now instead of earlier ones`;
}

export type OpenEndpoint = Endpoint & { readonly address: string; readonly close: () => Promise<void> };

type Served = {
  readonly authority: Authority;
  /** Absent without a data folder. */
  readonly identity: ClusterIdentity | undefined;
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
  const { server, authenticate, logger, clock, identity } = served;
  const ports = portsToTry(port, identity);
  const place = { host, ...ports, certificate: certificate.value?.server, clientAuthority: certificate.value?.authority };
  const listener = await serveHttp(place, { server, authenticate, logger, clock, anonymous: ANONYMOUS });
  if (!listener.ok) return listener;
  const { port: bound, close } = listener.value;
  const kept = identity === undefined || identity.port === bound ? ok(undefined) : identity.keepPort(bound);
  if (!kept.ok) {
    await close();
    return err(kept.error);
  }
  const address = `${hostInUrl(host)}:${bound}`;
  const url = `${http ? "http" : "https"}://${address}`;
  const moved = port === 0 && identity?.port !== undefined && identity.port !== bound ? { movedFrom: identity.port } : {};
  return ok({ url, address, certificateAuthority: certificate.value?.authority, close, ...moved });
}

type Ports = { readonly port: number; readonly otherPorts?: Iterable<number> };

/** A port that the caller gives is the only one to try. */
function portsToTry(port: number, identity: ClusterIdentity | undefined): Ports {
  if (port !== 0 || identity === undefined) return { port };
  if (identity.port !== undefined) return { port: identity.port, otherPorts: portsAfter(identity.port) };
  const [first = 0, ...otherPorts] = firstPorts();
  return { port: first, otherPorts };
}
