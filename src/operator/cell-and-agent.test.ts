/** A cell and a child with real operators and sockets. The machines are left out: the test registers the child as its first node would. */
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger, err, expectOk } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import type { EmbeddedCluster } from "#embedded-cluster";
import { configMaps, fieldAt, findCondition, nodes, secrets, type KubeObject } from "#kube";
import type { OperatorDependencies } from "./operator.ts";
import { identity, localCluster } from "../../test/builders/cell-world.ts";
import { clientOf } from "../../test/builders/kubeconfig-client.ts";
import {
  applyManifests,
  bootstrapToken,
  decoded,
  freePorts,
  post,
  runOperator,
  startCellCluster,
  startLatticeCluster,
  untilCluster,
  type Cell,
} from "../../test/builders/two-clusters.ts";

const textOf = (secret: KubeObject | undefined, name: string) => decoded(fieldAt(secret, "data", name));
const WITHIN = { timeout: 20_000, interval: 50 };
const isConnected = (cluster: LatticeCluster) => findCondition(cluster.status?.conditions, "AgentConnected")?.status === "True";

async function startCell(lines: string[] = []): Promise<Cell> {
  const cell = await startCellCluster();
  const logger = createLogger((level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`));
  const operator = await runOperator(cell.cluster, { logger });
  onTestFinished(async () => {
    await operator.stop();
    await cell.cluster.close();
  });
  return cell;
}

/** Registers the child with its token, applies the answer there, and starts its operator. */
async function connectChild({ cluster, ports }: Cell, name: string, more?: Partial<OperatorDependencies>): Promise<EmbeddedCluster> {
  await cluster.add(localCluster(name));
  const token = await bootstrapToken(cluster, name);
  const kubeconfig = await cluster.waitFor<KubeObject>(
    secrets,
    { namespace: `capi-${name}`, name: `${name}-kubeconfig` },
    (found) => found !== undefined,
    { timeoutMs: 20_000 },
  );
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(textOf(kubeconfig, "value"))?.[1] ?? "", "base64").toString();
  const answer = await post(`https://127.0.0.1:${ports[1]}/api/clusters/register`, ca, { token });
  expect(answer.status).toBe(200);
  const child = await startLatticeCluster();
  await applyManifests(child, answer.text);
  const operator = await runOperator(child, more);
  onTestFinished(async () => {
    await operator.stop();
    await child.close();
  });
  return child;
}

describe("a cell and its child", () => {
  test("a child that registers gets a certificate, connects, reports, and is reached through its agent", { timeout: 60_000 }, async () => {
    const lines: string[] = [];
    const cell = await startCell(lines);
    const child = await connectChild(cell, "prod");
    const connected = await untilCluster(cell.cluster, "prod", isConnected);
    expect(connected?.status).toMatchObject({ phase: "Provisioning", ownedBy: "mgmt", agent: { protocol: "1" } });
    const { server, token } = await kubeconfigOf(cell.cluster, "prod");
    expect(server).toBe(`https://127.0.0.1:${cell.ports[2]}/clusters/prod`);
    // as Cluster API on the cell does it: nothing but the cell's own address
    const through = await clientOf(textOf(await secretOf(cell.cluster, "prod-kubeconfig"), "value"));
    expectOk(
      await child.client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "here", namespace: "default" } }),
    );
    expect(expectOk(await through.get(configMaps, { namespace: "default", name: "here" })).metadata.name).toBe("here");
    const seen = expectOk(await through.list(nodes)).items.length;
    await through.close();
    const reported = await untilCluster(cell.cluster, "prod", ({ status }) => status?.readyNodes === seen);
    expect(reported?.status).toMatchObject({ readyNodes: seen, totalNodes: seen });
    expect(findCondition(reported?.status?.conditions, "CertificatesValid")?.reason).toBe("CertificateValid");
    expect(lines.join("\n")).not.toContain(token);
  });

  test("a parent whose requests the agent cannot pass on gets the reason, and the child stays connected", { timeout: 60_000 }, async () => {
    const cell = await startCell();
    await connectChild(cell, "prod", { apiServer: err("tls-server-name is not supported") });
    await untilCluster(cell.cluster, "prod", isConnected);
    const through = await clientOf(textOf(await secretOf(cell.cluster, "prod-kubeconfig"), "value"));
    const answer = await through.get(configMaps, { namespace: "default", name: "here" }, { timeoutMs: 5_000 });
    await through.close();
    expect(answer.ok ? "" : answer.error.message).toContain("cannot reach its API server: tls-server-name is not supported");
  });

  test("a deleted child loses its access and its connection", { timeout: 60_000 }, async () => {
    const cell = await startCell();
    await connectChild(cell, "prod");
    await untilCluster(cell.cluster, "prod", isConnected);
    expectOk(await cell.cluster.client.delete(latticeClusters, { name: "prod" }));
    await cell.cluster.waitFor(latticeClusters, { name: "prod" }, (found) => found === undefined, { timeoutMs: 20_000 });
    expect(await cell.cluster.client.get(secrets, { namespace: "lattice-system", name: "lattice-access-prod" })).toMatchObject({
      ok: false,
    });
  });

  test("a cell that is deleted serves its child until that is gone, and is gone then", { timeout: 60_000 }, async () => {
    const cell = await startCell();
    const child = await connectChild(cell, "prod");
    await untilCluster(cell.cluster, "prod", isConnected);
    expectOk(await cell.cluster.client.delete(latticeClusters, { name: "mgmt" }));
    const refused = ({ status }: LatticeCluster) => findCondition(status?.conditions, "Ready")?.reason === "HasChildren";
    await untilCluster(cell.cluster, "mgmt", refused);
    // what the agent reports still arrives, and requests still reach the child
    const total = expectOk(await child.client.list(nodes)).items.length + 1;
    await child.add({ apiVersion: "v1", kind: "Node", metadata: { name: "another" } });
    await untilCluster(cell.cluster, "prod", ({ status }) => status?.totalNodes === total);
    const through = await clientOf(textOf(await secretOf(cell.cluster, "prod-kubeconfig"), "value"));
    expectOk(await through.list(nodes));
    await through.close();
    expectOk(await cell.cluster.client.delete(latticeClusters, { name: "prod" }));
    await cell.cluster.waitFor(latticeClusters, { name: "mgmt" }, (found) => found === undefined, { timeoutMs: 20_000 });
    expect(await cell.cluster.client.get(latticeClusters, { name: "prod" })).toMatchObject({ ok: false, error: { kind: "not-found" } });
  });

  test("a cell listens on its new ports when its address changes, and reports a port that is in use", { timeout: 60_000 }, async () => {
    const lines: string[] = [];
    const cell = await startCell(lines);
    const listens = (port: number) => () => lines.some((line) => line.includes("cell listens") && line.includes(`"grpc":${port}`));
    await expect.poll(listens(cell.ports[0]), WITHIN).toBe(true);
    const [grpcPort = 0] = await freePorts(1);
    const busy = createServer();
    await new Promise<void>((resolve) => busy.listen(grpcPort, "127.0.0.1", resolve));
    const patch = { spec: { endpoints: { grpcPort } } };
    expectOk(await cell.cluster.client.patch(latticeClusters, { name: "mgmt" }, { type: "merge", patch }));
    await expect.poll(() => lines.some((line) => line.includes("cannot listen on")), WITHIN).toBe(true);
    await new Promise((resolve) => busy.close(resolve));
    await expect.poll(listens(grpcPort), WITHIN).toBe(true);
  });

  test("an agent follows a change of its parent's configuration, and its cluster reports the reason", { timeout: 60_000 }, async () => {
    const cell = await startCell();
    const child = await connectChild(cell, "prod");
    await child.add(localCluster("prod", { cellRef: "mgmt" }));
    await untilCluster(child, "prod", isConnected);
    const [nothing = 1] = await freePorts(1);
    const data = { endpoint: Buffer.from(`127.0.0.1:${nothing}`).toString("base64") };
    expectOk(
      await child.client.patch(secrets, { namespace: "lattice-system", name: "lattice-parent-config" }, { type: "merge", patch: { data } }),
    );
    const isAway = ({ status }: LatticeCluster) => findCondition(status?.conditions, "AgentConnected")?.reason === "Disconnected";
    const away = await untilCluster(child, "prod", isAway);
    expect(away?.status).toMatchObject({ phase: "Ready", ownedBy: "mgmt" });
    await untilCluster(cell.cluster, "prod", (cluster) => !isConnected(cluster));
  });

  test("an agent that cannot get a certificate reports why", { timeout: 60_000 }, async () => {
    const child = await startLatticeCluster();
    const texts = { cell: "mgmt", endpoint: "127.0.0.1:1", bootstrap: "https://127.0.0.1:1", "ca.crt": "PEM", "csr-token": "t" };
    const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
    await child.add(identity("prod"), localCluster("prod", { cellRef: "other" }));
    await child.add({ apiVersion: "v1", kind: "Secret", metadata: { name: "lattice-parent-config", namespace: "lattice-system" }, data });
    const operator = await runOperator(child);
    onTestFinished(async () => {
      await operator.stop();
      await child.close();
    });
    const isRefused = ({ status }: LatticeCluster) =>
      findCondition(status?.conditions, "AgentConnected")?.message.includes("cannot be reached") === true;
    const cluster = await untilCluster(child, "prod", isRefused);
    expect(findCondition(cluster?.status?.conditions, "Ready")?.reason).toBe("ParentDisagrees");
  });
});

async function secretOf(cluster: EmbeddedCluster, name: string): Promise<KubeObject> {
  return expectOk(await cluster.client.get<KubeObject>(secrets, { namespace: "capi-prod", name }));
}

async function kubeconfigOf(cluster: EmbeddedCluster, child: string): Promise<{ readonly server: string; readonly token: string }> {
  const text = textOf(await secretOf(cluster, `${child}-kubeconfig`), "value");
  return { server: /server: (\S+)/.exec(text)?.[1] ?? "", token: /token: (\S+)/.exec(text)?.[1] ?? "" };
}
