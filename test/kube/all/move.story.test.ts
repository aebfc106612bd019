/**
 * `lattice move` between two real API servers with the real managers of Cluster API on both: a provisioned cluster moves, with the mover killed
 * on the way; the managers of the target take it over without creating or deleting machines, and it stays Available. Then the first plane goes,
 * and the cluster scales on the second.
 *
 * The workload cluster lives in the process of the infrastructure provider for tests. So that of the source runs until it is handed over, as
 * real infrastructure would.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seededRandom } from "#base";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { CAPI_BINARIES } from "../../../scripts/kube/versions.ts";
import { devClusterYaml } from "../../builders/capi-objects.ts";
import { runMoveProcess } from "../../builders/move-process.ts";
import { startCapiManagers, type CapiManagers } from "../cluster-api/managers.ts";
import { eventually, realPlane, type PlaneAccess } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const AVAILABLE_MS = 300_000;
/** How long the target is watched after the move. */
const QUIET_MS = 30_000;
const say = (line: string) => console.log(`move: ${line}`);

/** What a move must not disturb. Without its status, all of these would begin anew. */
const ALWAYS_TRUE = ["RemoteConnectionProbe", "InfrastructureReady", "ControlPlaneInitialized", "WorkersAvailable", "WorkerMachinesReady"];
type Conditions = ReadonlyMap<string, { readonly status: string; readonly message: string }>;
type Plane = PlaneAccess & { readonly stop: () => Promise<void> };

describe("a cluster of real Cluster API moves to another API server", () => {
  let planes: readonly [Plane, Plane] | undefined;
  let managers: CapiManagers[] = [];
  let binaries = "";
  let skipped: string | undefined;

  beforeAll(async () => {
    planes = [await realPlane(), await realPlane()];
    const obtained = await obtainPrograms(CAPI_BINARIES, { beside: planes[0].binaries, environment: process.env, say });
    if (obtained.kind === "failed") throw new Error(obtained.why);
    if (obtained.kind === "skipped") return void (skipped = obtained.why);
    binaries = obtained.folder;
    for (const plane of planes) managers.push(await startManagers(plane));
  }, BUILD_LIMIT_MS);

  afterAll(async () => {
    for (const one of managers) await one.close();
    for (const plane of planes ?? []) await plane.stop();
  }, 120_000);

  const startManagers = (plane: Plane) =>
    startCapiManagers({ kubeconfig: plane.kubeconfigPath, kubectl: (...call) => plane.kubectl(...call) }, binaries);
  const both = () => planes ?? expect.fail("no planes");
  const read = (plane: Plane, what: string, path: string) =>
    plane.kubectlOk(["get", ...what.split(" "), "-n", "c1", "-o", `jsonpath={${path}}`], { limitMs: 30_000 });
  const available = (plane: Plane) => read(plane, "cluster c1", '.status.conditions[?(@.type=="Available")].status');
  const conditions = async (plane: Plane): Promise<Conditions> => {
    const all = JSON.parse(await read(plane, "cluster c1", ".status.conditions")) as readonly {
      type: string;
      status: string;
      message: string;
    }[];
    return new Map(all.map(({ type, ...condition }) => [type, condition]));
  };
  const machineUids = async (plane: Plane) => (await read(plane, "machines", ".items[*].metadata.uid")).split(" ").toSorted();
  const names = async (plane: Plane) =>
    (await plane.kubectlOk(["get", "machines,secrets", "-n", "c1", "-o", "name"])).split("\n").toSorted();

  test(
    "a provisioned cluster moves, killed once on the way; it is the same cluster",
    { timeout: AVAILABLE_MS + 300_000 },
    async ({ skip }) => {
      if (skipped !== undefined) return skip(skipped);
      const [source, target] = both();
      await source.kubectlOk(["create", "namespace", "c1"]);
      await source.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: devClusterYaml("c1") });
      await eventually("Cluster c1 is Available", async () => (await available(source)) === "True" || undefined, {
        withinMs: AVAILABLE_MS,
        everyMs: 1_000,
      });
      await eventually(
        "all machines run",
        async () => (await read(source, "machines", ".items[*].status.phase")) === "Running Running Running" || undefined,
        {
          withinMs: 120_000,
        },
      );
      const before = await names(source);
      const places = { from: source.kubeconfigPath, to: target.kubeconfigPath, namespace: "c1", flags: ["--lease", "15s"] };
      const plan = await runMoveProcess({ ...places, flags: ["--dry-run"] });
      say(`the plan:\n${plan.stdout}${plan.stderr}`);
      expect(plan.code, plan.stderr).toBe(0);
      const killAt = 2 + Math.floor(seededRandom(Date.now())() * 8);
      const killed = await runMoveProcess({ ...places, killAt: (_line, number) => number === killAt });
      say(`killed at "${killed.steps.at(-1)}" (line ${killAt})`);
      const moved = await runMoveProcess(places);
      say(`${moved.stdout}${moved.stderr}`);
      expect(moved.code, moved.stderr).toBe(0);
      expect((await names(target)).filter((name) => !name.includes("lattice-move"))).toEqual(before);
      expect(
        await source.kubectlOk(["get", "clusters,machines,machinesets,kubeadmcontrolplanes,devmachines,secrets", "-n", "c1", "-o", "name"]),
      ).toBe("");
    },
  );

  test(
    "the managers of the target create and delete no machine, and the cluster stays Available",
    { timeout: 180_000 },
    async ({ skip }) => {
      if (skipped !== undefined) return skip(skipped);
      const [, target] = both();
      const uids = await machineUids(target);
      expect(uids).toHaveLength(3);
      let last: Conditions = new Map();
      for (const until = Date.now() + QUIET_MS; Date.now() < until;) {
        last = await conditions(target);
        for (const type of ALWAYS_TRUE) expect(last.get(type)?.status, `${type}: ${last.get(type)?.message}`).toBe("True");
        // a control-plane manager that has just started has not asked etcd for its members yet, after a restart as after a move
        if (last.get("Available")?.status !== "True")
          expect(last.get("Available")?.message).toMatch(/^\* ControlPlaneAvailable: .* etcd [^*]*$/);
        expect(await machineUids(target)).toEqual(uids);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
      expect([last.get("Available")?.status, last.get("Paused")?.status]).toEqual(["True", "False"]);
    },
  );

  test("with the first plane gone, the cluster scales on the second", { timeout: AVAILABLE_MS }, async ({ skip }) => {
    if (skipped !== undefined) return skip(skipped);
    const [source, target] = both();
    for (const one of managers) await one.close();
    managers = [];
    await source.stop();
    managers.push(await startManagers(target));
    await target.kubectlOk(["scale", "machinedeployment", "c1-md", "-n", "c1", "--replicas=3"]);
    await eventually(
      "four machines run",
      async () => (await read(target, "machines", ".items[*].status.phase")) === "Running Running Running Running" || undefined,
      { withinMs: AVAILABLE_MS - 60_000, everyMs: 1_000 },
    );
  });
});
