/**
 * Opens one TLS connection.
 *
 * TLS 1.3 is used with every server that supports it; 1.2 is allowed because clients do not control API servers and the load balancers in
 * front of them (the default minimum of kube-apiserver is 1.2). Curves and ciphers are the FIPS profile in both.
 */
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { err, fromThrowing, ok, reveal, type Clock, type Result } from "#base";
import type { ClientCertificate, ClusterConfig } from "../cluster-config.ts";
import { failure, type KubeError } from "../errors.ts";
import { connectFailure } from "./connection-error.ts";

const PROFILE = {
  minVersion: "TLSv1.2",
  ciphers: "TLS_AES_256_GCM_SHA384:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384",
  ecdhCurve: "P-256:P-384",
} as const;
const TCP_KEEP_ALIVE_MS = 15_000;

export type TlsEndpoint = {
  /** The address of the server, for messages. */
  readonly server: string;
  readonly url: URL;
  readonly tls: TlsOptions;
};

/** Options of both `tls.connect` and `https.Agent`. */
export type TlsOptions = {
  readonly secureContext: SecureContext;
  readonly minVersion: typeof PROFILE.minVersion;
  readonly ecdhCurve: string;
  readonly servername?: string;
};

export function endpointOf(config: ClusterConfig, certificate: ClientCertificate | undefined): Result<TlsEndpoint, KubeError> {
  const client = certificate === undefined ? {} : { cert: certificate.certificate, key: reveal(certificate.key) };
  const authority = config.certificateAuthority === undefined ? {} : { ca: config.certificateAuthority };
  const context = fromThrowing(
    () => createSecureContext({ ...PROFILE, ...authority, ...client }),
    // the error of OpenSSL is not helpful, and could quote the key
    (): KubeError => ({
      kind: "network",
      message: `the certificates for ${config.server} cannot be used: check that certificate authority, client certificate and client key are PEM and belong together`,
      retry: "useless",
    }),
  );
  if (!context.ok) return context;
  const name = config.serverName === undefined ? {} : { servername: config.serverName };
  const tls = { secureContext: context.value, minVersion: PROFILE.minVersion, ecdhCurve: PROFILE.ecdhCurve, ...name };
  return ok({ server: config.server, url: new URL(config.server), tls });
}

export type DialOptions = { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal };

/** Resolves when the handshake is done and the server's certificate has been verified. */
export function dial(endpoint: TlsEndpoint, options: DialOptions): Promise<Result<TLSSocket, KubeError>> {
  const { url, tls, server } = endpoint;
  return new Promise((resolve) => {
    if (options.signal.aborted) return resolve(failure("cancelled", "the client is closed", "safe"));
    const socket = connect({ host: hostOf(url), port: portOf(url), ALPNProtocols: ["h2", "http/1.1"], ...tls });
    const settle = (result: Result<TLSSocket, KubeError>) => {
      cancelTimer();
      options.signal.removeEventListener("abort", onAbort);
      // the listener is kept: a promise settles once, and an unhandled error would end the process
      if (!result.ok) socket.destroy();
      resolve(result);
    };
    const onError = (thrown: Error) => settle(err(connectFailure(server, thrown)));
    const onAbort = () => settle(failure("cancelled", "the client was closed while it connected", "safe"));
    const cancelTimer = options.clock.after(options.timeoutMs, () =>
      settle(failure("network", `cannot connect to ${server}: it did not respond within ${options.timeoutMs} ms`, "safe")),
    );
    options.signal.addEventListener("abort", onAbort, { once: true });
    socket.on("error", onError);
    socket.once("secureConnect", () => {
      socket.setNoDelay(true);
      socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS);
      settle(ok(socket));
    });
  });
}

/** URLs have IPv6 addresses in brackets; sockets need them without. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}
