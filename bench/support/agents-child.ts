/**
 * One of the processes with agents in the bench `agents`. Every agent has a key, a certificate, a TLS connection and a stream of its own; it is the link of
 * an operator without the cluster around it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { err, expectOk, ok, sensitive, silentLogger, systemClock } from "#base";
import { startAgentLink, type AgentCredentials } from "#link";
import { postForCertificate } from "#operator";
import { createCsr, createPrivateKeyPem } from "#pki";
import type { AgentsReply, AgentsRequest, CellAddress, ChildToken } from "./agents-messages.ts";
import { KUBERNETES_VERSION } from "./agents-seeds.ts";

type Certified = { readonly cluster: string; readonly credentials: AgentCredentials };

/** Requests for certificates at a time. */
const REQUESTS = 8;
/** New connections at a time: the storm is measured later. */
const [BATCH, PAUSE_MS] = [10, 250];
const { signal } = new AbortController();
const health = { readyNodes: 1, totalNodes: 1, conditions: [], kubernetesVersion: KUBERNETES_VERSION, pools: new Map(), ownershipEpoch: 1 };
const state: { address?: CellAddress; agents: readonly Certified[] } = { agents: [] };

process.on("message", (request: AgentsRequest) => void handle(request));
process.on("disconnect", () => process.exit(0));

async function handle(request: AgentsRequest): Promise<void> {
  if (request.kind === "certify") {
    state.address = request.address;
    const requests = request.tokens.map((token) => ({ ...token, ...keyAndCsr(token) }));
    const start = performance.now();
    state.agents = await certify(requests, request.address);
    return reply({ kind: "certified", seconds: (performance.now() - start) / 1_000 });
  }
  for (const [at, agent] of state.agents.entries()) {
    startOne(agent);
    if (at % BATCH === BATCH - 1) await delay(PAUSE_MS);
  }
  reply({ kind: "started" });
}

function keyAndCsr({ cluster }: ChildToken) {
  const key = createPrivateKeyPem();
  return { key, csr: expectOk(createCsr(key, { commonName: cluster })) };
}

type SigningRequest = ChildToken & ReturnType<typeof keyAndCsr>;

async function certify(requests: readonly SigningRequest[], { bootstrapPort, trustBundle }: CellAddress): Promise<readonly Certified[]> {
  const parent = { url: `https://127.0.0.1:${bootstrapPort}`, trustBundle };
  const certified: Certified[] = [];
  let next = 0;
  const worker = async () => {
    for (let one = requests[next++]; one !== undefined; one = requests[next++]) {
      const { cluster, csrToken, key, csr } = one;
      const path = `/api/clusters/${cluster}/csr`;
      const granted = expectOk(await postForCertificate(parent, { path, body: csr, token: sensitive(csrToken), signal }));
      certified.push({ cluster, credentials: { ...granted, key } });
    }
  };
  await Promise.all(Array.from({ length: REQUESTS }, worker));
  return certified;
}

function startOne({ cluster, credentials }: Certified): void {
  const { grpcPort = 0, cell = "" } = state.address ?? {};
  startAgentLink({
    endpoint: `127.0.0.1:${grpcPort}`,
    cell,
    cluster,
    credentials: () => credentials,
    renewal: { due: () => false, request: () => err("not in this bench") },
    onRenewed: () => Promise.resolve(ok(undefined)),
    onTrustBundle: () => Promise.resolve(ok(undefined)),
    report: () => Promise.resolve({ state: "Ready", health }),
    onBootstrap: () => Promise.resolve(ok([])),
    onReconcile: () => Promise.resolve(ok([])),
    apiServer: { url: "https://127.0.0.1:1", ca: "", authorization: () => Promise.resolve(undefined) },
    serveTunnel: () => Promise.resolve(),
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    version: "bench",
    generation: () => BigInt(Date.now()),
  });
}

function reply(message: AgentsReply): void {
  process.send?.(message);
}
