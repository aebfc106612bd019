/**
 * `lattice install` and `lattice uninstall` with a real API server as the bootstrap cluster: it gets the real managers of Cluster API from the bundle, makes a
 * management cluster whose first machine becomes another real API server, and has nothing of it afterwards. Both commands are killed at their steps, and the same
 * command continues.
 *
 * Stand-ins: kubeadm, kubectl and curl of the machine are Lattice's own; the story is scheduler and kubelet (`joined-nodes.ts`, `delivered-managers.ts`): it
 * runs the managers as long as their Deployments exist, and the API server of the management cluster as long as its machine exists.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { formatYamlDocuments } from "#kube";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES } from "../../../scripts/kube/versions.ts";
import { installedNames } from "../../builders/install-cluster.ts";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { runCommand, runKilledAt, type RanCommand } from "../../builders/killed-command.ts";
import { runBootstrapData } from "../cluster-api/bootstrapped-machine.ts";
import { runDeliveredManagers, type DeliveredManagers } from "../cluster-api/delivered-managers.ts";
import { joinNodes, type JoinedNodes } from "../cluster-api/joined-nodes.ts";
import { inMemoryCluster } from "../cluster-api/management-cell.ts";
import { runOperatorPod, type OperatorPodProcess } from "../cluster-api/operator-pod.ts";
import { publishedBundle } from "../cluster-api/published-bundle.ts";
import { missingRights } from "../cluster-api/refused-requests.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { eventually, realPlane, type RealPlane } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const NAME = "mgmt";
const NAMESPACE = `capi-${NAME}`;
const say = (line: string) => console.log(`install: ${line}`);
const split = (text: string) => text.split(" ").filter((part) => part !== "");

let folder = "";
let binaries = "";
let skipped: string | undefined;
let [seed, management]: (RealPlane | undefined)[] = [];
let before: readonly string[] = [];
let joined: JoinedNodes | undefined;
let delivered: DeliveredManagers | undefined;
let operator: OperatorPodProcess | undefined;
/** Of the bootstrap cluster, while it has them. */
const ofSeed: DeliveredManagers[] = [];

const seedPlane = () => seed ?? expect.fail("there is no bootstrap cluster");
const managementPlane = () => management ?? expect.fail("there is no management cluster");
const path = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-install-"));
  seed = await realPlane();
  const obtained = await obtainPrograms(CAPI_BINARIES, { beside: seed.binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  binaries = obtained.folder;
  await publishedBundle(seed, path("bundle"));
  const [grpcPort, bootstrapPort, proxyPort] = expectOk(await findFreePorts(3));
  const endpoints = { host: "127.0.0.1", grpcPort, bootstrapPort, proxyPort, service: { type: "ClusterIP" } };
  writeFileSync(path("mgmt.yaml"), formatYamlDocuments([inMemoryCluster(NAME, { nodes: { controlPlane: 1, workers: 1 }, endpoints })]));
  before = await seedContents();
}, BUILD_LIMIT_MS);

