/**
 * `lattice move` beside the real clusterctl on two real API servers: a cluster of the real managers moves by one and, as a clone, by the other, and
 * object by object both are the same, but for the status, which only `lattice move` carries. The points at which a killed clusterctl cannot
 * continue are no such points here. And clusterctl moves and describes a cluster that Lattice has compiled.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fieldAt, formatYamlDocuments, type Json, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES, CLUSTERCTL } from "../../../scripts/kube/versions.ts";
import { devClusterYaml } from "../../builders/capi-objects.ts";
import { publishedExampleObjects } from "../../builders/example-clusters.ts";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { runMoveProcess } from "../../builders/move-process.ts";
import { contentsOf, makeProvisioned } from "../../builders/move-world.ts";
import { PROGRAM } from "../../builders/program.ts";
import { installCapiKinds } from "../cluster-api/bare-capi.ts";
import { runClusterctl } from "../cluster-api/clusterctl.ts";
import { startCapiManagers } from "../cluster-api/managers.ts";
import { cloneInto, comparable, emptyNamespace, managersOf } from "../cluster-api/moved-clusters.ts";
import { eventually, realPlane, runProgram, type RealPlane } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const READY_MS = 400_000;
const INMEMORY_NAMESPACE =
  publishedExampleObjects().find(({ object }) => object.kind === "DevCluster" && JSON.stringify(object).includes("inMemory"))?.object
    .metadata.namespace ?? "none";
const say = (line: string) => console.log(`move-clusterctl: ${line}`);

describe("lattice move and clusterctl move", () => {
  let [source, target]: (RealPlane | undefined)[] = [];
  let clients: readonly [KubeClient, KubeClient] | undefined;
  let binaries = "";
  let skipped: string | undefined;
  const folder = mkdtempSync(join(tmpdir(), "lattice-move-clusterctl-"));
  const compiled = publishedExampleObjects()
    .map(({ object, once }) =>
      once === undefined
        ? object
        : ({ ...object, spec: { ...(fieldAt(object, "spec") as object), ...(once["spec"] as object) } } as KubeObject),
    )
    .filter(({ metadata }) => metadata.namespace === INMEMORY_NAMESPACE);

  const planes = () => (source === undefined || target === undefined ? expect.fail("no planes") : ([source, target] as const));
  const both = () => clients ?? expect.fail("no clients");
  const clusterctl = (...args: readonly string[]) => runClusterctl(args, { binaries, folder });
  const lattice = (...args: readonly string[]) =>
    runProgram(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env["PATH"], HOME: "/nonexistent" }, limitMs: 120_000 });
  const places = () => ["--kubeconfig", planes()[0].kubeconfigPath, "--to-kubeconfig", planes()[1].kubeconfigPath];

  beforeAll(async () => {
    [source, target] = [await realPlane(), await realPlane()];
    const obtained = await obtainPrograms([...CAPI_BINARIES, CLUSTERCTL], { beside: source.binaries, environment: process.env, say });
    if (obtained.kind === "failed") throw new Error(obtained.why);
    if (obtained.kind === "skipped") return void (skipped = obtained.why);
    binaries = obtained.folder;
    const [a, b] = planes();
    await installCapiKinds({ kubectl: (...call) => b.kubectl(...call) });
    await provision(a);
    clients = [await clientOf(a.kubeconfigText), await clientOf(b.kubeconfigText)];
  }, BUILD_LIMIT_MS);

  afterAll(async () => {
    for (const client of clients ?? []) await client.close();
    for (const plane of [source, target]) await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  /** By the real managers, which are gone afterwards with their webhooks: what follows is of the moves alone. */
  async function provision(plane: RealPlane): Promise<void> {
    const managers = await startCapiManagers({ kubeconfig: plane.kubeconfigPath, kubectl: (...call) => plane.kubectl(...call) }, binaries);
    try {
      for (const name of ["c1", INMEMORY_NAMESPACE]) await plane.kubectlOk(["create", "namespace", name]);
      await plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: devClusterYaml("c1") });
      await plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments(compiled) });
      await eventually("the machines of c1 have nodes", () => hasNodes(plane, "c1"), { withinMs: READY_MS, everyMs: 2_000 });
      await eventually("the compiled cluster has machines", () => hasMachines(plane), { withinMs: READY_MS, everyMs: 2_000 });
    } finally {
      await managers.close();
    }
    for (const kind of ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"])
      await plane.kubectlOk(["delete", kind, "--all"]);
  }

  /** Without its cell it has no bootstrap token, so its machines wait. */
  async function hasMachines(plane: RealPlane): Promise<true | undefined> {
    const owners = "{.items[*].metadata.ownerReferences[0].kind}";
    const found = await plane.kubectlOk(["get", "machines,kubeadmconfigs", "-n", INMEMORY_NAMESPACE, "-o", `jsonpath=${owners}`]);
    return found.split(" ").length >= 6 ? true : undefined;
  }

  /** As its managers would write it when its machines have joined. */
  async function completeCompiled(plane: RealPlane, name: string): Promise<void> {
    const condition = {
      type: "ControlPlaneInitialized",
      status: "True",
      reason: "Test",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const patch = (what: string, status: object) =>
      plane.kubectlOk(["patch", what, "-n", INMEMORY_NAMESPACE, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
    const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
    await patch(`clusters.cluster.x-k8s.io/${name}`, { initialization, conditions: [condition] });
    const machines = await plane.kubectlOk(["get", "machines", "-n", INMEMORY_NAMESPACE, "-o", "name"]);
    for (const machine of machines.split("\n").filter((line) => line !== ""))
      await patch(machine, { nodeRef: { name: machine.split("/")[1] } });
  }

  async function hasNodes(plane: RealPlane, namespace: string): Promise<true | undefined> {
    const read = (what: string, path: string) =>
      plane.kubectlOk(["get", what, "-n", namespace, "-o", `jsonpath={${path}}`], { limitMs: 60_000 });
    const initialized = await read("clusters", '.items[*].status.conditions[?(@.type=="ControlPlaneInitialized")].status');
    const wanted = (await read("machinedeployments", ".items[*].spec.replicas")).split(" ").reduce((sum, count) => sum + Number(count), 0);
    const planeReplicas = Number(await read("kubeadmcontrolplanes", ".items[0].spec.replicas"));
    const nodes = (await read("machines", ".items[*].status.nodeRef.name")).split(" ").filter((name) => name !== "");
    return initialized === "True" && nodes.length === wanted + planeReplicas ? true : undefined;
  }

  test("both move the same objects, and lattice move also the status", { timeout: 600_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const [from, to] = both();
    const original = moved(await contentsOf(from, "c1"));
    const [a, b] = planes();
    const ours = await runMoveProcess({ from: a.kubeconfigPath, to: b.kubeconfigPath, namespace: "c1" });
    expect(ours.code, ours.stderr).toBe(0);
    say(ours.stdout.trim());
    const byLattice = moved(await contentsOf(to, "c1"));
    expect([...byLattice.keys()]).toEqual([...original.keys()]);
    for (const [name, object] of original) {
      expect(comparable(byLattice.get(name), ["observedGeneration", "managedFields", "generateName"]), name).toEqual(
        comparable(object, ["observedGeneration", "managedFields", "generateName"]),
      );
      expect(managersOf(byLattice.get(name)), name).toEqual(managersOf(object));
    }
    await emptyNamespace(to, byLattice);
    await cloneInto(from, original);
    const theirs = await clusterctl("move", ...places(), "-n", "c1");
    expect(theirs.code, theirs.stderr).toBe(0);
    const byClusterctl = moved(await contentsOf(to, "c1"));
    expect([...byClusterctl.keys()]).toEqual([...byLattice.keys()]);
    for (const [name, object] of byLattice) {
      const hidden = ["status", "managedFields"];
      expect(comparable(object, hidden), name).toEqual(comparable(byClusterctl.get(name), hidden));
    }
    const withStatus = (contents: ReadonlyMap<string, Json>) =>
      [...contents].filter(([, object]) => JSON.stringify(object).includes('"status":{'));
    expect([withStatus(byClusterctl).length, withStatus(byLattice).length > 10]).toEqual([0, true]);
  });

  test("clusterctl describes and moves a cluster that Lattice has compiled", { timeout: 300_000 }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const [from, to] = both();
    const name = compiled.find(({ kind }) => kind === "Cluster")?.metadata.name ?? expect.fail("no Cluster");
    await completeCompiled(planes()[0], name);
    const described = await clusterctl("describe", "cluster", name, "-n", INMEMORY_NAMESPACE, "--kubeconfig", planes()[0].kubeconfigPath);
    say(described.stdout);
    expect(described.code, described.stderr).toBe(0);
    expect(described.stdout).toContain(`Cluster ${INMEMORY_NAMESPACE}/${name}`);
    const before = moved(await contentsOf(from, INMEMORY_NAMESPACE));
    const ran = await clusterctl("move", ...places(), "-n", INMEMORY_NAMESPACE);
    expect(ran.code, ran.stderr).toBe(0);
    const after = moved(await contentsOf(to, INMEMORY_NAMESPACE));
    for (const { kind, apiVersion, metadata } of compiled) {
      const group = apiVersion.includes("/") ? `.${apiVersion.split("/")[0]}` : "";
      await planes()[1].kubectlOk(["get", `${kind.toLowerCase()}${group}`, metadata.name, "-n", INMEMORY_NAMESPACE, "-o", "name"]);
    }
    expect([...after.keys()]).toEqual([...before.keys()]);
  });

  test(
    "clusterctl reads a directory of lattice, and an incomplete one of clusterctl is refused",
    { timeout: 300_000 },
    async ({ skip }) => {
      if (skipped !== undefined) return skip(skipped);
      const [from, to] = both();
      const [a, b] = planes();
      await makeProvisioned(from, "d1", 2);
      const exported = moved(await contentsOf(from, "d1"));
      const ours = join(folder, "lattice-export");
      const wrote = await lattice("pivot", "export", "--kubeconfig", a.kubeconfigPath, "-n", "d1", "--directory", ours);
      expect(wrote.code, wrote.stderr).toBe(0);
      const theirImport = await clusterctl("move", "--from-directory", ours, "--to-kubeconfig", b.kubeconfigPath);
      expect(theirImport.code, theirImport.stderr).toBe(0);
      // clusterctl takes what the clusters own from a directory, and not what they refer to
      const owned = new Map([...exported].filter(([name]) => name !== "Secret d1/bootstrap-token"));
      expectSame(moved(await contentsOf(to, "d1")), owned, ["status", "managedFields"]);

      await makeProvisioned(from, "d2", 2);
      const theirs = join(folder, "clusterctl-directory");
      mkdirSync(theirs);
      const saved = await clusterctl("move", "--to-directory", theirs, "--kubeconfig", a.kubeconfigPath, "-n", "d2");
      expect(saved.code, saved.stderr).toBe(0);
      const target = ["--kubeconfig", b.kubeconfigPath, "--directory", theirs];
      const refused = await lattice("pivot", "import", ...target);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--force-owner")]);
      // clusterctl saves what the clusters own, and not what they refer to: such a cluster would be incomplete
      const incomplete = await lattice("pivot", "import", ...target, "--force-owner");
      expect([incomplete.code, incomplete.stderr]).toEqual([1, expect.stringContaining("refers to Secret bootstrap-token")]);
    },
  );

  test.for([
    { name: "killed while creating", line: /^copying [0-9]/ },
    { name: "killed while deleting", line: /^deleting at the source [0-9]/ },
  ])("$name, the next run finishes", { timeout: 300_000 }, async ({ name, line }, { skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const [from, to] = both();
    const namespace = name.endsWith("creating") ? "k1" : "k2";
    await makeProvisioned(from, namespace, 60);
    const before = moved(await contentsOf(from, namespace));
    const [a, b] = planes();
    const ends = { from: a.kubeconfigPath, to: b.kubeconfigPath, namespace, flags: ["--lease", "15s"] };
    const killed = await runMoveProcess({ ...ends, killAt: (text) => line.test(text) });
    expect(killed.code, killed.stderr).toBeUndefined();
    const finished = await runMoveProcess(ends);
    expect(finished.code, finished.stderr).toBe(0);
    const after = moved(await contentsOf(to, namespace));
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [what, object] of before)
      expect(comparable(after.get(what), ["observedGeneration", "managedFields"]), what).toEqual(
        comparable(object, ["observedGeneration", "managedFields"]),
      );
    expect([...moved(await contentsOf(from, namespace)).keys()]).toEqual([]);
  });
});

/** Without the object that no move takes. */
function moved(contents: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  return new Map([...contents].filter(([name]) => !name.endsWith("/unrelated")).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** But for the fields that are hidden. */
function expectSame(found: ReadonlyMap<string, Json>, wanted: ReadonlyMap<string, Json>, hidden: readonly string[]): void {
  expect([...found.keys()]).toEqual([...wanted.keys()]);
  for (const [name, object] of wanted) expect(comparable(found.get(name), hidden), name).toEqual(comparable(object, hidden));
}
