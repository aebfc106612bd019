/**
 * `lattice restore` that is killed after a write to the API server: the same command finishes it, and `--abort` undoes it. At a seeded part of the writes here,
 * after every one of them in `npm run test:long`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, seededRandom } from "#base";
import { KUBECONFIG_ANNOTATION } from "#controllers";
import { latticeClusterKind, latticeClusters } from "#crds";
import { failWith, type EmbeddedCluster } from "#embedded-cluster";
import { configMaps, leases, secrets, type KubeObject } from "#kube";
import { MOVE_RECORD } from "#pivot";
import { chosenPoints } from "../../test/builders/crash-points.ts";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { JumpClock } from "../../test/builders/jump-clock.ts";
import { contentsOf, danglingOwners, isUnpaused, makeProvisioned, startManagementCluster } from "../../test/builders/move-world.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";

const CAPI = "capi-prod";
const HOME = "lattice-system";
const KUBECONFIG = { namespace: CAPI, name: "prod-kubeconfig" };
const WRITES = ["create", "update", "patch", "apply", "delete"] as const;
const clock = new JumpClock();
let cwd = "";
let owner: EmbeddedCluster;
let seed = 70;

async function start(): Promise<EmbeddedCluster> {
  const cluster = await startManagementCluster((seed += 1));
  await cluster.add(latticeClusterKind.crd(), { apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } });
  return cluster;
}

/** What makes the cluster itself, which a person may have written into the target before the restore. */
function ownObjects(): readonly KubeObject[] {
  const identity = { name: "lattice-identity", namespace: HOME };
  const authority = { name: "lattice-cell-ca", namespace: HOME, annotations: { "example.com/team": "a" } };
  const data = { "ca.key": Buffer.from("authority").toString("base64") };
  return [
    rawCluster({}, "prod") as unknown as KubeObject,
    { apiVersion: "v1", kind: "ConfigMap", metadata: identity, data: { cluster: "prod" } } as KubeObject,
    { apiVersion: "v1", kind: "Secret", metadata: authority, type: "Opaque", data } as KubeObject,
  ];
}

const ownOf = (cluster: EmbeddedCluster) => [
  cluster.peek<KubeObject>(latticeClusters, { name: "prod" }),
  cluster.peek<KubeObject>(configMaps, { namespace: HOME, name: "lattice-identity" }),
  cluster.peek<KubeObject>(secrets, { namespace: HOME, name: "lattice-cell-ca" }),
];

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-restore-"));
  owner = await start();
  await makeProvisioned(owner.client, "prod", 1, CAPI);
  const patch = { metadata: { annotations: { [KUBECONFIG_ANNOTATION]: "digest", "example.com/kept": "1" } } };
  expectOk(await owner.client.patch<KubeObject>(secrets, KUBECONFIG, { type: "merge", patch }));
  await owner.add(...ownObjects());
  await owner.writeKubeconfig(join(cwd, "owner"));
  writeFileSync(join(cwd, "key"), Buffer.alloc(32, 7));
  const saved = await lattice("backup", "--self", "--kubeconfig", join(cwd, "owner"), "-o", "self.backup", "--key-file", "key");
  expect(saved.code, saved.stderr).toBe(0);
});

afterAll(async () => {
  await owner.close();
  rmSync(cwd, { recursive: true, force: true });
});

const lattice = (...words: readonly string[]): Promise<CliRun> => runCli(words, { cwd, clock, random: seededRandom(words.length) });
const restore = (...flags: readonly string[]) =>
  lattice("restore", "self.backup", "--kubeconfig", join(cwd, "target"), "--key-file", "key", "--old-owner-is-gone", ...flags);

type Target = { readonly cluster: EmbeddedCluster; readonly close: () => Promise<void> };

async function freshTarget(): Promise<Target> {
  const cluster = await start();
  // the lease of a killed process is read until it has run out
  cluster.intercept({ verb: "get", resource: leases, times: Number.POSITIVE_INFINITY }, (_action, next) => {
    clock.jump(1_000);
    return next();
  });
  await cluster.writeKubeconfig(join(cwd, "target"));
  return { cluster, close: () => cluster.close() };
}

/** No request is answered after the write with this number, which has its effect. Returns how many writes there were. */
async function killedAfter(cluster: EmbeddedCluster, write: number): Promise<{ readonly writes: number; readonly code: number }> {
  let writes = 0;
  const refused = failWith("forbidden");
  const fault = cluster.intercept({ times: Number.POSITIVE_INFINITY }, async (action, next, context) => {
    if (writes >= write) return refused(action, next, context);
    if (!WRITES.some((verb) => verb === action.verb)) return next();
    writes += 1;
    const answer = await next();
    return writes >= write ? refused(action, next, context) : answer;
  });
  const { code } = await restore();
  fault[Symbol.dispose]();
  return { writes, code };
}

const stateOf = (cluster: EmbeddedCluster) => cluster.peek(configMaps, { namespace: CAPI, name: MOVE_RECORD })?.data?.["state"];

/** What is wrong after a restore. */
async function problems(cluster: EmbeddedCluster): Promise<readonly string[]> {
  const wanted = [...(await contentsOf(owner.client, CAPI)).keys()].filter((name) => !name.endsWith("/unrelated"));
  const found = new Set((await contentsOf(cluster.client, CAPI)).keys());
  const { annotations = {} } = cluster.peek<KubeObject>(secrets, KUBECONFIG)?.metadata ?? {};
  return [
    ...wanted.filter((name) => !found.has(name)).map((name) => `${name} is missing`),
    ...(await danglingOwners(cluster.client, CAPI)),
    ...(isUnpaused(cluster, "prod", CAPI) ? [] : ["the cluster is paused"]),
    ...(stateOf(cluster) === "committed" ? [] : ["the API server does not own the cluster"]),
    ...(annotations[KUBECONFIG_ANNOTATION] === undefined ? [] : ["the kubeconfig of the old API server counts as current"]),
    ...(annotations["example.com/kept"] === "1" ? [] : ["another annotation is lost"]),
  ];
}

