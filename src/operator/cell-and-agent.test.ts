/** A cell and a child with real operators and sockets. The machines are left out: the test registers the child as its first node would. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger, expectOk } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import type { EmbeddedCluster } from "#embedded-cluster";
import { configMaps, fieldAt, findCondition, nodes, secrets, type KubeObject } from "#kube";
import { localCluster } from "../../test/builders/cell-world.ts";
import { clientOf } from "../../test/builders/kubeconfig-client.ts";
import {
  applyManifests,
  bootstrapToken,
  decoded,
  post,
  runOperator,
  startCellCluster,
  startLatticeCluster,
  untilCluster,
  type Cell,
} from "../../test/builders/two-clusters.ts";

const textOf = (secret: KubeObject | undefined, name: string) => decoded(fieldAt(secret, "data", name));
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
async function connectChild({ cluster, ports }: Cell, name: string): Promise<EmbeddedCluster> {
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
  const operator = await runOperator(child);
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
});

async function secretOf(cluster: EmbeddedCluster, name: string): Promise<KubeObject> {
  return expectOk(await cluster.client.get<KubeObject>(secrets, { namespace: "capi-prod", name }));
}

async function kubeconfigOf(cluster: EmbeddedCluster, child: string): Promise<{ readonly server: string; readonly token: string }> {
  const text = textOf(await secretOf(cluster, `${child}-kubeconfig`), "value");
  return { server: /server: (\S+)/.exec(text)?.[1] ?? "", token: /token: (\S+)/.exec(text)?.[1] ?? "" };
}
