/** Hundreds of concurrent clients that keep a connection open without using it: all of them are disconnected, and others get responses meanwhile. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, seededRandom, silentLogger, systemClock } from "#base";
import { builtinKinds, certificateFor, createApiServer, createMemoryStore, serveHttp } from "#kube-server";
import { heapAfterCollection } from "../builders/api-server/fuzz.ts";
import { SLOW_CLIENTS, startRelay, type SlowClientPorts } from "../builders/api-server/slow-clients.ts";
import { rounds } from "./settings.ts";

/** Concurrent clients of each of the fifteen kinds. */
const EACH = 40;
const waves = Math.max(3, Math.floor(rounds / 100));
/** Shorter than the default limits, but long enough for a busy machine. */
const limits = { headersMs: 400, requestMs: 600, checkMs: 50, idleMs: 400, lingerMs: 50, pingMs: 400 };

const closing: (() => Promise<void> | void)[] = [];
let ports: SlowClientPorts;

beforeAll(async () => {
  const store = createMemoryStore();
  const server = createApiServer({ store, types: builtinKinds(store), clock: systemClock, random: seededRandom(1) });
  const user = { name: "a", uid: "", groups: [] };
  const exchange = { server, authenticate: () => user, anonymous: user, logger: silentLogger, clock: systemClock };
  const plain = expectOk(await serveHttp({ host: "127.0.0.1", port: 0, limits }, exchange));
  const certificate = expectOk(certificateFor("127.0.0.1", systemClock)).server;
  const secure = expectOk(await serveHttp({ host: "127.0.0.1", port: 0, limits, certificate }, exchange));
  const relay = await startRelay(secure.port, 300);
  closing.push(
    () => relay.close(),
    () => plain.close(),
    () => secure.close(),
    () => server.close(),
  );
  ports = { plain: plain.port, secure: secure.port, relay: relay.port };
});

afterAll(async () => {
  for (const close of closing) await close();
});

test(
  `${EACH * SLOW_CLIENTS.size} slow clients at a time, ${waves} times, are all disconnected, and leave no memory in use`,
  { timeout: waves * 120_000 },
  async () => {
    await wave();
    const before = heapAfterCollection();
    let answered = 0;
    for (let at = 0; at < waves; at += 1) answered += await wave();
    console.log(JSON.stringify({ waves, clients: waves * EACH * SLOW_CLIENTS.size, honestAnswers: answered }));
    expect(answered).toBeGreaterThan(waves);
    expect(heapAfterCollection() / before, "memory at the end, beside that after the first wave").toBeLessThan(1.5);
  },
);

/** The number of responses to a well-behaved client meanwhile. A client that is not disconnected blocks the test until its time limit. */
async function wave(): Promise<number> {
  const present = new Set<string>();
  const clients = [...SLOW_CLIENTS].flatMap(([name, client]) =>
    Array.from({ length: EACH }, async (_, at) => {
      present.add(`${name} ${at}`);
      await client(ports);
      present.delete(`${name} ${at}`);
    }),
  );
  let answered = 0;
  while (present.size > 0) {
    expect((await fetch(`http://127.0.0.1:${ports.plain}/api/v1/namespaces/default`)).status).toBe(200);
    answered += 1;
  }
  await Promise.all(clients);
  return answered;
}
