/** One of the processes with agents in the bench `agents`. Every agent has a certificate of its own; they share one key, to save time. */
import { setTimeout as delay } from "node:timers/promises";
import { err, expectOk, ok, sensitive, silentLogger, systemClock } from "#base";
import { startAgentLink, type AgentCredentials } from "#link";
import { issueCertificate, loadCertificateAuthority } from "#pki";
import type { AgentsReply, AgentsRequest } from "./agents-messages.ts";

const DAY_MS = 86_400_000;
const BATCH = 50;
const health = {
  readyNodes: 3,
  totalNodes: 3,
  conditions: [],
  kubernetesVersion: "v1.35.0",
  pools: new Map([["workers", { desired: 2, ready: 2 }]]),
};

process.on("message", (request: AgentsRequest) => void connect(request));
process.on("disconnect", () => process.exit(0));

async function connect(request: AgentsRequest): Promise<void> {
  const start = performance.now();
  const all = certificatesOf(request);
  const signedPerSecond = all.length / ((performance.now() - start) / 1_000);
  for (const [at, credentials] of all.entries()) {
    startOne(`agent-${request.first + at}`, credentials, request.port);
    if (at % BATCH === BATCH - 1) await delay(100); // a ramp, because the storm is measured later
  }
  process.send?.({ kind: "started", signedPerSecond } satisfies AgentsReply);
}

function certificatesOf({ authority, authorityKey, first, count }: AgentsRequest): readonly AgentCredentials[] {
  const ca = expectOk(loadCertificateAuthority({ certificate: authority, key: sensitive(authorityKey) }));
  const dates = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
  const { key } = expectOk(issueCertificate(ca, { commonName: "key", usages: ["client"], ...dates }));
  return Array.from({ length: count }, (_, at) => {
    const { certificate } = expectOk(issueCertificate(ca, { commonName: `agent-${first + at}`, usages: ["client"], key, ...dates }));
    return { certificate, key, trustBundle: authority };
  });
}

function startOne(cluster: string, credentials: AgentCredentials, port: number): void {
  startAgentLink({
    endpoint: `127.0.0.1:${port}`,
    cell: "c",
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
