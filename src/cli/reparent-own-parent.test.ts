/** `lattice reparent` to the parent that a cluster has: on real sockets, with a certificate that expired more than 90 days ago, and with a parent that is being deleted. */
import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, seededRandom, sensitive, systemClock } from "#base";
import { latticeClusters } from "#crds";
import { accessOfSecret, accessSecret } from "#http";
import { capiClusters, configMaps, fieldAt, findCondition, secrets, type KubeObject } from "#kube";
import { cellSigner } from "#operator";
import { authoritiesFromSecret, createCsr, readAgentIdentity } from "#pki";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { startReparentWorld, type ReparentWorld } from "../../test/builders/reparent-world.ts";
import { decoded, freePorts, runOperator, untilCluster } from "../../test/builders/two-clusters.ts";

const DAY_MS = 86_400_000;
const HOME = "lattice-system";
const HELP = "for a new one, run: lattice reparent leaf --kubeconfig <kubeconfig of leaf> --to <kubeconfig of mgmt>";

let world: ReparentWorld;
let stopLeaf: () => Promise<void> = () => Promise.resolve();

beforeAll(async () => {
  world = await startReparentWorld(["mgmt", "hq"]);
}, 60_000);

afterAll(async () => {
  await stopLeaf();
  await world.close();
}, 60_000);

function reparent(to: string, flags: readonly string[] = []): Promise<CliRun> {
  const files = ["--kubeconfig", world.kubeconfig("leaf"), "--to", world.kubeconfig(to), "--wait", "60s"];
  return runCli(["reparent", "leaf", ...files, ...flags], { clock: systemClock, random: seededRandom(1) });
}

function cell(name: string) {
  const found = world.cells.get(name);
  if (found === undefined) throw new Error(`no cell ${name}`);
  return found;
}

const secretOf = async (client: typeof world.leaf.client, name: string) =>
  expectOk(await client.get<KubeObject>(secrets, { namespace: HOME, name }));
const certificateOf = async () => decoded(fieldAt(await secretOf(world.leaf.client, "lattice-agent-certificate"), "data", "tls.crt"));

/** The agent got its last certificate 125 days ago, and has been without a connection since. */
async function expireCertificate(): Promise<void> {
  const { client } = cell("mgmt");
  const authorities = expectOk(
    authoritiesFromSecret(fieldAt(await secretOf(client, "lattice-cell-ca"), "data") as Readonly<Record<string, string>>),
  );
  const held = await secretOf(world.leaf.client, "lattice-agent-certificate");
  const csr = expectOk(createCsr(sensitive(decoded(fieldAt(held, "data", "tls.key"))), { commonName: "leaf" }));
  const clock = { ...systemClock, now: () => systemClock.now() - 125 * DAY_MS };
  const signed = expectOk(cellSigner({ authorities: () => authorities, clock }).sign("leaf", csr));
  const data = { ...(fieldAt(held, "data") as object), "tls.crt": Buffer.from(signed.certificate).toString("base64") };
  expectOk(await world.leaf.client.update<KubeObject>(secrets, Object.assign({}, held, { data })));
  const record = await secretOf(client, "lattice-access-leaf");
  const access = expectOk(accessOfSecret(record));
  const [last] = access.certificates;
  const { serial } = expectOk(readAgentIdentity(signed.certificate));
  const notAfter = new X509Certificate(signed.certificate).validToDate.getTime();
  if (last === undefined) throw new Error("no certificate on record");
  expectOk(await client.update(secrets, accessSecret({ ...access, certificates: [{ ...last, serial, notAfter }] }, HOME, record)));
}

test("a child whose certificate can no longer be renewed names the command, which gives it another one", { timeout: 180_000 }, async () => {
  const made = await reparent("mgmt");
  expect(made.code, made.stderr).toBe(0);
  await world.stopCell("leaf");
  await expireCertificate();
  const operator = await runOperator(world.leaf);
  stopLeaf = operator.stop;

  const messageOf = async (client: typeof world.leaf, type: string, text: string) =>
    untilCluster(client, "leaf", ({ status }) => findCondition(status?.conditions, type)?.message.includes(text) === true, 60_000);
  await messageOf(world.leaf, "AgentConnected", HELP);
  // as a cluster that mgmt has made itself; and the next pass is now, not in some minutes
  const plain = { metadata: { annotations: { "lattice.dev/adopted": null } } };
  expectOk(await cell("mgmt").client.patch(latticeClusters, { name: "leaf" }, { type: "merge", patch: plain }));
  await messageOf(cell("mgmt"), "CertificatesValid", HELP);
  const before = expectOk(await cell("mgmt").client.get(latticeClusters, { name: "leaf" }));
  const proxyHash = expectOk(accessOfSecret(await secretOf(cell("mgmt").client, "lattice-access-leaf"))).proxyHash;
  const expired = await certificateOf();

  const { code, stdout, stderr } = await reparent("mgmt");
  expect([code, stdout], stderr).toEqual([0, "leaf is a child of mgmt: its agent is connected\n"]);
  expect(stderr).toBe(
    "asking the parent for a new certificate\nwaiting for the new parent's configuration for the agent\nreplacing Secret lattice-parent-config\nwaiting until the agent is connected to the new parent\n",
  );
  expect(await certificateOf()).not.toBe(expired);
  const after = await untilCluster(
    cell("mgmt"),
    "leaf",
    ({ status }) => status?.phase === "Ready" && findCondition(status.conditions, "CertificatesValid")?.status === "True",
  );
  expect([after?.metadata.uid, after?.status?.ownedBy]).toEqual([before.metadata.uid, "self"]);
  const listed = expectOk(await cell("mgmt").client.list(capiClusters));
  expect(listed.items).toEqual([]);
  expect(expectOk(accessOfSecret(await secretOf(cell("mgmt").client, "lattice-access-leaf"))).proxyHash).toBe(proxyHash);

  const again = await reparent("mgmt", ["--dry-run"]);
  expect([again.code, again.stdout]).toEqual([0, "the next step would be: done\n"]);
});

