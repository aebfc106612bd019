/** `lattice operator` in this process, on an embedded cluster over HTTP. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeProcesses, systemClock } from "#base";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { leases } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";

const NAMESPACE = "lattice-system";
let home = "";
let cluster: EmbeddedCluster;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "lattice-operator-"));
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  cluster = await startEmbeddedCluster({ objects: [namespace, ...latticeKinds.map(({ crd }) => crd())] });
  await cluster.writeKubeconfig(join(home, "kubeconfig"));
});

afterAll(async () => {
  await cluster.close();
  await rm(home, { recursive: true, force: true });
});

/** Stops it when it leads. */
function operate(flags: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const stop = new AbortController();
  const onOutput = () => void untilHeld(stop.signal).then(() => stop.abort());
  const io = { clock: systemClock, cwd: home, signal: stop.signal, env, onOutput };
  return runCli(["operator", "--kubeconfig", join(home, "kubeconfig"), ...flags], io);
}

async function holder(): Promise<string> {
  const lease = await cluster.client.get(leases, { namespace: NAMESPACE, name: "lattice-operator" });
  return lease.ok ? (lease.value.spec?.holderIdentity ?? "") : "";
}

async function untilHeld(signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await holder()) === "") await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("lattice operator", () => {
  it("runs with the identity of its file until it is stopped, and releases the lease and the file", async () => {
    await writeFile(join(home, "identity"), "candidate-1\n");
    const ran = await operate(["--identity-file", "identity", "--lease-duration", "5s", "--resync", "1h"]);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^operator candidate-1 on http.*\noperator stopped\n$/) as string });
    expect([await holder(), (await readdir(home)).toSorted()]).toEqual(["", ["identity", "kubeconfig"]]);
  });

  it("has a new identity without a file", async () => {
    const runs = [await operate([]), await operate([])];
    const [first, second] = runs.map(({ stdout }) => /^operator (test-[0-9a-f]{8}) on/.exec(stdout)?.[1]);
    expect([runs.map(({ code }) => code), first === undefined, first === second]).toEqual([[0, 0], false, false]);
  });

  it("refuses an identity that another process uses, and says which", async () => {
    const pid = process.ppid;
    const lock = { pid, process: nodeProcesses.identify(pid), since: "2026-01-01T00:00:00Z" };
    await writeFile(join(home, "used.lock"), JSON.stringify(lock));
    expect(await operate(["--identity-file", "used"])).toEqual({
      code: 2,
      stdout: "",
      stderr: `lattice: --identity-file: ${join(home, "used")}: process ${pid} has been using this identity since 2026-01-01T00:00:00Z; stop it, or give each operator its own file\n`,
    });
  });

  it("labels its Pod when its environment names one", async () => {
    const ran = await operate([], { POD_NAME: "absent", POD_NAMESPACE: NAMESPACE });
    expect([ran.code, cluster.actions.filter({ verb: "patch", resource: "pods" }).length > 0]).toEqual([0, true]);
  });

  it("reports a cluster without Lattice's kinds", async () => {
    const empty = await startEmbeddedCluster();
    try {
      await empty.writeKubeconfig(join(home, "empty"));
      const ran = await runCli(["operator", "--kubeconfig", join(home, "empty")], { clock: systemClock });
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("does not serve LatticeCluster") as string });
    } finally {
      await empty.close();
    }
  });
});