afterAll(async () => {
  for (const one of [joined, operator, delivered, ...ofSeed]) await one?.close();
  for (const plane of [management, seed]) await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

/** What an installation adds. */
async function seedContents(): Promise<readonly string[]> {
  const client = await clientOf(seedPlane().kubeconfigText);
  const names = await installedNames(client);
  await client.close();
  const kinds = "clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,apiservices";
  const others = await seedPlane().kubectlOk(["get", kinds, "-o", "name"]);
  const maps = await seedPlane().kubectlOk(["get", "configmaps", "-n", "kube-system", "-o", "name"]);
  return [...names, ...others.trim().split("\n"), ...maps.trim().split("\n")].toSorted();
}

/** Killed at each of these, then run to its end. */
function killedAt(steps: readonly RegExp[], argv: readonly string[]): Promise<RanCommand> {
  const clusters = ["--bootstrap-kubeconfig", seedPlane().kubeconfigPath, "--management-kubeconfig", path("mgmt.kubeconfig")];
  const env = { PATH: process.env["PATH"], HOME: folder };
  return runKilledAt(steps, async (killWhen) => {
    const ran = await runCommand([...argv, ...clusters, "--bundle", path("bundle")], { env, killWhen });
    say(`${argv[0] ?? ""}${killWhen === undefined ? "" : ` until ${killWhen.source}`}: code ${ran.code}\n${ran.output}`);
    return ran;
  });
}

const read = async (plane: RealPlane, what: string, field: string) =>
  plane.kubectlOk(["get", ...what.split(" "), "-o", `jsonpath={${field}}`], { limitMs: 30_000 });

/** Starts the managers of the bootstrap cluster when it is prepared, and ends them when their Deployments are deleted. */
async function runSeedManagers(run: string, ended: Promise<RanCommand>): Promise<void> {
  const state = () => read(seedPlane(), "configmap lattice-install -n kube-system", ".data.state");
  const prepared = eventually("the bootstrap cluster is prepared", async () => (await state()) === "prepared" || undefined, {
    withinMs: 180_000,
    everyMs: 500,
  });
  const early = ended.then(({ output }) => Promise.reject(new Error(`the command has ended: ${output}`)));
  await Promise.race([prepared, early]);
  const managers = await runDeliveredManagers({ plane: seedPlane(), binaries, folder: path(`managers-of-${run}`) });
  ofSeed.push(managers);
  say("the managers of the bootstrap cluster run");
  const untilDeleted = async () => {
    const left = async () => (await seedPlane().kubectl(["get", "deployments", "-n", "capi-system", "-o", "name"])).stdout.trim();
    await eventually("the Deployments are deleted", async () => (await left()) === "" || undefined, { withinMs: 1_500_000, everyMs: 500 });
    await managers.close();
    say("the managers of the bootstrap cluster have ended");
  };
  void untilDeleted().catch((problem: unknown) => say(String(problem)));
}

/** What a machine, a scheduler and kubelets do for the management cluster. */
async function runFirstMachine(): Promise<void> {
  const controlPlane = `machines -n ${NAMESPACE} -l cluster.x-k8s.io/control-plane`;
  const secret = await eventually(
    "bootstrap data",
    async () => (await read(seedPlane(), controlPlane, ".items[0].spec.bootstrap.dataSecretName")) || undefined,
    { withinMs: 240_000, everyMs: 500 },
  );
  const data = await read(seedPlane(), `secret ${secret} -n ${NAMESPACE}`, ".data.value");
  const machine = await runBootstrapData({
    folder,
    name: await read(seedPlane(), controlPlane, ".items[0].metadata.name"),
    cluster: NAME,
    bootstrapData: Buffer.from(data, "base64").toString(),
    startControlPlane: async () => {
      management = await realPlane();
      return management.kubeconfigPath;
    },
  });
  expect([machine.code, machine.output]).toEqual([0, expect.stringContaining("lattice: the operator was installed")]);
  delivered = await runDeliveredManagers({ plane: managementPlane(), binaries, folder: path("managers") });
  joined = await joinNodes({
    child: managementPlane(),
    cluster: NAME,
    owners: () => [seed, management].filter((one) => one !== undefined),
    folder: path("kubelet"),
  });
  operator = await runOperatorPod(managementPlane(), machine.node ?? "", path("pod"));
  writeFileSync(path("mgmt.kubeconfig"), managementPlane().kubeconfigText, { mode: 0o600 });
  say("the management cluster runs");
}

describe("a management cluster from a real bootstrap cluster", () => {
  test("a killed installation is continued, and the management cluster owns itself", { timeout: 1_500_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const argv = ["install", "-f", path("mgmt.yaml"), "--bootstrap-address", "127.0.0.1", "--operator-bundle", path("bundle")];
    const steps = [/is prepared/, /becomes a cell/, /creates the management cluster/, /Pivoting/, /forgets its parent/, /cleaned up/];
    const installed = killedAt(steps, argv);
    await runSeedManagers("install", installed);
    await runFirstMachine();
    const { code, output } = await installed;
    expect([code, output]).toEqual([0, expect.stringContaining(`${NAME} is installed, and owns itself`)]);
    const plane = managementPlane();
    await eventually(
      "it reports that it owns itself",
      async () => {
        const fields = [".status.phase", ".status.ownedBy", ".spec.cellRef"].map((field) => read(plane, `lc ${NAME}`, field));
        return (await Promise.all(fields)).join() === "Ready,self," || undefined;
      },
      { withinMs: 120_000, everyMs: 500 },
    );
    expect((await plane.kubectl(["get", "secret", "lattice-parent-config", "-n", "lattice-system"])).stderr).toContain("NotFound");
    expect(await missingRights(plane, operator?.output() ?? "")).toEqual([]);
  });

  test("the bootstrap cluster is as it was", async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    expect(await seedContents()).toEqual(before);
  });

  test("it scales itself, by its own managers", { timeout: 600_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const plane = managementPlane();
    // the machines of the in-memory provider of the bootstrap cluster are gone with its process: this one makes them again, on the same port
    await delivered?.restart("capd");
    await plane.kubectlOk(["patch", "lc", NAME, "--type=merge", "-p", JSON.stringify({ spec: { nodes: { workers: 2 } } })]);
    await eventually(
      "three machines run",
      async () => {
        const phases = split(await read(plane, `machines -n ${NAMESPACE}`, ".items[*].status.phase"));
        return (phases.length === 3 && phases.every((phase) => phase === "Running")) || undefined;
      },
      { withinMs: 240_000, everyMs: 1_000 },
    );
  });

  test("the reverse is killed and continued, too, and nothing is left", { timeout: 1_500_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const plane = managementPlane();
    const argv = ["uninstall", NAME];
    const steps = [/is prepared/, /moved to the bootstrap cluster/, /machines of the management cluster are deleted/, /cleaned up/];
    const uninstalled = killedAt(steps, argv);
    await runSeedManagers("uninstall", uninstalled);
    const isOwner = async () => (await read(seedPlane(), `clusters -n ${NAMESPACE}`, ".items[0].metadata.deletionTimestamp")) !== "";
    await eventually("the Cluster is being deleted in the bootstrap cluster", async () => (await isOwner()) || undefined, {
      withinMs: 300_000,
      everyMs: 250,
    });
    // its Pods, as its machines go
    await operator?.close();
    await delivered?.close();
    const machines = async () => (await seedPlane().kubectl(["get", "machines", "-n", NAMESPACE, "-o", "name"])).stdout.trim();
    await eventually("its machines are deleted", async () => (await machines()) === "" || undefined, { withinMs: 600_000, everyMs: 250 });
    await joined?.close();
    joined = undefined;
    await plane.stop();
    management = undefined;
    const { code, output } = await uninstalled;
    expect([code, output]).toEqual([0, expect.stringContaining(`${NAME} is gone`)]);
    expect(await seedContents()).toEqual(before);
  });
});
