/** The two planes whose controllers delete namespaces: a cluster in this process, and etcd, kube-apiserver and kube-controller-manager. */
import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { expectOk, systemClock } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { createKubeClient, httpTransport, loadKubeconfig, type KubeClient } from "#kube-client";
import { controllerManager } from "../../test/kube/harness/components.ts";
import { findFreePorts } from "../../test/kube/harness/free-ports.ts";
import { realPlane } from "../../test/kube/harness/index.ts";

export type SweepPlane = { readonly client: KubeClient; readonly close: () => Promise<void> };

export async function embeddedPlane(): Promise<SweepPlane> {
  const cluster = await startEmbeddedCluster({ controllers: { simulation: false }, logActions: false });
  return { client: cluster.client, close: () => cluster.close() };
}

/** `flags`: of kube-controller-manager, beside those that it always has. */
export async function kubernetesPlane(binaries: string, flags: readonly string[]): Promise<SweepPlane> {
  const plane = await realPlane({ binaries, controllerManager: "absent" });
  const [port = 0] = expectOk(await findFreePorts(1));
  const { folder, logs } = plane.data;
  const ports = { etcd: 0, etcdPeer: 0, apiServer: 0, controllerManager: port };
  const { path, args, log } = controllerManager({ binaries, folder, logs, ports });
  const output = openSync(log, "a");
  const manager = spawn(path, [...args, ...flags], { stdio: ["ignore", output, output], env: { HOME: join(folder) } });
  const config = expectOk(await loadKubeconfig({ path: plane.kubeconfigPath, env: {}, home: "/", clock: systemClock }));
  const client = createKubeClient({ transport: httpTransport(config, { clock: systemClock }), clock: systemClock, random: Math.random });
  const close = async () => {
    await client.close();
    manager.kill("SIGKILL");
    await plane.stop();
  };
  return { client, close };
}
