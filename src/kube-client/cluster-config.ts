/**
 * Where an API server is, whom to trust there and who we are: what a kubeconfig or a pod's service account comes down to.
 *
 * There is no way to say "do not verify": a client that talks to whoever answers hands its token to them.
 */
import { err, ok, type Brand, type Result, type Sensitive } from "#base";
import type { KubeError } from "./errors.ts";

/** https://, or http:// on this machine; without a "/" at its end. */
export type ServerUrl = Brand<string, "ServerUrl">;

export type ClusterConfig = {
  readonly server: ServerUrl;
  /** PEM, one or several; absent: the public authorities that Node knows. */
  readonly certificateAuthority?: string | undefined;
  /** The name that the server's certificate must carry, when it is not the one in its address. */
  readonly serverName?: string | undefined;
  readonly credentials: Credentials;
  readonly impersonate?: Impersonation | undefined;
  /** Where commands act when nobody says otherwise. */
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

/** Who we are may change while we run: token files are rewritten, plugins' tokens expire. */
export interface Credentials {
  get(signal: AbortSignal): Promise<Result<Credential, KubeError>>;
  /** The server answered 401 to this one. True: ask again, another may come. */
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
  if (url.username !== "" || url.password !== "") return err("the server's address must not hold a user name or password");
  if (url.search !== "" || url.hash !== "") return err("the server's address must not have a query");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return err("http:// is accepted only for a server on this machine; write https://, or credentials would travel in the clear");
  }
  return ok(`${url.origin}${url.pathname}`.replace(/\/+$/, "") as ServerUrl);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(host);
}
