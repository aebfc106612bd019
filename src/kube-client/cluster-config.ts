/**
 * The address of an API server, its certificate authority and the client's credentials: from a kubeconfig or a pod's service account.
 *
 * Verification cannot be turned off: a client would send its token to an unverified server.
 */
import { err, ok, type Brand, type Result, type Sensitive } from "#base";
import type { KubeError } from "./errors.ts";

/** https://, or http:// on this machine; without a trailing "/". */
export type ServerUrl = Brand<string, "ServerUrl">;

export type ClusterConfig = {
  readonly server: ServerUrl;
  /** PEM, one or several; absent: the public authorities of Node. */
  readonly certificateAuthority?: string | undefined;
  /** The name in the server's certificate, if it is not the one in its address. */
  readonly serverName?: string | undefined;
  readonly credentials: Credentials;
  readonly impersonate?: Impersonation | undefined;
  /** The default namespace of commands. */
  readonly namespace?: string | undefined;
};

export type Impersonation = {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
};

export type Credential = {
  readonly token?: Sensitive<string> | undefined;
  readonly certificate?: ClientCertificate | undefined;
};

/** Both PEM. */
export type ClientCertificate = { readonly certificate: string; readonly key: Sensitive<string> };

/** Credentials may change while the process runs: token files are rewritten, tokens of plugins expire. */
export interface Credentials {
  get(signal: AbortSignal): Promise<Result<Credential, KubeError>>;
  /** The server returned 401 for this credential. True: another one may be available. */
  refused(credential: Credential): boolean;
  close(): void;
}

export function staticCredentials(credential: Credential): Credentials {
  return { get: () => Promise.resolve(ok(credential)), refused: () => false, close() {} };
}

export function parseServerUrl(raw: string): Result<ServerUrl, string> {
  const url = URL.parse(raw);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return err("the server's address must begin with https://");
  }
  if (url.username !== "" || url.password !== "") return err("the server's address must not contain a user name or password");
  if (url.search !== "" || url.hash !== "") return err("the server's address must not have a query");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return err("http:// is accepted only for a server on this machine; write https://, or credentials would be sent unencrypted");
  }
  return ok(`${url.origin}${url.pathname}`.replace(/\/+$/, "") as ServerUrl);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(host);
}
