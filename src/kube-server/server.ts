/**
 * A whole API server as one thing with a beginning and an end: store, kinds, tokens, certificate, socket.
 *
 * Without a token file there is one administrator, whose token is made here and handed to whoever started the server.
 */
import { randomBytes } from "node:crypto";
import { err, map, mapErr, ok, sensitive, silentLogger, type Clock, type Logger, type Result, type Sensitive } from "#base";
import { createCertificateAuthority, issueCertificate, type CertificateAuthority, type KeyPairPem } from "#pki";
import { ANONYMOUS, MASTERS, parseTokenFile, singleToken, userOf, type TokenTable } from "./auth/index.ts";
import { createGuardedServer, openStore } from "./guarded-server.ts";
import { serveHttp } from "./http/index.ts";
import { builtinKinds } from "./kinds.ts";
import type { ApiServer } from "./rest/api-server.ts";
import type { Store } from "./store/index.ts";

export type ServerOptions = {
  readonly host?: string | undefined;
  /** 0 takes any. */
  readonly port: number;
  /** Plain HTTP; only for loopback. */
  readonly plain: boolean;
  /** The text of a token file. */
  readonly tokens?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger?: Logger | undefined;
};

export type RunningServer = {
  readonly url: string;
  readonly api: ApiServer;
  /** What a client needs to trust the server; absent with plain HTTP. */
  readonly certificateAuthority: string | undefined;
  /** The administrator's, when the server made it; a token file keeps its own. */
  readonly adminToken: Sensitive<string> | undefined;
  /** A certificate with which a client is this user, for a kubeconfig; absent with plain HTTP. Its authority ends with this server. */
  readonly issueClientCertificate: ((person: Person) => Result<KeyPairPem, string>) | undefined;
  readonly close: () => Promise<void>;
};

/** Whom a client certificate stands for. Without groups it is an administrator's. */
export type Person = { readonly name: string; readonly groups?: readonly string[]; readonly lifetimeMs?: number };

const LOOPBACK = "127.0.0.1";

export async function startServer(options: ServerOptions): Promise<Result<RunningServer, string>> {
  const tokens = tokensOf(options.tokens);
  if (!tokens.ok) return err(`the token file: ${tokens.error}`);
  const certificate = options.plain ? ok(undefined) : certificateFor(options.host ?? LOOPBACK, options.clock);
  if (!certificate.ok) return certificate;
  const store = openStore(options);
  if (!store.ok) return store;
  const started = await serve(options, { tokens: tokens.value.table, store: store.value, certificate: certificate.value });
  if (!started.ok) {
    store.value.close();
    return started;
  }
  const { adminToken } = tokens.value;
  const ca = certificate.value?.ca;
  const issueClientCertificate = ca === undefined ? undefined : (person: Person) => clientCertificate(ca, person, options.clock);
  return ok({ ...started.value, certificateAuthority: certificate.value?.authority, adminToken, issueClientCertificate });
}

type Parts = { readonly tokens: TokenTable; readonly store: Store; readonly certificate: ServingCertificate | undefined };
type Served = Pick<RunningServer, "url" | "api" | "close">;

async function serve(options: ServerOptions, { tokens, store, certificate }: Parts): Promise<Result<Served, string>> {
  const { clock, random, host = LOOPBACK, port, dataDir, logger = silentLogger } = options;
  let address = host;
  const types = builtinKinds(store);
  const made = createGuardedServer({ store, types, clock, random, logger, dataDir, authenticate: tokens.userOf, address: () => address });
  if (!made.ok) return made;
  const api = made.value;
  const place = { host, port, certificate: certificate?.server, clientAuthority: certificate?.authority };
  const authenticate = api.authenticate ?? tokens.userOf;
  const listener = await serveHttp(place, { server: api, authenticate, anonymous: ANONYMOUS, logger, clock });
  if (!listener.ok) {
    api.close();
    return listener;
  }
  address = `${host}:${listener.value.port}`;
  if (certificate !== undefined) api.publishClientAuthority?.(certificate.authority);
  const close = async () => {
    api.close();
    await listener.value.close();
    store.close();
  };
  return ok({ url: `${certificate === undefined ? "http" : "https"}://${address}`, api, close });
}

type Tokens = { readonly table: TokenTable; readonly adminToken: Sensitive<string> | undefined };

function tokensOf(text: string | undefined): Result<Tokens, string> {
  if (text !== undefined) return map(parseTokenFile(text), (table) => ({ table, adminToken: undefined }));
  const token = randomBytes(24).toString("base64url");
  return ok({ table: singleToken(token, userOf("admin", "admin", [MASTERS])), adminToken: sensitive(token) });
}

const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

export type ServingCertificate = {
  readonly server: KeyPairPem;
  /** PEM of the authority's certificate: who trusts it trusts the server. */
  readonly authority: string;
  readonly ca: CertificateAuthority;
};

/** An hour into the past: clocks of clients differ. */
/** `addresses`: beside loopback. */
export function certificateFor(
  addresses: string | readonly string[],
  clock: Clock,
  from?: CertificateAuthority,
): Result<ServingCertificate, string> {
  const period = { notBefore: new Date(clock.now() - HOUR_MS), notAfter: new Date(clock.now() + TEN_YEARS_MS) };
  const authority = from === undefined ? createCertificateAuthority({ commonName: "lattice-api-server-ca", ...period }) : ok(from);
  if (!authority.ok) return err(authority.error.message);
  const issued = issueCertificate(authority.value, {
    commonName: "lattice-api-server",
    notBefore: period.notBefore,
    notAfter: authority.value.notAfter,
    usages: ["server"],
    dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
    ipAddresses: [...new Set([addresses, LOOPBACK, "::1"].flat())],
  });
  if (!issued.ok) return err(issued.error.message);
  return ok({ server: issued.value, authority: authority.value.certificate, ca: authority.value });
}

const YEAR_MS = TEN_YEARS_MS / 10;

function clientCertificate(ca: CertificateAuthority, person: Person, clock: Clock): Result<KeyPairPem, string> {
  const now = clock.now();
  const issued = issueCertificate(ca, {
    commonName: person.name,
    organizations: person.groups ?? [MASTERS],
    notBefore: new Date(now - HOUR_MS),
    notAfter: new Date(Math.min(now + (person.lifetimeMs ?? YEAR_MS), ca.notAfter.getTime())),
    usages: ["client"],
  });
  return mapErr(issued, ({ message }) => message);
}
