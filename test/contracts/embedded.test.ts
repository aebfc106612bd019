/** The contracts on the embedded cluster, over HTTPS. */
import { afterAll, beforeAll } from "vitest";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { parseYaml } from "#kube";
import { contracts } from "./cases/index.ts";
import type { World } from "./client/api.ts";
import { connectTo } from "./client/exchange.ts";
import { startHookHost } from "./client/hook-host.ts";
import { EMBEDDED_DEVIATIONS, PENDING } from "./deviations.ts";
import { runContracts } from "./run-contracts.ts";

let world: World | undefined;
let cluster: EmbeddedCluster | undefined;

beforeAll(async () => {
  // no scheduler and no kubelets, as on the real plane
  cluster = await startEmbeddedCluster({ controllers: { simulation: false }, logActions: false });
  const { url, certificateAuthority } = await cluster.listen();
  world = {
    connection: connectTo(url, certificateAuthority),
    adminToken: tokenIn(await cluster.kubeconfig()),
    hooks: await startHookHost(),
  };
});

afterAll(async () => {
  world?.connection.close();
  await world?.hooks.close();
  await cluster?.close();
});

function tokenIn(kubeconfig: string): string {
  const parsed = parseYaml(kubeconfig);
  const [config] = parsed.ok ? (parsed.value as readonly { users: readonly { user: { token: string } }[] }[]) : [];
  return config?.users[0]?.user.token ?? "";
}

runContracts(contracts, { deviations: EMBEDDED_DEVIATIONS, pending: PENDING }, () => {
  if (world === undefined) throw new Error("the cluster has not started");
  return world;
});
