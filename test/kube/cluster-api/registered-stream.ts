/**
 * The manifests that a new cluster gets when it registers: the answer of a cell with this bundle, over HTTPS, as its first node gets it. The cell is an embedded cluster with a real operator.
 */
import { expect } from "vitest";
import type { Bundle } from "#bundle";
import type { FixtureObject } from "#embedded-cluster";
import { fieldAt, secrets, type KubeObject } from "#kube";
import { bootstrapToken, decoded, post, runOperator, startCellCluster } from "../../builders/two-clusters.ts";

const child = (type: "docker" | "local"): FixtureObject => ({
  apiVersion: "lattice.dev/v1alpha1",
  kind: "LatticeCluster",
  metadata: { name: "c1", ...(type === "docker" ? { annotations: { "lattice.dev/backend": "inMemory" } } : {}) },
  spec: { provider: { type, kubernetes: { version: "1.36.3" } }, nodes: { controlPlane: 1, workers: 0 } },
});

/** Without a bundle: of a cluster of provider local. */
export async function registeredStream(bundle?: Bundle): Promise<string> {
  const { cluster, ports } = await startCellCluster();
  const operator = await runOperator(cluster, {}, { bundle });
  await cluster.add(child(bundle === undefined ? "local" : "docker"));
  const token = await bootstrapToken(cluster, "c1");
  const key = { namespace: "capi-c1", name: "c1-kubeconfig" };
  const secret = await cluster.waitFor<KubeObject>(secrets, key, (found) => found !== undefined, { timeoutMs: 20_000 });
  const ca = /certificate-authority-data: (\S+)/.exec(decoded(fieldAt(secret, "data", "value")))?.[1];
  const answer = await post(`https://127.0.0.1:${ports[1]}/api/clusters/register`, decoded(ca), { token });
  await operator.stop();
  await cluster.close();
  expect(answer.status, answer.text.slice(0, 300)).toBe(200);
  return answer.text;
}
