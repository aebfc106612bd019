/** A restore that was killed, and is repeated with another backup of the same cluster: that is refused and changes nothing, and the first one can be finished or undone. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "#base";
import { latticeClusterKind, latticeClusters } from "#crds";
import { failWith, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, leases } from "#kube";
import { MOVE_RECORD } from "#pivot";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { chosenPoints } from "../../test/builders/crash-points.ts";
import { JumpClock } from "../../test/builders/jump-clock.ts";
import { contentsOf, isUnpaused, makeProvisioned, startManagementCluster } from "../../test/builders/move-world.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";

const CAPI = "capi-prod";
const WRITES = ["create", "update", "patch", "apply", "delete"] as const;
const clock = new JumpClock();
let cwd = "";
let seed = 170;
let words = 0;

async function start(): Promise<EmbeddedCluster> {
  const cluster = await startManagementCluster((seed += 1));
  await cluster.add(latticeClusterKind.crd(), { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } });
  return cluster;
}

const lattice = (...argv: readonly string[]): Promise<CliRun> => runCli(argv, { cwd, clock, random: seededRandom((words += 1)) });
const restore = (file: string, ...flags: readonly string[]) =>
  lattice("restore", file, "--kubeconfig", join(cwd, "target"), "--key-file", "key", "--old-owner-is-gone", ...flags);

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-other-"));
  writeFileSync(join(cwd, "key"), Buffer.alloc(32, 7));
  const owner = await start();
  await makeProvisioned(owner.client, "prod", 1, CAPI);
  await owner.add(rawCluster({}, "prod"));
  await owner.writeKubeconfig(join(cwd, "owner"));
  for (const file of ["monday.backup", "tuesday.backup"]) {
    const { code, stderr } = await lattice("backup", "prod", "--kubeconfig", join(cwd, "owner"), "-o", file, "--key-file", "key");
    expect(code, stderr).toBe(0);
    const patch = { metadata: { labels: { changed: "yes" } } };
    expect((await owner.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch })).ok).toBe(true);
  }
  await owner.close();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function freshTarget(): Promise<EmbeddedCluster> {
  const cluster = await start();
  cluster.intercept({ verb: "get", resource: leases, times: Number.POSITIVE_INFINITY }, (_action, next) => {
    clock.jump(1_000);
    return next();
  });
  await cluster.writeKubeconfig(join(cwd, "target"));
  return cluster;
}

/** The restore of Monday is not answered any more after the write with this number. Returns how many there were. */
async function killedAfter(cluster: EmbeddedCluster, write: number): Promise<number> {
  let writes = 0;
  const refused = failWith("forbidden");
  const fault = cluster.intercept({ times: Number.POSITIVE_INFINITY }, async (action, next, context) => {
    if (writes >= write) return refused(action, next, context);
    if (!WRITES.some((verb) => verb === action.verb)) return next();
    writes += 1;
    const answer = await next();
    return writes >= write ? refused(action, next, context) : answer;
  });
  await restore("monday.backup");
  fault[Symbol.dispose]();
  return writes;
}

const recordOf = (cluster: EmbeddedCluster) => cluster.peek(configMaps, { namespace: CAPI, name: MOVE_RECORD });
async function stateOf(cluster: EmbeddedCluster) {
  const contents = [...(await contentsOf(cluster.client, CAPI))].map(([name, object]) => [name, JSON.stringify(object)]);
  return { contents, record: recordOf(cluster), own: cluster.peek(latticeClusters, { name: "prod" }) };
}

test("is refused with the id of the backup that was begun, and changes nothing", { timeout: 1_800_000 }, async () => {
  const whole = await freshTarget();
  const writes = await killedAfter(whole, Number.POSITIVE_INFINITY);
  const id = recordOf(whole)?.data?.["id"] ?? "";
  await whole.close();
  const inspected = await lattice("restore", "monday.backup", "--inspect", "--key-file", "key");
  expect(inspected.stdout).toContain(`backup ${id}`);
  const points = Array.from({ length: writes }, (_, at) => at + 1);
  let refusals = 0;
  for (const write of chosenPoints(points, (one) => `restore of another file: killed after ${one}`, 16, 8)) {
    const cluster = await freshTarget();
    await killedAfter(cluster, write);
    const begun = recordOf(cluster)?.data;
    const isUnfinished = begun !== undefined && begun["finishedAt"] === "";
    if (isUnfinished) {
      const before = await stateOf(cluster);
      const { code, stdout, stderr } = await restore("tuesday.backup");
      expect([write, code, stdout, stderr.split("\n").filter((line) => line.startsWith("lattice:")).length]).toEqual([write, 1, "", 1]);
      expect([write, stderr]).toEqual([write, expect.stringContaining(`another move (${id})`)]);
      expect([write, (await restore("tuesday.backup", "--abort")).stdout]).toEqual([
        write,
        "there is no unfinished restore of this backup\n",
      ]);
      expect([write, await stateOf(cluster)]).toEqual([write, before]);
      refusals += 1;
    }
    const isOwner = begun?.["state"] === "committed";
    if (!isOwner && isUnfinished) expect((await restore("monday.backup", "--abort")).code).toBe(0);
    const file = isOwner ? "monday.backup" : "tuesday.backup";
    const { code, stderr } = await restore(file);
    expect([write, code, stderr]).toEqual([write, 0, expect.any(String)]);
    expect([write, isUnpaused(cluster, "prod", CAPI), recordOf(cluster)?.data?.["state"]]).toEqual([write, true, "committed"]);
    await cluster.close();
  }
  expect(refusals).toBeGreaterThan(0);
});
