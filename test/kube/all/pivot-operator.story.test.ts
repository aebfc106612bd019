/**
 * The pivot between two real API servers, by two operators alone: the real managers of Cluster API make a cluster, its first machine becomes another real API
 * server with managers of its own from the bundle, and its objects move into it. On the way both operators and both API servers are killed once. Watches on both
 * servers check the invariants. Then the parent is deleted, and the cluster scales itself.
 *
 * Stand-ins: kubeadm, kubectl and curl of the machine are Lattice's own; the story is scheduler and kubelet (`joined-nodes.ts`, `delivered-managers.ts`).
 * etcd of the control-plane machine is that of the in-memory provider. No condition and no status of Cluster API is written by the story.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES, CLUSTERCTL } from "../../../scripts/kube/versions.ts";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { contentsOf } from "../../builders/move-world.ts";
import { installCapiKinds } from "../cluster-api/bare-capi.ts";
import { runBootstrapData, type MachineResult } from "../cluster-api/bootstrapped-machine.ts";
import { startCellProcess, type CellProcess } from "../cluster-api/cell-process.ts";
import { runClusterctl } from "../cluster-api/clusterctl.ts";
import { runDeliveredManagers, type DeliveredManagers } from "../cluster-api/delivered-managers.ts";
import { joinNodes, type JoinedNodes } from "../cluster-api/joined-nodes.ts";
import { inMemoryCluster } from "../cluster-api/management-cell.ts";
import { startCapiManagers, type CapiManagers } from "../cluster-api/managers.ts";
import { cloneInto, comparable, emptyNamespace, managersOf } from "../cluster-api/moved-clusters.ts";
import { runOperatorPod, type OperatorPodProcess } from "../cluster-api/operator-pod.ts";
import { publishedBundle } from "../cluster-api/published-bundle.ts";
import { missingRights } from "../cluster-api/refused-requests.ts";
import { bodyOf, watchPivot, type Seen, type WatchedPivot } from "../cluster-api/watched-pivot.ts";
import { eventually, realPlane, type RealPlane } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const NAMESPACE = "capi-c1";
/** Each side makes its own. */
const KUBECONFIG = `Secret ${NAMESPACE}/c1-kubeconfig`;
const ARRIVED_OTHERWISE = ["observedGeneration", "managedFields", "generateName"];
const NOT_BY_CLUSTERCTL = [...ARRIVED_OTHERWISE, "status", "paused"];
const say = (line: string) => console.log(`pivot-operator: ${line}`);

type Contents = ReadonlyMap<string, Json>;
type Kill = { readonly name: string; readonly at: (event: Seen) => boolean; readonly kill: () => Promise<void> };

let folder = "";
let [parent, child, bare]: (RealPlane | undefined)[] = [];
let bareClient: KubeClient | undefined;
let parentManagers: CapiManagers | undefined;
let delivered: DeliveredManagers | undefined;
let cell: CellProcess | undefined;
let joined: JoinedNodes | undefined;
let operator: OperatorPodProcess | undefined;
let watched: WatchedPivot | undefined;
let clients: readonly [KubeClient, KubeClient] | undefined;
let machine: MachineResult;
let binaries = "";
let skipped: string | undefined;
/** The objects at the source, as they were when the move had ended. */
let source: Contents = new Map();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-pivot-"));
  parent = await realPlane();
  const obtained = await obtainPrograms([...CAPI_BINARIES, CLUSTERCTL], { beside: parent.binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  binaries = obtained.folder;
  const plane = parent;
  parentManagers = await startCapiManagers({ kubeconfig: plane.kubeconfigPath, kubectl: (...call) => plane.kubectl(...call) }, binaries);
  cell = await startCellProcess(plane, await publishedBundle(plane, join(folder, "bundle")), join(folder, "cell"));
}, BUILD_LIMIT_MS);

