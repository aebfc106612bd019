/** Runs the commands of docs/guides/backup.md and of "Through a directory" in docs/guides/pivot.md as written, on embedded clusters. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "#base";
import { latticeClusterKind } from "#crds";
import type { EmbeddedCluster } from "#embedded-cluster";
import { execFileSync } from "node:child_process";
import { runCli } from "../builders/cli-io.ts";
import { shellSteps } from "../builders/console-steps.ts";
import { isUnpaused, makeProvisioned, startManagementCluster } from "../builders/move-world.ts";
import { rawCluster } from "../builders/valid-resources.ts";

const root = join(import.meta.dirname, "../..");
const stepsOf = (guide: string) => shellSteps(readFileSync(join(root, "docs/guides", guide), "utf8")).map(({ command }) => command);

let cwd = "";
const clusters: EmbeddedCluster[] = [];

async function start(seed: number): Promise<EmbeddedCluster> {
  const cluster = await startManagementCluster(seed);
  clusters.push(cluster);
  await cluster.add(latticeClusterKind.crd(), {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "lattice-system" },
  });
  return cluster;
}

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-backup-guide-"));
});
afterAll(async () => {
  for (const cluster of clusters) await cluster.close();
  rmSync(cwd, { recursive: true });
});

async function run(command: string): Promise<string> {
  const [program = "", ...args] = command.split(" ");
  if (program !== "lattice") return execFileSync(program, args, { cwd, encoding: "utf8" });
  // a kubeconfig is found from the folder of the process
  const located = args.map((arg) => (arg.endsWith(".kubeconfig") ? join(cwd, arg) : arg));
  const { code, stdout, stderr } = await runCli(located, { cwd, clock: systemClock, random: Math.random });
  expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({ command, code: 0, stderr: "" });
  return stdout;
}

test("a cluster is backed up, and restored into a new API server when the old one is gone", async () => {
  const [keys, backup, inspect, restore, ...more] = stepsOf("backup.md");
  expect(more).toEqual([]);
  const prod = await start(11);
  await makeProvisioned(prod.client, "prod", 1, "capi-prod");
  const identity = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "lattice-identity", namespace: "lattice-system" },
    data: { cluster: "prod" },
  };
  await prod.add(rawCluster({}, "prod"), identity);
  await prod.writeKubeconfig(join(cwd, "prod.kubeconfig"));
  await (await start(12)).writeKubeconfig(join(cwd, "new.kubeconfig"));
  await run(keys ?? "");
  expect(await run(backup ?? "")).toContain("saved 27 objects of cluster prod in prod.backup");
  expect(await run(inspect ?? "")).toContain("Cluster_capi-prod_prod.yaml");
  clusters.splice(clusters.indexOf(prod), 1);
  await prod.close();
  expect(await run(restore ?? "")).toBe("restored 25 objects of cluster prod: this API server owns it, epoch 1\n");
});

test("clusters are moved through a directory", async () => {
  const steps = stepsOf("pivot.md").filter((command) => command.includes("prod-export"));
  expect(steps).toHaveLength(3);
  const [a, b] = [await start(13), await start(14)];
  await makeProvisioned(a.client, "prod", 1);
  await a.writeKubeconfig(join(cwd, "a.kubeconfig"));
  await b.writeKubeconfig(join(cwd, "b.kubeconfig"));
  for (const step of steps) await run(step);
  expect([isUnpaused(a, "prod"), isUnpaused(b, "prod")]).toEqual([false, true]);
});
