/** `lattice reparent` with real operators on embedded clusters: cells on real sockets, and a cluster that owns itself. */
import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { latticeClusters } from "#crds";
import { capiClusters, fieldAt, findCondition, secrets, type KubeObject } from "#kube";
import { readAgentIdentity } from "#pki";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { startReparentWorld, type ReparentWorld } from "../../test/builders/reparent-world.ts";
import { decoded, untilCluster } from "../../test/builders/two-clusters.ts";

let world: ReparentWorld;

beforeAll(async () => {
  world = await startReparentWorld(["mgmt", "hq"]);
}, 60_000);

afterAll(() => world.close(), 60_000);

type Given = NonNullable<Parameters<typeof runCli>[1]>;

function reparent(to: string, flags: readonly string[] = [], given: Given = {}): Promise<CliRun> {
  const files = ["--kubeconfig", world.kubeconfig("leaf"), "--to", world.kubeconfig(to), "--wait", "60s"];
  return runCli(["reparent", "leaf", ...files, ...flags], { clock: systemClock, random: seededRandom(1), ...given });
}

const cellOf = (name: string) => {
  const found = world.cells.get(name);
  if (found === undefined) throw new Error(`no cell ${name}`);
  return found;
};
const secretOf = async (name: string) => expectOk(await world.leaf.client.get<KubeObject>(secrets, { namespace: "lattice-system", name }));
const parentConfig = async () => {
  const secret = await secretOf("lattice-parent-config");
  return { cell: decoded(fieldAt(secret, "data", "cell")), token: decoded(fieldAt(secret, "data", "csr-token")) };
};

describe("lattice reparent", () => {
  test("--dry-run prints the next step, and changes nothing", async () => {
    const { code, stdout } = await reparent("mgmt", ["--dry-run"]);
    expect([code, stdout]).toEqual([0, "the next step would be: creating the LatticeCluster at the new parent\n"]);
    expect((await cellOf("mgmt").client.get(latticeClusters, { name: "leaf" })).ok).toBe(false);
    expect(JSON.parse((await reparent("mgmt", ["--dry-run", "-o", "json"])).stdout)).toEqual({ next: "adopt" });
  });

  test("an orphan becomes the child of a cell, which compiles nothing for it", { timeout: 90_000 }, async () => {
    const { code, stdout, stderr } = await reparent("mgmt");
    expect([code, stdout], stderr).toEqual([0, "leaf is a child of mgmt: its agent is connected\n"]);
    expect(stderr.split("\n").slice(0, 3)).toEqual([
      "creating the LatticeCluster at the new parent",
      "waiting for the new parent's configuration for the agent",
      "replacing Secret lattice-parent-config",
    ]);
    const own = await untilCluster(
      world.leaf,
      "leaf",
      ({ status }) => findCondition(status?.conditions, "AgentConnected")?.status === "True",
    );
    expect(own?.spec.cellRef).toBe("mgmt");
    expect(await parentConfig()).toMatchObject({ cell: "mgmt" });
    const offer = { namespace: "lattice-system", name: "lattice-adoption-leaf" };
    await cellOf("mgmt").waitFor<KubeObject>(secrets, offer, (found) => found === undefined, { timeoutMs: 20_000 });
    const adopted = await untilCluster(cellOf("mgmt"), "leaf", ({ status }) => status?.phase === "Ready");
    expect(adopted?.status?.ownedBy).toBe("self");
    const listed = await cellOf("mgmt").client.list(capiClusters);
    expect(listed.ok ? listed.value.items : []).toEqual([]);
  });

  test(
    "a cluster changes its parent, and is released at the former one; its old certificate is of no use",
    { timeout: 120_000 },
    async () => {
      const before = await secretOf("lattice-agent-certificate");
      const { code, stdout, stderr } = await reparent("hq", ["--from", world.kubeconfig("mgmt"), "-o", "json"]);
      expect(code, stderr).toBe(0);
      expect([JSON.parse(stdout), stderr]).toEqual([{ cluster: "leaf", parent: "hq", former: "mgmt" }, ""]);
      await cellOf("mgmt").waitFor(latticeClusters, { name: "leaf" }, (found) => found === undefined, { timeoutMs: 30_000 });
      await untilCluster(cellOf("hq"), "leaf", ({ status }) => status?.phase === "Ready");
      const after = await secretOf("lattice-agent-certificate");
      expect(fieldAt(after, "data", "tls.crt")).not.toBe(fieldAt(before, "data", "tls.crt"));
      // the cell verifies the chain, and the name of the cell in it (src/link/agent/attacks.test.ts)
      const text = (secret: KubeObject, key: string) => decoded(fieldAt(secret, "data", key));
      const [old, authority] = [text(before, "tls.crt"), text(await secretOf("lattice-parent-config"), "ca.crt")];
      expect(new X509Certificate(old).verify(new X509Certificate(authority).publicKey)).toBe(false);
      expect([old, text(after, "tls.crt")].map((pem) => expectOk(readAgentIdentity(pem)).cell)).toEqual(["mgmt", "hq"]);
    },
  );

  test("the same command again changes nothing", { timeout: 60_000 }, async () => {
    const before = await secretOf("lattice-parent-config");
    const { code, stdout } = await reparent("hq");
    expect([code, stdout]).toEqual([0, "leaf is a child of hq: its agent is connected\n"]);
    expect(await secretOf("lattice-parent-config")).toEqual(before);
  });

  test("a dead parent is left, and the command prints what stays there", { timeout: 120_000 }, async () => {
    await world.stopCell("hq");
    const { code, stdout, stderr } = await reparent("mgmt");
    expect(code, stderr).toBe(0);
    expect(stdout).toBe(
      "leaf is a child of mgmt: its agent is connected\nLatticeCluster leaf stays at hq, without any effect on leaf: there, set spec.deletion.unpivot to false and delete it, or run this command again with --from\n",
    );
  });

  test("killed after each write, the same command continues", { timeout: 180_000 }, async () => {
    const other = await startReparentWorld(["hq"]);
    const args = ["--kubeconfig", other.kubeconfig("leaf"), "--to", other.kubeconfig("hq"), "--wait", "60s"];
    const run = (given: Given = {}) => runCli(["reparent", "leaf", ...args], { clock: systemClock, random: seededRandom(1), ...given });
    for (const step of ["creating the LatticeCluster", "waiting for the new parent's", "setting spec.cellRef"]) {
      const killed = new AbortController();
      const stderr = (text: string) => {
        if (text.startsWith(step)) killed.abort();
      };
      const { code } = await run({ stderr, signal: killed.signal });
      expect([step, code]).toEqual([step, 2]);
    }
    const { code, stdout } = await run();
    expect([code, stdout]).toEqual([0, "leaf is a child of hq: its agent is connected\n"]);
    await other.close();
  });

  test("a refusal is one sentence and changes nothing", async () => {
    const itself = await reparent("leaf");
    expect([itself.code, itself.stderr]).toEqual([1, "lattice: --to leads to leaf itself; pass the kubeconfig of the new parent\n"]);
    const json = await reparent("leaf", ["-o", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ error: "refused" });
  });

  test("a cluster that cannot be reached is named, and the command can be run again", async () => {
    const files = ["--kubeconfig", "/nonexistent/leaf", "--to", world.kubeconfig("mgmt")];
    const { code, stderr } = await runCli(["reparent", "leaf", ...files]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("the cluster leaf: ")]);
    expect((await reparent("mgmt", ["--wait", "soon"])).code).toBe(2);
  });
});
