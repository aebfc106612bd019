/**
 * A whole API server as one thing with a beginning and an end: store, kinds, tokens, certificate, socket.
 *
 * Without a token file there is one administrator, whose token is made here and handed to whoever started the server.
 */
import { randomBytes } from "node:crypto";
import { err, map, ok, sensitive, silentLogger, type Clock, type Logger, type Result, type Sensitive } from "#base";
import { createCertificateAuthority, issueCertificate, type KeyPairPem } from "#pki";
import { listen, parseTokenFile, singleToken, userOf, type TokenTable } from "./http/index.ts";
import { builtinKinds } from "./kinds.ts";
import { createApiServer, type ApiServer } from "./rest/api-server.ts";
import { createMemoryStore, describeOpenError, openPersistentStore, type Store } from "./store/index.ts";

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
  readonly close: () => Promise<void>;
};

const LOOPBACK = "127.0.0.1";

export async function startServer(options: ServerOptions): Promise<Result<RunningServer, string>> {
  const tokens = tokensOf(options.tokens);
  if (!tokens.ok) return err(`the token file: ${tokens.error}`);
  const certificate = options.plain ? ok(undefined) : certificateFor(options.host ?? LOOPBACK, options.clock);
  if (!certificate.ok) return certificate;
  const store = openStore(options);
  if (!store.ok) return store;
  const started = await serve(options, { tokens: tokens.value.table, store: store.value, certificate: certificate.value?.server });
  if (!started.ok) {
    store.value.close();
    return started;
  }
  const { adminToken } = tokens.value;
  return ok({ ...started.value, certificateAuthority: certificate.value?.authority, adminToken });
}

type Parts = { readonly tokens: TokenTable; readonly store: Store; readonly certificate: KeyPairPem | undefined };
type Served = Omit<RunningServer, "certificateAuthority" | "adminToken">;

async function serve(options: ServerOptions, { tokens, store, certificate }: Parts): Promise<Result<Served, string>> {
  const { clock, random, host = LOOPBACK, port, logger = silentLogger } = options;
  let address = host;
  const authenticate = tokens.userOf;
  const api = createApiServer({ store, types: builtinKinds(store), clock, random, logger, authenticate, address: () => address });
  const listener = await listen({ host, port, certificate }, { server: api, authenticate, logger, clock });
  if (!listener.ok) {
    api.close();
    return listener;
  }
  address = `${host}:${listener.value.port}`;
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
  return ok({ table: singleToken(token, userOf("admin", "admin", ["system:masters"])), adminToken: sensitive(token) });
}

function openStore({ dataDir, clock, logger = silentLogger }: ServerOptions): Result<Store, string> {
  if (dataDir === undefined) return ok(createMemoryStore());
  const opened = openPersistentStore({ dataDir, clock, logger });
  return opened.ok ? ok(opened.value.store) : err(describeOpenError(opened.error));
}

const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** An hour into the past: clocks of clients differ. */
function certificateFor(host: string, clock: Clock): Result<{ readonly server: KeyPairPem; readonly authority: string }, string> {
  const period = { notBefore: new Date(clock.now() - HOUR_MS), notAfter: new Date(clock.now() + TEN_YEARS_MS) };
  const authority = createCertificateAuthority({ commonName: "lattice-api-server-ca", ...period });
  if (!authority.ok) return err(authority.error.message);
  const issued = issueCertificate(authority.value, {
    commonName: "lattice-api-server",
    ...period,
    usages: ["server"],
    dnsNames: ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
    ipAddresses: host === LOOPBACK ? [LOOPBACK, "::1"] : [host, LOOPBACK],
  });
  return issued.ok ? ok({ server: issued.value, authority: authority.value.certificate }) : err(issued.error.message);
}
