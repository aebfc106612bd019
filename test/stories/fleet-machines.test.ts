/** A child cluster made of local machines: their bootstrap data runs, everything is killed with -9, and the cluster stays the same. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { configMaps, fieldAt, namespaces, nodes, type Node } from "#kube";
import type { KubeClient } from "#kube-client";
import { clientOf } from "../builders/fleet/fleet-client.ts";
import { fleetFolder, listedClusters, processesOf } from "../builders/fleet/fleet-process.ts";
import { controlPlaneData, workerData } from "../builders/fleet/machine-data.ts";
import { MachineFleet } from "../builders/fleet/machine-fleet.ts";

const WITHIN = { timeout: 100_000, interval: 100 };
const { path, remove } = fleetFolder();
const child = join(path, "clusters/child");
const machine = (name: string) => join(child, "machines", name);
const base = { cluster: "child", namespace: "capi-child", version: "v1.35.1" };
const RAN = "echo ran >> /var/ran";

let fleet: MachineFleet | undefined;
let client: KubeClient | undefined;

function running(): { readonly fleet: MachineFleet; readonly client: KubeClient } {
  if (fleet === undefined || client === undefined) throw new Error("the fleet has not started");
  return { fleet, client };
}

afterAll(async () => {
  await client?.close();
  await fleet?.end();
  for (const pid of processesOf(path)) process.kill(pid, "SIGKILL");
  remove();
});

const readyNodes = async () => {
  const { items } = expectOk(await running().client.list(nodes));
  const isReady = ({ status }: Node) =>
    status?.conditions?.some(({ type, status: truth }) => type === "Ready" && truth === "True") === true;
  return items.filter(isReady).map(({ metadata }) => metadata.name);
};
const uidOf = async (name: string) => expectOk(await running().client.get(namespaces, { name })).metadata.uid;

const isNode = (pid: number) =>
  existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(process.execPath);

describe("a cluster of local machines", () => {
  test("starts with its first control-plane machine, and has the Nodes of its machines", async () => {
    fleet = new MachineFleet(path);
    // writes to the cluster as a bootstrap script does
    const manifests = `kubectl --kubeconfig /etc/kubernetes/admin.conf apply --server-side -f /etc/lattice/manifests.yaml`;
    const bootstrapData = controlPlaneData({ ...base, after: [manifests, RAN] }).replace(
      "write_files:\n",
      `write_files:\n-   path: /etc/lattice/manifests.yaml\n    content: |\n      {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "made-by-script"}}\n`,
    );
    fleet.ensure({ id: "u1", name: "child-cp-1", ...base, controlPlane: true, bootstrapData });
    fleet.ensure({ id: "u2", name: "child-w-1", ...base, controlPlane: false, bootstrapData: workerData({ after: [RAN] }) });
    await expect.poll(() => existsSync(join(machine("child-cp-1"), "completed")), WITHIN).toBe(true);
    client = await clientOf(join(machine("child-cp-1"), "etc/kubernetes/admin.conf"));
    await expect.poll(readyNodes, WITHIN).toEqual(["child-cp-1", "child-w-1"]);
    const [control, worker] = expectOk(await client.list(nodes)).items;
    expect(control).toMatchObject({
      metadata: { labels: { "node-role.kubernetes.io/control-plane": "", pool: "control-plane" } },
      spec: {
        providerID: "local:///capi-child/child-cp-1",
        taints: [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }],
      },
      status: { nodeInfo: { kubeletVersion: "v1.35.1" } },
    });
    expect(worker?.spec).toEqual({ providerID: "local:///capi-child/child-w-1" });
    expect(JSON.parse(expectOk(await client.raw("/version")))).toMatchObject({ minor: "35", gitVersion: "v1.35.1" });
    const kept = expectOk(await client.get(configMaps, { namespace: "kube-system", name: "kubeadm-config" }));
    expect(fieldAt(kept, "data", "ClusterConfiguration")).toContain("clusterName: child");
    // nothing that its bootstrap data does not have
    expect((await client.get(namespaces, { name: "lattice-system" })).ok).toBe(false);
    expect(await uidOf("made-by-script")).toBeDefined();
    await expect
      .poll(() => fleet?.states, WITHIN)
      .toEqual(
        new Map([
          ["u1", { id: "u1", phase: "running", nodeName: "child-cp-1" }],
          ["u2", { id: "u2", phase: "running", nodeName: "child-w-1" }],
        ]),
      );
    expect(listedClusters(path)).toMatchObject([{ name: "mgmt" }, { name: "child", parent: "mgmt", state: "Running" }]);
  }, 300_000);

  test("comes back after everything was killed: a machine continues, and no machine repeats what it has completed", async () => {
    const before = await uidOf("kube-system");
    const go = join(machine("child-w-2"), "tmp/go");
    const data = workerData({ after: ["until [ -e /tmp/go ]; do sleep 0.1; done", RAN] });
    running().fleet.ensure({ id: "u3", name: "child-w-2", ...base, controlPlane: false, bootstrapData: data });
    await expect.poll(readyNodes, WITHIN).toContain("child-w-2");
    // a supervisor that is stopped ends no machine; the shell of the machine is not killed, and notices that the others are gone
    running().fleet.pause();
    for (const pid of processesOf(path).filter(isNode)) process.kill(pid, "SIGKILL");
    await running().fleet.kill();
    await expect.poll(() => processesOf(path), WITHIN).toEqual([]);
    fleet = new MachineFleet(path);
    await expect.poll(async () => (await running().client.get(namespaces, { name: "kube-system" })).ok, WITHIN).toBe(true);
    writeFileSync(go, "");
    await expect.poll(() => existsSync(join(machine("child-w-2"), "completed")), WITHIN).toBe(true);
    await expect.poll(readyNodes, WITHIN).toEqual(["child-cp-1", "child-w-1", "child-w-2"]);
    expect(await uidOf("kube-system")).toBe(before);
    // the supervisor has all states before any machine is requested again
    await expect
      .poll(() => [...(fleet?.states ?? [])].map(([id, { phase }]) => [id, phase]), WITHIN)
      .toEqual([
        ["u1", "running"],
        ["u2", "running"],
        ["u3", "running"],
      ]);
    const ran = ["child-cp-1", "child-w-1", "child-w-2"].map((name) => readFileSync(join(machine(name), "var/ran"), "utf8"));
    expect(ran).toEqual(["ran\n", "ran\n", "ran\n"]);
  }, 300_000);

  test("is removed with its last control-plane machine, and leaves nothing", async () => {
    const { fleet: current } = running();
    await client?.close();
    client = undefined;
    current.remove("u2");
    await expect.poll(() => existsSync(machine("child-w-1")), WITHIN).toBe(false);
    expect(listedClusters(path).map(({ name }) => name)).toEqual(["mgmt", "child"]);
    current.remove("u1");
    await expect.poll(() => [readdirSync(join(path, "clusters")), current.states.size], WITHIN).toEqual([["mgmt"], 0]);
    await expect.poll(() => listedClusters(path).map(({ name }) => name), WITHIN).toEqual(["mgmt"]);
    expect(processesOf(child)).toEqual([]);
  }, 300_000);
});
