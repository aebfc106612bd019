/**
 * The two API servers that are compared, each as processes of their own on loopback with TLS: `lattice api-server`, and etcd with
 * kube-apiserver. No controllers on either side: they would write while it is measured.
 *
 * etcd runs without fsync, as in all our tests: the memory store beside it does not wait for a disk either.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sensitive } from "#base";
import { parseYaml, fieldAt } from "#kube";
import { apiServer, etcd, urlOf, type Place } from "../../test/kube/harness/components.ts";
import { writeCredentials } from "../../test/kube/harness/credentials.ts";
import { findFreePorts } from "../../test/kube/harness/free-ports.ts";
import { send } from "../../test/kube/harness/http.ts";
import { ProcessGroup } from "../../test/kube/harness/process-group.ts";
import type { Target } from "./api-load.ts";

export type Running = {
  readonly target: Target;
  /** From the start of the first process until /readyz returns 200. */
  readonly readyMs: number;
  readonly residentBytes: () => number;
  readonly stop: () => Promise<void>;
};

const ROOT = join(import.meta.dirname, "../..");
export const BUNDLE = join(ROOT, "dist/lattice.js");
export const SOURCE = join(ROOT, "src/bin/lattice.ts");
const TOKEN = "bench-token";

export async function startLattice(program: string): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-bench-"));
  const [tokens, kubeconfig] = [join(folder, "tokens.csv"), join(folder, "kubeconfig")];
  writeFileSync(tokens, `${TOKEN},admin,admin,"system:masters"\n`, { mode: 0o600 });
  const start = performance.now();
  const args = [program, "api-server", "--no-controllers", "--port", "0", "--token-file", tokens, "--kubeconfig-out", kubeconfig];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const url = await firstLine(child.stdout);
  const target = { url, caPem: authorityIn(kubeconfig), token: TOKEN };
  await ready(target);
  const readyMs = performance.now() - start;
  const stop = async () => {
    child.kill("SIGTERM");
    await new Promise((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve(undefined)));
    rmSync(folder, { recursive: true, force: true });
  };
  return { target, readyMs, residentBytes: () => residentOf([child.pid ?? 0]), stop };
}

export async function startKubernetes(binaries: string): Promise<Running> {
  const ports = await findFreePorts(4);
  if (!ports.ok) throw new Error(ports.error);
  const [etcdPort = 0, etcdPeer = 0, apiServerPort = 0, controllerManager = 0] = ports.value;
  const folder = join(tmpdir(), `lattice-bench-kube-${process.pid}-${apiServerPort}`);
  const place: Place = {
    binaries,
    folder,
    logs: join(folder, "logs"),
    ports: { etcd: etcdPort, etcdPeer, apiServer: apiServerPort, controllerManager },
  };
  const group = await ProcessGroup.open(folder);
  if (!group.ok) throw new Error(group.error);
  mkdirSync(place.logs, { recursive: true });
  const { caPem, adminToken } = writeCredentials(folder, urlOf(place.ports));
  const target = { url: urlOf(place.ports), caPem, token: adminToken };
  const start = performance.now();
  await group.value.start(etcd(place));
  await group.value.start(apiServer(place));
  await ready(target);
  const readyMs = performance.now() - start;
  return { target, readyMs, residentBytes: () => residentOf([...group.value.pids.values()]), stop: () => group.value.close() };
}

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stream });
    lines.once("line", (line) => resolve(line.trim()));
    lines.once("close", () => reject(new Error("the server ended before it printed its URL")));
  });
}

function authorityIn(kubeconfig: string): string {
  const documents = parseYaml(readFileSync(kubeconfig, "utf8"));
  const clusters = documents.ok ? fieldAt(documents.value[0], "clusters") : undefined;
  const data = Array.isArray(clusters) ? fieldAt(clusters[0], "cluster", "certificate-authority-data") : undefined;
  return Buffer.from(typeof data === "string" ? data : "", "base64").toString();
}

async function ready({ url, caPem, token }: Target): Promise<void> {
  for (const end = performance.now() + 120_000; performance.now() < end; await delay(5)) {
    try {
      const answer = await send({ url, caPem, token: sensitive(token) }, { path: "/readyz" });
      if (answer.code === 200) return;
    } catch {
      continue; // not listening yet
    }
  }
  throw new Error(`${url} is not ready after two minutes`);
}

function residentOf(pids: readonly number[]): number {
  let bytes = 0;
  for (const pid of pids) bytes += Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1_024;
  return bytes;
}