test("a restore that is killed after any write is finished by the next one, or undone with --abort", { timeout: 3_600_000 }, async () => {
  const whole = await freshTarget();
  const { writes } = await killedAfter(whole.cluster, Number.POSITIVE_INFINITY);
  expect(await problems(whole.cluster)).toEqual([]);
  await whole.close();
  const points = Array.from({ length: writes }, (_, at) => at + 1);
  const chosen = chosenPoints(points, (write) => `restore: killed after ${write}`, 16);
  expect(chosen.length, `of ${writes}`).toBeGreaterThan(0);
  for (const write of chosen) {
    const { cluster, close } = await freshTarget();
    await killedAfter(cluster, write);
    const state = stateOf(cluster);
    if (state !== "committed") expect(isUnpaused(cluster, "prod", CAPI), `after ${write}`).toBe(false);
    if (write % 2 === 0) {
      const undone = await restore("--abort");
      expect([write, undone.code, undone.stderr]).toEqual([write, state === "committed" ? 1 : 0, expect.any(String)]);
      if (state !== "committed") {
        expect([...(await contentsOf(cluster.client, CAPI)).keys()], `after ${write}`).toEqual([]);
        expect(ownOf(cluster), `after ${write}`).toEqual([undefined, undefined, undefined]);
      }
    }
    const again = await restore();
    expect([write, again.code, again.stderr]).toEqual([write, 0, expect.any(String)]);
    expect([write, await problems(cluster)]).toEqual([write, []]);
    await close();
  }
});

test(
  "--abort leaves what the target had before the restore as it was, after whichever write it was killed",
  { timeout: 3_600_000 },
  async () => {
    const prepared = async () => {
      const target = await freshTarget();
      await target.cluster.add(...ownObjects());
      return target;
    };
    const whole = await prepared();
    const before = ownOf(whole.cluster);
    const { writes } = await killedAfter(whole.cluster, Number.POSITIVE_INFINITY);
    expect([await problems(whole.cluster), ownOf(whole.cluster)]).toEqual([[], before]);
    await whole.close();
    const points = Array.from({ length: writes }, (_, at) => at + 1);
    const chosen = chosenPoints(points, (write) => `restore: aborted after ${write}`, 19, 8);
    expect(chosen.length, `of ${writes}`).toBeGreaterThan(0);
    for (const write of chosen) {
      const { cluster, close } = await prepared();
      const had = ownOf(cluster);
      expect(had).not.toContain(undefined);
      await killedAfter(cluster, write);
      const isCommitted = stateOf(cluster) === "committed";
      const undone = await restore("--abort");
      expect([write, undone.code, undone.stderr]).toEqual([write, isCommitted ? 1 : 0, expect.any(String)]);
      // also the resourceVersion: nothing was written
      expect([write, ownOf(cluster)]).toEqual([write, had]);
      if (!isCommitted) expect([...(await contentsOf(cluster.client, CAPI)).keys()], `after ${write}`).toEqual([]);
      expect((await restore()).code).toBe(0);
      expect([write, await problems(cluster), ownOf(cluster)]).toEqual([write, [], had]);
      await close();
    }
  },
);

test("what the target gets, or what changes there, while a restore runs is not written or deleted by it", async () => {
  const { cluster, close } = await freshTarget();
  const [, identity, authority] = ownObjects();
  if (identity === undefined || authority === undefined) throw new Error("there are three");
  await cluster.add(authority);
  const isIdentity = { verb: "create", resource: configMaps, name: "lattice-identity" } as const;
  cluster.intercept(isIdentity, async (_action, next) => {
    await cluster.add(identity);
    return next();
  });
  const commit = cluster.intercept(
    { verb: "update", resource: configMaps, name: MOVE_RECORD, times: Number.POSITIVE_INFINITY },
    failWith("forbidden"),
  );
  expect((await restore()).code).toBe(2);
  commit[Symbol.dispose]();
  const data = { "ca.key": Buffer.from("another").toString("base64") };
  expectOk(
    await cluster.client.patch<KubeObject>(secrets, { namespace: HOME, name: "lattice-cell-ca" }, { type: "merge", patch: { data } }),
  );
  const had = ownOf(cluster).slice(1);
  expect(had).not.toContain(undefined);
  const changed = "Secret lattice-system/lattice-cell-ca exists at the target already";
  expect(await restore()).toMatchObject({ code: 1, stderr: expect.stringContaining(changed) as string });
  expect((await restore("--abort")).code).toBe(0);
  expect(ownOf(cluster)).toEqual([undefined, ...had]);
  await close();
});

test("--abort without an unfinished restore changes nothing, and --inspect excludes it", async () => {
  const { cluster, close } = await freshTarget();
  expect(await restore("--abort")).toMatchObject({ code: 0, stdout: "there is no unfinished restore of this backup\n" });
  expect(await restore("--abort", "-o", "json")).toMatchObject({ code: 0, stdout: '{"aborted":false}\n' });
  expect([...(await contentsOf(cluster.client, CAPI)).keys()]).toEqual([]);
  expect(await restore("--abort", "--inspect")).toMatchObject({ code: 2, stderr: expect.stringContaining("exclude each other") as string });
  await close();
});
