/** `lattice move` on two embedded clusters over HTTP: plan, report, refusals, progress. Crashes are in src/pivot and test/stories. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seededRandom, systemClock } from "#base";
import { capiClusters, leases, secrets } from "#kube";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { JumpClock } from "../../test/builders/jump-clock.ts";
import { isUnpaused, startMoveWorld, type MoveWorld } from "../../test/builders/move-world.ts";

let folder = "";
let world: MoveWorld;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-move-"));
  world = await startMoveWorld(1);
  await world.source.writeKubeconfig(join(folder, "a"));
  await world.target.writeKubeconfig(join(folder, "b"));
});

afterEach(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

type Given = NonNullable<Parameters<typeof runCli>[1]>;

function move(flags: readonly string[], given: Given = {}): Promise<CliRun> {
  const files = ["--kubeconfig", join(folder, "a"), "--to-kubeconfig", join(folder, "b")];
  return runCli(["move", ...files, "-n", "c1", ...flags], { clock: systemClock, random: seededRandom(1), ...given });
}

test("--dry-run prints the batches and what is not moved, and changes nothing", async () => {
  const { code, stdout, stderr } = await move(["--dry-run"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("25 objects of namespace c1 in 6 batches, owners first:\nbatch 1: 1 Cluster, 1 ClusterResourceSet, 1 Secret\n");
  expect(stdout).toContain(
    "not moved (no Cluster, ClusterClass or ClusterResourceSet owns them, and they have no move label):\n  Secret c1/unrelated\n",
  );
  const json = JSON.parse((await move(["--dry-run", "-o", "json"])).stdout) as {
    objects: unknown[];
    notMoved: unknown[];
    problems: unknown[];
  };
  expect(json.objects).toHaveLength(25);
  expect(json.objects[0]).toEqual({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", namespace: "c1", name: "c1", batch: 1 });
  expect([json.notMoved, json.problems]).toEqual([[{ apiVersion: "v1", kind: "Secret", namespace: "c1", name: "unrelated" }], []]);
  expect(isUnpaused(world.source, "c1")).toBe(true);
});

test("--dry-run of a move that would be refused prints every reason and ends with 1", async () => {
  await world.target.add({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "c1", namespace: "c1" }, spec: {} });
  const { code, stdout } = await move(["--dry-run"]);
  expect(code).toBe(1);
  expect(stdout).toContain(
    "the move would be refused:\n  Cluster c1/c1 exists at the target already; delete it there, or move into another API server\n",
  );
});

test("a move prints each step on stderr, and the report on stdout", async () => {
  const { code, stdout, stderr } = await move([]);
  expect(stdout).toMatch(/^moved 25 objects of namespace c1 in [0-9.]+ s: epoch 1, sha256 [0-9a-f]{16}\n$/);
  expect(stderr).toMatch(/^ +[0-9.]+s {2}checking the plan\n/);
  expect(stderr).toContain("copying 25 of 25 objects\n");
  expect([code, isUnpaused(world.source, "c1"), isUnpaused(world.target, "c1")]).toEqual([0, false, true]);
  const again = await move([]);
  expect([again.code, again.stdout]).toEqual([0, "nothing to move in namespace c1\n"]);
});

test("-o json prints one document and no progress", async () => {
  const { code, stdout, stderr } = await move(["-o", "json"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({
    namespace: "c1",
    objects: 25,
    epoch: 1,
    stillPaused: [],
    durations: { commit: expect.any(Number) as number },
  });
});

test("on a terminal one line is redrawn, with a bar", async () => {
  const { stderr } = await move([], { terminal: { columns: () => 80 } });
  expect(stderr).toContain("\r");
  expect(stderr).toContain("copying [########################] 25 of 25 objects\u001b[K");
  expect(stderr.endsWith("\n")).toBe(true);
});

test("a refusal has every reason on stderr, and as JSON on stdout", async () => {
  const key = { namespace: "c1", name: "c1" };
  await world.source.client.patch(
    capiClusters,
    key,
    { type: "merge", patch: { status: { initialization: null } } },
    { subresource: "status" },
  );
  await world.target.add({ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "c1", namespace: "c1" }, spec: {} });
  const text = await move([]);
  expect([text.code, text.stdout]).toEqual([1, ""]);
  expect(text.stderr).toContain(
    "lattice: the infrastructure of Cluster c1/c1 is not provisioned yet; wait until it is\n  Cluster c1/c1 exists at the target",
  );
  const json = await move(["-o", "json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ error: "refused", reasons: [expect.any(String), expect.any(String)] });
});

test("--abort without an unfinished move is not an error", async () => {
  const { code, stdout } = await move(["--abort"]);
  expect([code, stdout]).toEqual([0, "there is no unfinished move\n"]);
});

const invalid: readonly { name: string; flags: readonly string[]; want: string }[] = [
  { name: "--dry-run with --abort", flags: ["--dry-run", "--abort"], want: "--dry-run and --abort exclude each other" },
  { name: "a lease that is too short", flags: ["--lease", "1s"], want: "--lease: 1s is too short, at least 2s" },
  { name: "a wait that is no duration", flags: ["--wait", "soon"], want: "--wait: " },
  { name: "an invalid namespace", flags: ["-n", "A/B"], want: "--namespace: " },
  { name: "a kubeconfig that is not there", flags: ["--to-kubeconfig", "/nonexistent"], want: "the cluster to move to: " },
];

test.for(invalid)("$name ends with 2 and one sentence", async ({ flags, want }) => {
  const { code, stdout, stderr } = await move(flags);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`lattice: ${want}`);
});

test("a move that could not renew its lease in time waits until it has run out, and continues", async () => {
  const clock = new JumpClock();
  let copies = 0;
  world.target.intercept({ verb: "create", resource: secrets, times: Number.POSITIVE_INFINITY }, (_action, next) => {
    copies += 1;
    if (copies === 3) clock.jump(10_000);
    return next();
  });
  world.source.intercept({ verb: "get", resource: leases, times: Number.POSITIVE_INFINITY }, (_action, next) => {
    if (copies >= 3) clock.jump(1_000);
    return next();
  });
  const { code, stdout, stderr } = await move([], { clock });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^moved 25 objects /)]);
  expect(stderr).toContain("the lease could not be renewed in time; continuing when it has run out\n");
  expect([isUnpaused(world.source, "c1"), isUnpaused(world.target, "c1")]).toEqual([false, true]);
});

test("a move that loses its lease again and again ends with 2 and says how to continue", async () => {
  const clock = new JumpClock();
  for (const [resource, ms] of [[secrets, 10_000] as const, [leases, 1_000] as const])
    world.source.intercept({ verb: "get", resource, times: Number.POSITIVE_INFINITY }, (_action, next) => {
      clock.jump(ms);
      return next();
    });
  const { code, stderr } = await move([], { clock });
  expect(code).toBe(2);
  expect(stderr).toContain("could not renew its lease in time, so it has stopped writing; run the same command again to continue\n");
});

test("a stopped move ends with 2 and says how to continue", async () => {
  const stop = new AbortController();
  stop.abort();
  const { code, stderr } = await move([], { signal: stop.signal });
  expect(code).toBe(2);
  expect(stderr).toContain("run the same command again to continue");
});
