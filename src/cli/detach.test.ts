/** `lattice detach` on a cluster; the test does the work of the operator. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeKinds, latticeServices } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { deployments, type KubeObject } from "#kube";
import { applyWorkloadPatch, recordOf, revertWorkloadPatch } from "#workload-patch";
import { runCli } from "../../test/builders/cli-io.ts";
import { AT, ownedDeployment, patchOf } from "../../test/builders/workload-patches.ts";

let cluster: EmbeddedCluster;
let cwd: string;
const run = (...argv: string[]) => runCli(argv, { cwd, clock: systemClock, env: { KUBECONFIG: join(cwd, "kubeconfig") } });

/** A service in patch mode and its Deployment, with the patch and with another image since. */
async function addPatched(name: string, service: { finalizers?: readonly string[] } = {}): Promise<void> {
  const owned = ownedDeployment();
  const patch = patchOf({ image: "web:2", env: [{ name: "PASSWORD", value: "hunter2" }] });
  const { deployment } = expectOk(applyWorkloadPatch({ ...owned, metadata: { ...owned.metadata, name } }, patch, { at: AT }));
  const changed = JSON.parse(JSON.stringify(deployment).replace('"image":"web:2"', '"image":"web:3"')) as FixtureObject;
  await cluster.add(changed, {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeService",
    metadata: { name, namespace: "shop", ...service },
    spec: { workloadRef: { kind: "Deployment", name, namespace: "shop" } },
  });
}

const deploymentOf = async (name: string) => expectOk(await cluster.client.get<KubeObject>(deployments, { namespace: "shop", name }));
const exists = async (name: string) => (await cluster.client.get<KubeObject>(latticeServices, { namespace: "shop", name })).ok;

beforeAll(async () => {
  const crds = latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject);
  cluster = await startEmbeddedCluster({ objects: crds, controllers: false });
  await cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  cwd = mkdtempSync(join(tmpdir(), "lattice-detach-"));
  writeFileSync(join(cwd, "kubeconfig"), await cluster.kubeconfig({ http: true }));
});
afterAll(async () => {
  await cluster.close();
  rmSync(cwd, { recursive: true });
});

const PLAN = [
  "LatticeService shop/NAME, with its policies and its config, is deleted",
  "Deployment shop/NAME gets back 3 fields:",
  '  metadata.labels["lattice.dev/service"]',
  '  spec.template.metadata.labels["lattice.dev/service"]',
  "  spec.template.spec.containers[main].env[PASSWORD]",
  "1 field changed since the patch, and kept as now:",
  "  spec.template.spec.containers[main].image",
  "",
].join("\n");

describe("lattice detach", () => {
  it("shows the fields with --dry-run, without values, and changes nothing", async () => {
    await addPatched("dry");
    const before = await deploymentOf("dry");
    const { code, stdout, stderr } = await run("detach", "dry", "-n", "shop", "--dry-run");
    expect(stdout).toBe(`${PLAN.replaceAll("NAME", "dry")}nothing was changed: --dry-run\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await deploymentOf("dry")).toEqual(before);
    expect(await exists("dry")).toBe(true);
  });

  it("deletes the service and waits until the operator has restored the Deployment", async () => {
    await addPatched("done");
    const running = run("detach", "done", "-n", "shop");
    while (await exists("done")) await new Promise((resolve) => setTimeout(resolve, 20));
    expectOk(await cluster.client.update<KubeObject>(deployments, revertWorkloadPatch(await deploymentOf("done")).deployment));
    const { code, stdout } = await running;
    expect(stdout).toBe(`${PLAN.replaceAll("NAME", "done")}detached: Deployment shop/done belongs to its owner alone\n`);
    expect(code).toBe(0);
  });

  it("prints JSON without values", async () => {
    await addPatched("json");
    const { stdout, code } = await run("detach", "json", "-n", "shop", "--dry-run", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ service: "shop/json", deployment: "shop/json", detached: false, kept: ["spec.template.spec.containers[main].image"] });
    expect(stdout).not.toContain("hunter2");
    expect(code).toBe(0);
  }); // prettier-ignore

  it("ends with exit code 1 when the Deployment still has the patch", async () => {
    await addPatched("slow");
    const { code, stderr } = await run("detach", "slow", "-n", "shop", "--wait", "1s");
    expect(stderr).toContain("Deployment shop/slow still has the patch: the operator has not finished; does it run?");
    expect(code).toBe(1);
    expect(recordOf(await deploymentOf("slow")).ok).toBe(true);
  });

  it("ends with exit code 1 when the service is not gone", async () => {
    await addPatched("held", { finalizers: ["lattice.dev/test"] });
    const { code, stderr } = await run("detach", "held", "-n", "shop", "--wait", "1s");
    expect(stderr).toContain("LatticeService shop/held is still being deleted");
    expect(code).toBe(1);
  });

  it("says that the Deployment is restored, and what is waited for, when the service waits for Flagger", async () => {
    await addPatched("copied", { finalizers: ["lattice.dev/test"] });
    const running = run("detach", "copied", "-n", "shop", "--wait", "2s");
    expectOk(await cluster.client.update<KubeObject>(deployments, revertWorkloadPatch(await deploymentOf("copied")).deployment));
    const ready = { type: "Ready", status: "False", reason: "Detaching", message: "waiting until Flagger promotes the Deployment" };
    const conditions = [{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" }];
    const body = { type: "merge", patch: { status: { conditions } } } as const;
    expectOk(await cluster.client.patch(latticeServices, { namespace: "shop", name: "copied" }, body, { subresource: "status" }));
    const { code, stderr } = await running;
    expect(stderr).toContain(
      "Deployment shop/copied belongs to its owner alone, and LatticeService shop/copied is still being deleted: waiting until Flagger promotes the Deployment",
    );
    expect(code).toBe(1);
  });

  it("detaches a service whose Deployment does not exist", async () => {
    const spec = { workloadRef: { kind: "Deployment", name: "none", namespace: "shop" } };
    await cluster.add({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name: "alone", namespace: "shop" }, spec });
    const { code, stdout } = await run("detach", "alone", "-n", "shop");
    expect(stdout).toContain("Deployment shop/none has no patched fields");
    expect(code).toBe(0);
  }); // prettier-ignore

  it.each([
    { name: "a service that does not exist", given: ["nothing", "-n", "shop"], want: "LatticeService shop/nothing" },
    { name: "a wrong --wait", given: ["nothing", "--wait", "soon"], want: "--wait" },
    { name: "a wrong namespace", given: ["nothing", "-n", "No"], want: "--namespace" },
  ])("explains $name", async ({ given, want }) => {
    const { code, stderr } = await run("detach", ...given);
    expect(stderr).toContain(want);
    expect(code).toBe(2);
  });

  it("refuses a service that is not in patch mode", async () => {
    const spec = { containers: { main: { image: "a:1" } } };
    await cluster.add({ apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name: "own", namespace: "shop" }, spec });
    const { code, stderr } = await run("detach", "own", "-n", "shop");
    expect(stderr).toContain("it has no spec.workloadRef");
    expect(code).toBe(2);
    expect(await exists("own")).toBe(true);
  }); // prettier-ignore
});
