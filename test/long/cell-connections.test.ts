/** 10,000 connections to the port of a cell for agents, while a connected agent sends its heartbeats and carries out commands. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { err, expectOk, fromThrowing, mapErr, MetricsRegistry, ok, silentLogger, systemClock } from "#base";
import { startAgentLink, startCellLink, type AgentLink, type CellLink } from "#link";
import { agentNames, createCellAuthorities, issueCertificate, readAgentIdentity, type CertificateAuthority } from "#pki";

const CONNECTIONS = 10_000;
/** Each process: its own half of all connections, and some for itself. */
const NEEDED_FILES = CONNECTIONS + 1_000;
const FLOOD = join(import.meta.dirname, "../programs/connection-flood.ts");
const { signal: never } = new AbortController();

/** Node raises its limit to the hard one. */
function fileLimit(): number {
  const limits = fromThrowing(
    () => readFileSync("/proc/self/limits", "utf8"),
    () => "no such file",
  );
  const found = limits.ok ? /^Max open files\s+(\d+|unlimited)/m.exec(limits.value)?.[1] : undefined;
  return found === undefined || found === "unlimited" ? Number.POSITIVE_INFINITY : Number(found);
}

const dates = () => ({ notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 86_400_000) });

async function startCell(authority: CertificateAuthority): Promise<CellLink> {
  const names = { commonName: "cell", dnsNames: ["mgmt.cell.lattice"], ipAddresses: ["127.0.0.1"], usages: ["server"] as const };
  const serving = expectOk(issueCertificate(authority, { ...names, ...dates() }));
  const cell = await startCellLink({
    host: "127.0.0.1",
    port: 0,
    tls: { ...serving, trustBundle: authority.certificate },
    cell: "mgmt",
    identify: (certificate) => mapErr(readAgentIdentity(certificate), ({ message }) => message),
    authenticate: () => ok(undefined),
    renew: () => Promise.resolve(err("not in this test")),
    clock: systemClock,
    random: Math.random,
    logger: silentLogger,
    metrics: new MetricsRegistry(),
    version: "1",
  });
  onTestFinished(() => expectOk(cell).close());
  return expectOk(cell);
}

function startAgent(cell: CellLink, authority: CertificateAuthority, cluster: string): AgentLink {
  const issued = expectOk(issueCertificate(authority, { ...agentNames("mgmt", cluster), usages: ["client"], ...dates() }));
  const credentials = { ...issued, trustBundle: authority.certificate };
  const health = { readyNodes: 1, totalNodes: 1, conditions: [], kubernetesVersion: "v1.36.3", pools: new Map() };
  const agent = startAgentLink({
    endpoint: `127.0.0.1:${cell.port}`,
    cell: "mgmt",
    cluster,
    credentials: () => credentials,
    renewal: { due: () => false, request: () => err("not in this test") },
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
    version: "1",
    generation: () => BigInt(Date.now()),
  });
  onTestFinished(() => agent.close());
  return agent;
}

function connected(cell: CellLink, cluster: string): Promise<void> {
  return new Promise((resolve) => {
    const end = cell.subscribe(() => check());
    const check = () => {
      if (cell.agents().get(cluster)?.connected !== true) return;
      end();
      resolve();
    };
    check();
  });
}

/** The totals that the program prints at its end. */
function flood(port: number): Promise<Readonly<Record<string, number>>> {
  const child = spawn(process.execPath, [FLOOD, String(port), String(CONNECTIONS)], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once("close", () => resolve(JSON.parse(output))));
}

test("a cell with 10,000 connections of strangers keeps its agents, and closes all of the others", async ({ skip }) => {
  const limit = fileLimit();
  if (limit < NEEDED_FILES) skip(`the limit of open files is ${limit}; this test needs ${NEEDED_FILES}: ulimit -n ${NEEDED_FILES}`);
  const authority = expectOk(createCellAuthorities("mgmt", Date.now())).current;
  const cell = await startCell(authority);
  startAgent(cell, authority, "prod");
  await connected(cell, "prod");
  const before = cell.agents().get("prod");

  const attack = { totals: undefined as Readonly<Record<string, number>> | undefined };
  const ended = flood(cell.port).then((totals) => (attack.totals = totals));
  let rounds = 0;
  while (attack.totals === undefined) {
    // answered by a heartbeat
    expect(await cell.send("prod", { kind: "status" }, never)).toMatchObject({ ok: true });
    rounds += 1;
  }
  await ended;
  expect(attack.totals).toMatchObject({ opened: CONNECTIONS, closed: CONNECTIONS, failed: 0 });
  expect(rounds).toBeGreaterThan(0);
  const after = cell.agents().get("prod");
  expect([after?.connected, after?.connectedSince]).toEqual([true, before?.connectedSince]);
  expect(after?.lastHeartbeat).toBeGreaterThan(before?.lastHeartbeat ?? 0);
  startAgent(cell, authority, "next");
  await connected(cell, "next");
});
