/** Cells and a cluster that owns itself, as embedded clusters with real operators, sockets and clocks; for changes of the parent. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reducedCapiCrds } from "#bundle";
import type { EmbeddedCluster } from "#embedded-cluster";
import { MOVE_RECORD } from "#pivot";
import { identity, localCluster } from "./cell-world.ts";
import { runOperator, startCellCluster, startLatticeCluster, type RunningOperator } from "./two-clusters.ts";

export type ReparentWorld = {
  readonly leaf: EmbeddedCluster;
  readonly cells: ReadonlyMap<string, EmbeddedCluster>;
  /** Path of the kubeconfig of a cluster. */
  readonly kubeconfig: (name: string) => string;
  /** Ends the operator of a cell. */
  readonly stopCell: (name: string) => Promise<void>;
  /** Ends the operator and the API server of a cell; its data is gone. */
  readonly destroyCell: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** As a finished pivot leaves it. */
export function ownershipRecord(name: string) {
  const data = { id: "m1", state: "committed", epoch: "1", source: "s", startedAt: "", objects: "1", digest: "", finishedAt: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: MOVE_RECORD, namespace: `capi-${name}` }, data };
}

export async function startReparentWorld(cellNames: readonly string[]): Promise<ReparentWorld> {
  const folder = mkdtempSync(join(tmpdir(), "lattice-reparent-"));
  const kubeconfig = (name: string) => join(folder, name);
  const operators = new Map<string, RunningOperator>();
  const cells = new Map<string, EmbeddedCluster>();
  for (const [index, name] of cellNames.entries()) {
    const { cluster } = await startCellCluster(name, index + 2);
    cells.set(name, cluster);
    operators.set(name, await runOperator(cluster));
    await cluster.writeKubeconfig(kubeconfig(name));
  }
  const leaf = await startLatticeCluster();
  await leaf.add(...reducedCapiCrds());
  await leaf.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "capi-leaf" } }, ownershipRecord("leaf"));
  await leaf.add(identity("leaf"), localCluster("leaf"));
  operators.set("leaf", await runOperator(leaf));
  await leaf.writeKubeconfig(kubeconfig("leaf"));
  const stop = async (name: string) => {
    await operators.get(name)?.stop();
    operators.delete(name);
  };
  return {
    leaf,
    cells,
    kubeconfig,
    stopCell: stop,
    destroyCell: async (name) => {
      await stop(name);
      await cells.get(name)?.close();
      cells.delete(name);
    },
    close: async () => {
      for (const name of [...operators.keys()]) await stop(name);
      for (const cluster of [leaf, ...cells.values()]) await cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
