/**
 * A Deployment that Lattice patches and that the real Flagger promotes. Beside it is one that only Flagger has: in the end both, and their copies, are equal.
 * Three settings of Flagger, each in its own namespace, at the same time. Nodes and kubelets are simulated.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { FLAGGER } from "../../../scripts/kube/versions.ts";
import { expectOk } from "#base";
import { FLAGGER_CRDS, installCrds, publishedCrds, realPlane, type RealPlane } from "../harness/index.ts";
import { LANES, startLane, type Lane } from "../patch-mode/canary-lanes.ts";
import { installFlaggerRoles } from "../patch-mode/flagger-process.ts";
import { installCrds as installLatticeCrds, startPatchOperator, type PatchOperator } from "../patch-mode/patch-operator.ts";
import { realServer } from "../patch-mode/patch-servers.ts";
import { realWorld, type World } from "../workloads/worlds.ts";

const BUILD_LIMIT_MS = 3_600_000;
const STEP_MS = 400_000;

let plane: RealPlane;
let world: World;
let operator: PatchOperator;
let lanes: readonly Lane[] = [];
let skipped: string | undefined;

beforeAll(async () => {
  const say = (line: string) => console.log(`flagger: ${line}`);
  plane = await realPlane();
  const obtained = await obtainPrograms([FLAGGER], { beside: plane.binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  world = await realWorld(plane.kubeconfigPath);
  await installCrds(plane, expectOk(await publishedCrds(FLAGGER_CRDS)));
  await installFlaggerRoles(plane);
  const server = realServer(plane);
  await installLatticeCrds(server);
  operator = await startPatchOperator(server, await server.makeNamespace("patching"));
  lanes = await Promise.all(LANES.map((options) => startLane(plane, { ...options, binaries: obtained.folder, home: operator.home })));
}, BUILD_LIMIT_MS);

afterAll(async () => {
  await Promise.all(lanes.map((lane) => lane.close()));
  await operator?.stop();
  await world?.close();
  await plane.stop();
}, 120_000);

/** The step in all namespaces; an error names the setting. */
function everywhere(name: string, step: (lane: Lane) => Promise<void>): void {
  test(name, { timeout: STEP_MS }, async ({ skip }) => {
    if (skipped !== undefined) skip(skipped);
    const ended = await Promise.allSettled(lanes.map(step));
    const failed = ended.flatMap((end, at) => (end.status === "rejected" ? [{ lane: lanes[at], reason: end.reason as unknown }] : []));
    for (const { lane } of failed) console.error(`Flagger ${lane?.options.name}: ${name}: failed\n${lane?.logTail()}`);
    for (const { reason } of failed.slice(1)) console.error(reason);
    for (const { reason } of failed) throw reason;
  });
}

everywhere("the patched Deployment is initialized, and its copy belongs to Flagger alone", async (lane) => {
  await lane.initialize();
  expect(await lane.copyProblems()).toEqual([]);
  expect(await lane.copyIsPatched()).toBe(true);
});

everywhere("nothing is written while nothing changes", (lane) => lane.quiet());

everywhere("an upgrade of the owner is promoted, with the patch", async (lane) => {
  await lane.upgrade();
  await lane.expectPatched({ image: "example.test/app:2", level: "debug" });
});

everywhere("a change of the patch is promoted", async (lane) => {
  await lane.changePatch("trace");
  await lane.expectPatched({ image: "example.test/app:2", level: "trace" });
});

everywhere("no conflict was reported, and nothing is written afterwards", async (lane) => {
  await lane.quiet();
  expect([...lane.reasons].filter((reason) => !["Patched", "PatchRequested", "WorkloadNotFound"].includes(reason))).toEqual([]);
});

everywhere("detached, it is restored and promoted, and config is deleted when no copy has the patch", async (lane) => {
  await lane.detach();
  expect(await lane.copyIsPatched()).toBe(false);
  await lane.expectAsControl();
});
