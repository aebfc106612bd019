/**
 * A real API server becomes the child of a cell on another real API server. The real managers of Cluster API make the bootstrap data from our
 * KubeadmControlPlane; the runner of local machines runs it; `kubeadm init` yields the second control plane; it registers, gets its manifests, and
 * its operator starts from its Deployment and connects. The management cluster knows no address of the child but one where nothing listens.
 *
 * Stand-ins: kubeadm, kubectl and curl of the machine are Lattice's own, and the story acts as scheduler and kubelet for the operator's Pod.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { loadBundle } from "#bundle";
import { nodes } from "#kube";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES } from "../../../scripts/kube/versions.ts";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { runBootstrapData, type MachineResult } from "../cluster-api/bootstrapped-machine.ts";
import { inMemoryCluster, startManagementCell, type ManagementCell } from "../cluster-api/management-cell.ts";
import { MANAGERS, startCapiManagers, type CapiManagers } from "../cluster-api/managers.ts";
import { runOperatorPod, type OperatorPodProcess } from "../cluster-api/operator-pod.ts";
import { publishedBundle } from "../cluster-api/published-bundle.ts";
import { eventually, realPlane, type RealPlane } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const say = (line: string) => console.log(`real child: ${line}`);

let folder = "";
let parent: RealPlane;
let child: RealPlane | undefined;
let managers: CapiManagers | undefined;
let cell: ManagementCell | undefined;
let machine: MachineResult;
let operator: OperatorPodProcess | undefined;
let skipped: string | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-child-"));
  parent = await realPlane();
  const obtained = await obtainPrograms(CAPI_BINARIES, { beside: parent.binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  const server = { kubeconfig: parent.kubeconfigPath, kubectl: (...call: Parameters<RealPlane["kubectl"]>) => parent.kubectl(...call) };
  managers = await startCapiManagers(server, obtained.folder);
  cell = await startManagementCell(parent, expectOk(loadBundle(await publishedBundle(parent, join(folder, "bundle")))));
}, BUILD_LIMIT_MS);

afterAll(async () => {
  await operator?.close();
  await child?.stop();
  await cell?.close();
  await managers?.close();
  await parent.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

const read = (what: string, path: string) => parent.kubectlOk(["get", ...what.split(" "), "-n", "capi-c1", "-o", `jsonpath={${path}}`]);
const secret = async (name: string, key: string) => Buffer.from(await read(`secret ${name}`, `.data.${key}`), "base64").toString();
const runningChild = () => child ?? expect.fail("there is no child");

describe("a second real API server as a child", () => {
  test("starts from the bootstrap data of the real kubeadm provider, and gets its manifests", { timeout: 300_000 }, async ({ skip }) => {
    if (skipped !== undefined) skip(skipped);
    await cell?.apply(inMemoryCluster("c1", { nodes: { controlPlane: 1, workers: 0 } }));
    const data = await eventually(
      "the bootstrap data of the control-plane machine",
      async () => (await read("machines", ".items[0].spec.bootstrap.dataSecretName")) || undefined,
      { withinMs: 120_000, everyMs: 500 },
    );
    expect(await secret(data, "format")).toBe("cloud-config");
    machine = await runBootstrapData({
      folder,
      name: await read("machines", ".items[0].metadata.name"),
      cluster: "c1",
      bootstrapData: await secret(data, "value"),
      startControlPlane: async (version) => {
        expect(version).toBe("v1.36.3");
        child = await realPlane();
        return child.kubeconfigPath;
      },
    });
    expect([machine.code, machine.output]).toEqual([0, expect.stringContaining("lattice: the operator was installed")]);
    // the files of Cluster API are below the folder of the machine, with their modes
    expect(statSync(join(machine.root, "etc/kubernetes/pki/ca.key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(machine.root, "run/cluster-api/bootstrap-success.complete"), "utf8")).toBe("success\n");
    expect(machine.output).not.toContain(readFileSync(join(machine.root, "etc/lattice/token"), "utf8").trim());
  });

  test("its operator runs from its Deployment, adds the inventory of clusterctl, and connects", { timeout: 240_000 }, async ({ skip }) => {
    if (skipped !== undefined) skip(skipped);
    const plane = runningChild();
    operator = await runOperatorPod(plane, machine.node ?? "", join(folder, "pod"));
    await eventually(
      "the parent reports the connection",
      async () => (await read("lc c1", '.status.conditions[?(@.type=="AgentConnected")].status')) === "True" || undefined,
      { withinMs: 120_000, everyMs: 500 },
    );
    const inventory = await eventually(
      "the inventory of clusterctl",
      async () => {
        const names = (await plane.kubectlOk(["get", "providers", "-A", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
        return names.length === MANAGERS.length ? names : undefined;
      },
      { withinMs: 60_000 },
    );
    expect(inventory.toSorted()).toEqual(MANAGERS.map(({ name }) => name).toSorted());
    expect(operator.output()).not.toMatch(/forbidden/i);
  });

  test("is read through the tunnel, and its address is in no object of the parent", { timeout: 180_000 }, async ({ skip }) => {
    if (skipped !== undefined) skip(skipped);
    const plane = runningChild();
    const through = await clientOf(await secret("c1-kubeconfig", "value"));
    const seen = expectOk(await through.list(nodes)).items.map(({ metadata }) => [metadata.name, metadata.uid]);
    await through.close();
    const uid = await plane.kubectlOk(["get", "node", machine.node ?? "", "-o", "jsonpath={.metadata.uid}"]);
    expect(seen).toEqual([[machine.node, uid]]);
    // the real managers read it there too: kubeadm's configuration, and the probe of core
    await eventually(
      "the managers reach the child",
      async () => {
        const initialized = await read("kubeadmcontrolplanes", '.items[0].status.conditions[?(@.type=="Initialized")].status');
        const probed = await read("cluster c1", '.status.conditions[?(@.type=="RemoteConnectionProbe")].status');
        return (initialized === "True" && probed === "True") || undefined;
      },
      { withinMs: 90_000, everyMs: 500 },
    );
    const logs = MANAGERS.map(({ binary }) => readFileSync(join(managers?.folder ?? "", `${binary}.log`), "utf8"));
    expect(logs.flatMap((log) => log.split("\n").filter((line) => line.includes("is forbidden")))).toEqual([]);
    expect(await read("cluster c1", ".spec.controlPlaneEndpoint")).toBe('{"host":"127.0.0.9","port":6443}');
    expect(await parent.kubectlOk(["get", "clusterresourcesets", "-A", "-o", "name"])).toBe("");
    const kinds = "latticeclusters,clusters,machines,kubeadmcontrolplanes,kubeadmconfigs,devclusters,devmachines,configmaps";
    const objects = await parent.kubectlOk(["get", kinds, "-A", "-o", "yaml"]);
    const secrets = await parent.kubectlOk([
      "get",
      "secrets",
      "-n",
      "capi-c1",
      "-o",
      "jsonpath={range .items[*]}{.data.value}{'\\n'}{end}",
    ]);
    const texts = secrets.split("\n").map((value) => Buffer.from(value, "base64").toString());
    const port = new RegExp(`\\b${new URL(plane.url).port}\\b`);
    expect([objects, ...texts].filter((one) => port.test(one))).toEqual([]);
  });
});