afterAll(async () => {
  await watched?.close();
  await joined?.close();
  for (const one of [operator, delivered, cell, parentManagers]) await one?.close();
  for (const client of [...(clients ?? []), bareClient]) await client?.close();
  for (const plane of [child, parent, bare]) await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

const parentPlane = () => parent ?? expect.fail("there is no parent");
const childPlane = () => child ?? expect.fail("there is no child");
const read = (plane: RealPlane, what: string, path: string) =>
  plane.kubectlOk(["get", ...what.split(" "), "-n", NAMESPACE, "-o", `jsonpath={${path}}`], { limitMs: 30_000 });
const secret = async (name: string, key: string) =>
  Buffer.from(await read(parentPlane(), `secret ${name}`, `.data.${key}`), "base64").toString();
const phase = async (plane: RealPlane) => `${await read(plane, "lc c1", ".status.phase")} ${await read(plane, "lc c1", ".status.ownedBy")}`;
const split = (text: string) => text.split(" ").filter((part) => part !== "");

describe("a pivot by the operators between two real API servers", () => {
  test("the first machine becomes a real API server with the managers of the bundle", { timeout: 600_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    await cell?.apply(inMemoryCluster("c1", { nodes: { controlPlane: 1, workers: 1 } }));
    const name = await eventually(
      "bootstrap data",
      async () =>
        (await read(parentPlane(), "machines -l cluster.x-k8s.io/control-plane", ".items[0].spec.bootstrap.dataSecretName")) || undefined,
      { withinMs: 180_000, everyMs: 500 },
    );
    machine = await runBootstrapData({
      folder,
      name: await read(parentPlane(), "machines -l cluster.x-k8s.io/control-plane", ".items[0].metadata.name"),
      cluster: "c1",
      bootstrapData: await secret(name, "value"),
      startControlPlane: async () => {
        child = await realPlane();
        return child.kubeconfigPath;
      },
    });
    expect([machine.code, machine.output]).toEqual([0, expect.stringContaining("lattice: the operator was installed")]);
    delivered = await runDeliveredManagers({ plane: childPlane(), binaries, folder: join(folder, "managers") });
    say("the managers of the bundle run");
  });

  test("it owns itself, although both operators and both API servers are killed on the way", { timeout: 900_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const plane = childPlane();
    clients = [await clientOf(parentPlane().kubeconfigText), await clientOf(plane.kubeconfigText)];
    const kills = killer();
    watched = await watchPivot({
      source: parentPlane().kubeconfigText,
      target: plane.kubeconfigText,
      namespace: NAMESPACE,
      cluster: "c1",
      onSeen: kills.see,
    });
    joined = await joinNodes({
      child: plane,
      cluster: "c1",
      owners: () => [parent, child].filter((one) => one !== undefined),
      folder: join(folder, "kubelet"),
    });
    operator = await runOperatorPod(plane, machine.node ?? "", join(folder, "pod"));
    const seen = new Set<string>();
    await eventually(
      "the cluster is Ready and owns itself",
      async () => {
        const now = await phase(parentPlane());
        if (!seen.has(now)) say(now);
        seen.add(now);
        return now === "Ready self" || undefined;
      },
      { withinMs: 600_000, everyMs: 500 },
    );
    await kills.ended();
    expect(kills.done().toSorted()).toEqual([
      "API server of the child",
      "API server of the parent",
      "operator of the child",
      "operator of the parent",
    ]);
    expect(watched.wrong).toEqual([]);
    expect([...seen].map((one) => one.split(" ")[0])).toEqual(expect.arrayContaining(["Provisioning", "Pivoting", "Ready"]));
    await eventually("it reports the same itself", async () => (await phase(plane)) === "Ready self" || undefined, { withinMs: 120_000 });
    expect(await missingRights(parentPlane(), cell?.output() ?? "")).toEqual([]);
    expect(await missingRights(plane, operator.output())).toEqual([]);
  });

  test("every object has arrived with its status and its field managers", async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const [before, after] = [watched?.versions("source") ?? new Map(), watched?.versions("target") ?? new Map()];
    source = new Map([...before].map(([name, versions]: readonly [string, readonly Json[]]) => [name, versions.at(-1) ?? null]));
    expect(source.size).toBeGreaterThan(20);
    for (const [name, original] of source) {
      if (name === KUBECONFIG) continue;
      // its own controllers go on with it as soon as it is unpaused, so one of its versions is compared
      const copies: readonly Json[] = after.get(name) ?? [];
      const wanted = comparable(original, ARRIVED_OTHERWISE);
      const equal = copies.find(
        (copy) => JSON.stringify(sortedJson(comparable(copy, ARRIVED_OTHERWISE))) === JSON.stringify(sortedJson(wanted)),
      );
      if (equal === undefined) expect(comparable(copies.at(0) ?? null, ARRIVED_OTHERWISE), name).toEqual(wanted);
      // the manager that has paused the source is not one of the object
      const managers = (object: Json) =>
        managersOf(object)
          .filter((manager) => !manager.includes('"lattice-move"'))
          .join();
      expect(copies.map(managers), name).toContain(managers(original));
    }
    const machines = await read(childPlane(), "machines", ".items[*].metadata.name");
    expect(split(machines)).toHaveLength(2);
  });

  test("a clusterctl move of a clone brings the same objects", { timeout: 600_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const [from] = clients ?? expect.fail("no clients");
    await watched?.close();
    for (const one of [cell, parentManagers]) await one?.close();
    for (const kind of ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"])
      await parentPlane().kubectlOk(["delete", kind, "--all"]);
    bare = await realPlane();
    const plane = bare;
    await installCapiKinds({ kubectl: (...call) => plane.kubectl(...call) });
    bareClient = await clientOf(plane.kubeconfigText);
    const left = await contentsOf(from, NAMESPACE);
    await cloneInto(from, new Map([...source].filter(([name]) => !left.has(name)).map(([name, object]) => [name, unpaused(object)])));
    const moved = await clusterctl(
      "move",
      "--kubeconfig",
      parentPlane().kubeconfigPath,
      "--to-kubeconfig",
      plane.kubeconfigPath,
      "-n",
      NAMESPACE,
    );
    expect(moved.code, moved.stderr).toBe(0);
    const theirs = await contentsOf(bareClient, NAMESPACE);
    const ours = watched?.versions("target") ?? new Map<string, readonly Json[]>();
    for (const [name, object] of theirs) {
      if (name === KUBECONFIG) continue;
      const wanted = JSON.stringify(sortedJson(comparable(bodyOf(object), NOT_BY_CLUSTERCTL)));
      const copies = (ours.get(name) ?? []).map((copy) => JSON.stringify(sortedJson(comparable(copy, NOT_BY_CLUSTERCTL))));
      expect(copies, name).toContain(wanted);
    }
    // clusterctl follows owners only; the token of the bootstrap data is referred to
    const names = (contents: Iterable<string>) => [...contents].filter((name) => !name.startsWith("Secret capi-c1/lattice-")).toSorted();
    expect(names(theirs.keys())).toEqual(names(source.keys()));
  });

  test("the real clusterctl describes it", { timeout: 120_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const described = await clusterctl("describe", "cluster", "c1", "-n", NAMESPACE, "--kubeconfig", childPlane().kubeconfigPath);
    say(described.stdout);
    expect([described.code, described.stdout]).toEqual([0, expect.stringContaining(`Cluster ${NAMESPACE}/c1`)]);
  });

  test("without its parent it scales up and down, by its own managers and its own credential", { timeout: 600_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const plane = childPlane();
    const gone = parentPlane();
    parent = undefined;
    await gone.stop();
    // the machines of the parent's in-memory provider are gone with its process: the child's makes them again, on the same port
    await delivered?.restart("capd");
    const kubeconfig = Buffer.from(await read(plane, "secret c1-kubeconfig", ".data.value"), "base64").toString();
    expect([kubeconfig.includes(plane.url), kubeconfig.includes("lattice-cluster-api")]).toEqual([true, true]);
    const running = (count: number) =>
      eventually(
        `${count} machines run`,
        async () => {
          const phases = split(await read(plane, "machines", ".items[*].status.phase"));
          return (phases.length === count && phases.every((one) => one === "Running")) || undefined;
        },
        { withinMs: 240_000, everyMs: 1_000 },
      );
    const scale = (workers: number) =>
      plane.kubectlOk(["patch", "lc", "c1", "--type=merge", "-p", JSON.stringify({ spec: { nodes: { workers } } })]);
    await running(2);
    await scale(2);
    await running(3);
    await scale(1);
    await running(2);
    expect(split(await plane.kubectlOk(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"]))).toHaveLength(2);
    const logs = `${delivered?.logged(/is forbidden/).join("\n") ?? ""}${operator?.output() ?? ""}`;
    expect(await missingRights(plane, logs)).toEqual([]);
  });

  test("the real clusterctl moves it on", { timeout: 300_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const [, from] = clients ?? expect.fail("no clients");
    const [to, plane] = [bareClient ?? expect.fail("no target"), bare ?? expect.fail("no target")];
    await emptyNamespace(to, await contentsOf(to, NAMESPACE));
    await operator?.close();
    const before = await contentsOf(from, NAMESPACE);
    const moved = await clusterctl(
      "move",
      "--kubeconfig",
      childPlane().kubeconfigPath,
      "--to-kubeconfig",
      plane.kubeconfigPath,
      "-n",
      NAMESPACE,
    );
    expect(moved.code, moved.stderr).toBe(0);
    const clusterApi = (contents: Contents) => [...contents.keys()].filter((name) => !/^(Secret|ConfigMap) /.test(name)).toSorted();
    expect(clusterApi(await contentsOf(to, NAMESPACE))).toEqual(clusterApi(before));
  });
});

const clusterctl = (...args: readonly string[]) => runClusterctl(args, { binaries, folder });

function unpaused(object: Json): Json {
  const { spec, ...rest } = object as JsonObject;
  if (!isJsonObject(spec)) return object;
  const { paused: _paused, ...kept } = spec;
  return { ...rest, spec: kept };
}

function sortedJson(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => sortedJson(item as Json));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sortedJson(inner ?? null)]));
}

/** Kills each process once, when the move has come to a point, and starts it again. One after the other. */
function killer() {
  const added = (side: Seen["side"], kind: string) => (event: Seen) => event.side === side && event.type === "ADDED" && event.kind === kind;
  const kills: Kill[] = [
    { name: "operator of the parent", at: added("target", "Cluster"), kill: async () => cell?.restart() },
    { name: "operator of the child", at: added("target", "KubeadmControlPlane"), kill: async () => operator?.restart() },
    { name: "API server of the child", at: added("target", "Machine"), kill: () => childPlane().restartApiServer("SIGKILL") },
    {
      name: "API server of the parent",
      at: ({ side, type, kind }) => side === "source" && type === "DELETED" && kind !== "Secret" && kind !== "ConfigMap",
      kill: () => parentPlane().restartApiServer("SIGKILL"),
    },
  ];
  const done: string[] = [];
  let isMoving = false;
  let last = Promise.resolve();
  return {
    see: (event: Seen) => {
      if (event.side === "source" && event.object.metadata.name === "lattice-move-journal") isMoving = event.type !== "DELETED";
      const next = kills.find(({ at }) => isMoving && at(event));
      if (next === undefined) return;
      kills.splice(kills.indexOf(next), 1);
      say(`killed: ${next.name}, at ${event.type} ${event.kind} ${event.object.metadata.name} at the ${event.side}`);
      last = last.then(next.kill).then(() => void done.push(next.name));
    },
    done: () => done,
    ended: () => last,
  };
}