test("a cell with other ports serves the former ones, until the command has given them to each child", { timeout: 120_000 }, async () => {
  const { client } = cell("mgmt");
  const served = async () => {
    const record = expectOk(await client.get(configMaps, { namespace: HOME, name: "lattice-cell-endpoints" }));
    return (JSON.parse(record.data?.["endpoints"] ?? "[]") as readonly { readonly grpcPort: number }[]).map(({ grpcPort }) => grpcPort);
  };
  const endpointOf = async () => decoded(fieldAt(await secretOf(world.leaf.client, "lattice-parent-config"), "data", "endpoint"));
  const [former = 0] = await served();
  const [grpcPort = 0, bootstrapPort = 0, proxyPort = 0] = await freePorts(3);
  const changedAt = Math.floor(Date.now() / 1_000) * 1_000;
  const patch = { spec: { endpoints: { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort } } };
  expectOk(await client.patch(latticeClusters, { name: "mgmt" }, { type: "merge", patch }));
  await untilCluster(
    cell("mgmt"),
    "leaf",
    ({ status }) =>
      findCondition(status?.conditions, "AgentConnected")?.status === "True" && Date.parse(status?.agent?.connectedSince ?? "") > changedAt,
    60_000,
  );
  expect([await served(), await endpointOf()]).toEqual([[grpcPort, former], `127.0.0.1:${former}`]);

  const { code, stdout, stderr } = await reparent("mgmt");
  expect([code, stdout], stderr).toEqual([0, "leaf is a child of mgmt: its agent is connected\n"]);
  expect(await endpointOf()).toBe(`127.0.0.1:${grpcPort}`);
  await cell("mgmt").waitFor(
    configMaps,
    { namespace: HOME, name: "lattice-cell-endpoints" },
    (found) => found?.data?.["endpoints"]?.includes(String(former)) === false,
    { timeoutMs: 20_000 },
  );
  expect(await served()).toEqual([grpcPort]);
});

test(
  "a parent that is being deleted is refused, and makes no offer to a cluster that was created there all the same",
  { timeout: 120_000 },
  async () => {
    const hq = cell("hq");
    const child = {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeCluster",
      metadata: { name: "other", annotations: { "lattice.dev/adopted": "u" } },
    };
    const own = expectOk(await hq.client.get(latticeClusters, { name: "hq" }));
    const { endpoints: _endpoints, ...spec } = own.spec;
    expectOk(await hq.client.create<KubeObject>(latticeClusters, Object.assign(child, { spec: { ...spec, cellRef: "hq" } })));
    await hq.waitFor<KubeObject>(secrets, { namespace: HOME, name: "lattice-adoption-other" }, (found) => found !== undefined, {
      timeoutMs: 20_000,
    });
    expectOk(await hq.client.delete(latticeClusters, { name: "hq" }));
    await hq.waitFor<KubeObject>(secrets, { namespace: HOME, name: "lattice-adoption-other" }, (found) => found === undefined, {
      timeoutMs: 20_000,
    });
    const other = await untilCluster(hq, "other", ({ status }) => findCondition(status?.conditions, "Ready")?.reason === "CellDeleting");
    expect(findCondition(other?.status?.conditions, "Ready")?.message).toContain("the cell hq is being deleted, and adopts no clusters");

    const { code, stderr } = await reparent("hq");
    expect([code, stderr]).toEqual([
      1,
      "lattice: hq adopts no clusters: its own LatticeCluster is being deleted, which waits for its children; use another parent\n",
    ]);
    expect((await hq.client.get(latticeClusters, { name: "leaf" })).ok).toBe(false);
  },
);
