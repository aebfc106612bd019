/**
 * A server for fuzzing with all features: RBAC, tokens, admission, a webhook, all controllers, simulated nodes, sockets.
 *
 * Its clock runs faster than the system's, so that time limits, retries and schedules take effect during a run. Every logged error is a bug:
 * no request of a client may cause one.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createLogger, expectOk, FakeClock, seededRandom, systemClock } from "#base";
import { createSimulation, startKubeControllers } from "#kube-controllers";
import {
  accountTokens,
  admissionPlugins,
  ANONYMOUS,
  builtinKinds,
  certificateFor,
  createApiServer,
  createMemoryStore,
  inProcessClient,
  serveHttp,
  parseTokenFile,
  rbacOf,
  serviceAccounts,
  userOf,
  type ApiServer,
  type ResourceType,
  type User,
} from "#kube-server";
import { CA_BUNDLE, WEBHOOK } from "./fuzz-admission.ts";
import type { FuzzRequest, Sender } from "./fuzz-requests.ts";
import { FIRST_OBJECTS } from "./fuzz-first-objects.ts";
import { startFuzzWebhook } from "./fuzz-webhook.ts";
import { sendFuzzed } from "./fuzz-in-process.ts";

export type FuzzWorld = {
  readonly server: ApiServer;
  readonly port: number;
  /** TLS, with HTTP/2. */
  readonly securePort: number;
  /** The types at the start and those that a run will define; fixed while the server's types change. */
  readonly types: readonly ResourceType[];
  readonly tokenOf: (sender: Sender) => string | undefined;
  readonly userOf: (sender: Sender) => User;
  /** The request with the address of this world's webhook. */
  readonly localised: (request: FuzzRequest) => FuzzRequest;
  /** Errors logged since the last call. */
  readonly errors: () => readonly string[];
  readonly renewAccount: () => Promise<void>;
  /** Resolves when the controllers are idle. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const TOKENS = `
admin-token,admin,1,"system:masters"
editor-token,editor,2,"editors"
viewer-token,viewer,3,"viewers"
outsider-token,outsider,4,"outsiders"
`;
const ADMIN = userOf("admin", "1", ["system:masters"]);
const USERS: Readonly<Record<Sender, User>> = {
  admin: ADMIN,
  editor: userOf("editor", "2", ["editors"]),
  viewer: userOf("viewer", "3", ["viewers"]),
  outsider: userOf("outsider", "4", ["outsiders"]),
  account: userOf("system:serviceaccount:default:a", "5", ["system:serviceaccounts", "system:serviceaccounts:default"]),
  anonymous: ANONYMOUS,
  "wrong token": ANONYMOUS,
};
const TICK_MS = 10;
/** Factor by which the clock of the world is faster than the system's. */
const SPEED = 20;

export async function startFuzzWorld(seed: number): Promise<FuzzWorld> {
  const clock = new FakeClock();
  const errors: string[] = [];
  const logger = createLogger((level, message, fields) => {
    if (level === "error") errors.push(`${message} ${JSON.stringify(fields)}`);
  });
  const webhook = await startFuzzWebhook();
  const store = createMemoryStore({ historyLimit: { events: 2_000, bytes: 8 * 2 ** 20 } });
  const random = seededRandom(seed);
  const table = expectOk(parseTokenFile(TOKENS));
  const server = createApiServer({
    store,
    types: builtinKinds(store),
    clock,
    random,
    logger,
    authenticate: table.userOf,
    accounts: accountTokens({ store, clock }),
    authorize: rbacOf(store).authorize,
    admission: (context) => [...admissionPlugins(context), serviceAccounts(context)],
  });
  for (const { url, body } of FIRST_OBJECTS) await mustCreate(server, url, JSON.stringify(body));
  const authenticate = server.authenticate ?? table.userOf;
  // the clients run on the system's clock: time limits on the faster clock would disconnect them
  const exchange = { server, authenticate, anonymous: ANONYMOUS, logger, clock: systemClock };
  const listener = expectOk(await serveHttp({ host: "127.0.0.1", port: 0 }, exchange));
  const certificate = expectOk(certificateFor("127.0.0.1", systemClock)).server;
  const secure = expectOk(await serveHttp({ host: "127.0.0.1", port: 0, certificate }, exchange));
  const simulation = createSimulation({ nodes: 2 });
  const client = inProcessClient(server, { clock, random, logger });
  const controllers = expectOk(
    await startKubeControllers({
      client,
      clock,
      random,
      logger,
      simulation: simulation.controllers,
      podMetrics: simulation.usage,
      namespaceGraceMs: 0,
      rootCa: "ca",
    }),
  );
  const stopping = new AbortController();
  const ticking = tick(clock, stopping.signal);
  let accountToken: string | undefined;
  const world: FuzzWorld = {
    server,
    port: listener.port,
    securePort: secure.port,
    types: [...server.types.all()],
    tokenOf: (sender) => (sender === "account" ? accountToken : TOKEN_NAMES.get(sender)),
    userOf: (sender) => USERS[sender],
    localised: (request) => localised(request, webhook),
    errors: () => errors.splice(0),
    renewAccount: async () => {
      accountToken = await newAccountToken(server);
    },
    settled: () => controllers.idle(),
    close: async () => {
      stopping.abort();
      await ticking;
      await controllers.close();
      await client.close();
      server.close();
      await listener.close();
      await secure.close();
      await webhook.close();
      store.close();
    },
  };
  await world.renewAccount();
  return world;
}

const TOKEN_NAMES: ReadonlyMap<Sender, string> = new Map<Sender, string>([
  ["admin", "admin-token"],
  ["editor", "editor-token"],
  ["viewer", "viewer-token"],
  ["outsider", "outsider-token"],
  ["wrong token", "eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2t1YmVybmV0ZXMuZGVmYXVsdC5zdmMuY2x1c3Rlci5sb2NhbCJ9."],
]);

async function tick(clock: FakeClock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.advance(TICK_MS * SPEED);
    await delay(TICK_MS);
  }
}

function localised(request: FuzzRequest, { url, caBundle }: { readonly url: string; readonly caBundle: string }): FuzzRequest {
  if (request.body?.includes(WEBHOOK) !== true && request.body?.includes(CA_BUNDLE) !== true) return request;
  return { ...request, body: request.body.replaceAll(WEBHOOK, url).replaceAll(CA_BUNDLE, caBundle) };
}

async function mustCreate(server: ApiServer, url: string, body: string): Promise<string> {
  const request = { method: "POST", url, headers: { "content-type": "application/json" }, body };
  const answered = await sendFuzzed(server, request, ADMIN);
  if (answered.status !== 201 && answered.status !== 409) throw new Error(`${url}: ${answered.text}`);
  return answered.text;
}

async function newAccountToken(server: ApiServer): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await mustCreate(server, accounts, JSON.stringify({ metadata: { name: "fuzz" } }));
  const made = JSON.parse(await mustCreate(server, `${accounts}/fuzz/token`, "{}")) as { readonly status: { readonly token: string } };
  return made.status.token;
}
