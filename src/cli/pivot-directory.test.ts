/** `lattice pivot export` and `import` between two embedded clusters over HTTP, with real files. Crashes are in src/pivot. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectOk, seededRandom, systemClock, type Clock } from "#base";
import { failWith } from "#embedded-cluster";
import { capiClusters, configMaps, leases, secrets } from "#kube";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { JumpClock } from "../../test/builders/jump-clock.ts";
import { contentsOf, danglingOwners, isUnpaused, startMoveWorld, type MoveWorld } from "../../test/builders/move-world.ts";

let cwd = "";
let world: MoveWorld;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-pivot-"));
  world = await startMoveWorld(1);
  await world.source.writeKubeconfig(join(cwd, "a"));
  await world.target.writeKubeconfig(join(cwd, "b"));
});

afterEach(async () => {
  clock = systemClock;
  await world.close();
  rmSync(cwd, { recursive: true, force: true });
});

let clock: Clock = systemClock;

function lattice(...words: readonly string[]): Promise<CliRun> {
  // a kubeconfig is found from the folder of the process
  const located = words.map((word, at) => (words[at - 1]?.endsWith("kubeconfig") === true ? join(cwd, word) : word));
  return runCli(located, { cwd, clock, random: seededRandom(1) });
}
const exportTo = (...flags: readonly string[]) => lattice("pivot", "export", "--kubeconfig", "a", "-n", "c1", ...flags);
const importFrom = (...flags: readonly string[]) => lattice("pivot", "import", "--kubeconfig", "b", "--directory", "out", ...flags);
const isPausedAtSource = () => !isUnpaused(world.source, "c1");

describe("export, import, confirm", () => {
  test("moves the clusters through private files in clusterctl's layout, and never has two owners", async () => {
    const before = await contentsOf(world.source.client, "c1");
    const exported = await exportTo("--directory", "out");
    expect([exported.code, exported.stdout]).toEqual([
      0,
      expect.stringMatching(/^exported 25 objects of namespace c1 to out: export [0-9a-f]{16}, epoch 1, /),
    ]);
    expect(isPausedAtSource()).toBe(true);
    const names = readdirSync(join(cwd, "out"));
    expect(names).toContain("Cluster_c1_c1.yaml");
    expect(names).toHaveLength(26);
    expect(statSync(join(cwd, "out")).mode & 0o777).toBe(0o700);
    for (const name of names) expect(statSync(join(cwd, "out", name)).mode & 0o777).toBe(0o600);
    const machine = JSON.parse(readFileSync(join(cwd, "out/Machine_c1_c1-cp-1.yaml"), "utf8")) as Record<string, Record<string, unknown>>;
    expect(machine["status"]).toMatchObject({ phase: "Running" });
    expect(machine["metadata"]?.["managedFields"]).toHaveLength(3);
    expect(readFileSync(join(cwd, "out/lattice-export.yaml"), "utf8")).toMatch(/^(# .*\n)+$/);

    const imported = await importFrom();
    expect([imported.code, imported.stdout]).toEqual([
      0,
      expect.stringContaining("imported 25 objects: this cluster owns them, epoch 1\n"),
    ]);
    expect([isPausedAtSource(), isUnpaused(world.target, "c1")]).toEqual([true, true]);

    const confirmed = await exportTo("--confirm", "out/lattice-receipt.yaml");
    expect([confirmed.code, confirmed.stdout]).toEqual([
      0,
      "the import of 25 objects is confirmed: namespace c1 has none of them any more\n",
    ]);
    const after = await contentsOf(world.target.client, "c1");
    expect([...after.keys()].toSorted()).toEqual([...before.keys()].filter((name) => name !== "Secret c1/unrelated").toSorted());
    expect(await danglingOwners(world.target.client, "c1")).toEqual([]);
    expect([...(await contentsOf(world.source.client, "c1")).keys()]).toEqual(["Secret c1/unrelated"]);
  });

  test("each of them can be repeated", async () => {
    await exportTo("--directory", "out");
    const again = await exportTo("--directory", "out");
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("exported 25 objects")]);
    await importFrom();
    const twice = await importFrom("-o", "json");
    expect([twice.code, JSON.parse(twice.stdout)]).toEqual([
      0,
      expect.objectContaining({ objects: 25, epoch: 1, receipt: "out/lattice-receipt.yaml" }),
    ]);
    expect((await exportTo("--confirm", "out/lattice-receipt.yaml", "-o", "json")).code).toBe(0);
    const over = await exportTo("--confirm", "out/lattice-receipt.yaml");
    expect([over.code, over.stderr]).toEqual([1, "lattice: there is no export of this namespace that waits for a receipt\n"]);
  });

  test("another cluster cannot take a directory that one has taken, nor the source itself", async () => {
    await exportTo("--directory", "out");
    const itself = await lattice("pivot", "import", "--kubeconfig", "a", "--directory", "out");
    expect([itself.code, itself.stderr]).toEqual([1, expect.stringContaining("this is the cluster that the files were written from")]);
    await importFrom();
    const third = await startMoveWorld(1, 7);
    try {
      await third.target.writeKubeconfig(join(cwd, "c"));
      const taken = await lattice("pivot", "import", "--kubeconfig", "c", "--directory", "out");
      expect([taken.code, taken.stderr]).toEqual([
        1,
        expect.stringContaining("another cluster has taken these files; only one may own the clusters"),
      ]);
    } finally {
      await third.close();
    }
  });

  test("a namespace without clusters has nothing to export", async () => {
    await world.target.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "empty" } });
    const run = await lattice("pivot", "export", "--kubeconfig", "b", "-n", "empty", "--directory", "out");
    expect([run.code, run.stdout, existsSync(join(cwd, "out"))]).toEqual([0, "nothing to export in namespace empty\n", false]);
  });

  test("lattice move does not continue an export, and an export does not begin during a move", async () => {
    await exportTo("--directory", "out");
    const moved = await lattice("move", "--kubeconfig", "a", "--to-kubeconfig", "b", "-n", "c1");
    expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining("an unfinished move of this namespace goes to another target")]);
  });
});

test("an export or an import that could not renew its lease in time waits until it has run out, and continues", async () => {
  const jumping = new JumpClock();
  clock = jumping;
  for (const [cluster, verb, resource] of [
    [world.source, "patch", capiClusters],
    [world.target, "create", secrets],
  ] as const) {
    let isLost = false;
    cluster.intercept({ verb, resource, times: 1 }, (_action, next) => {
      isLost = true;
      jumping.jump(10_000);
      return next();
    });
    cluster.intercept({ verb: "get", resource: leases, times: Number.POSITIVE_INFINITY }, (_action, next) => {
      if (isLost) jumping.jump(1_000);
      return next();
    });
    const { code, stderr } = await (cluster === world.source ? exportTo("--directory", "out") : importFrom());
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("the lease could not be renewed in time; continuing when it has run out\n"),
    ]);
  }
  expect([isPausedAtSource(), isUnpaused(world.target, "c1")]).toEqual([true, true]);
});

describe("the way back", () => {
  test("an export that is complete is undone only by a person who knows that it was not imported", async () => {
    await exportTo("--directory", "out");
    const refused = await exportTo("--directory", "out", "--abort");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("whether a cluster has imported it is in doubt; the source stays paused"),
    ]);
    expect(isPausedAtSource()).toBe(true);
    const undone = await exportTo("--directory", "out", "--abort", "--not-imported");
    expect([undone.code, undone.stdout, isPausedAtSource()]).toEqual([0, "the export was undone: the source owns its clusters\n", false]);
    const late = await importFrom();
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("the export was aborted, so its source owns the clusters")]);
    expect((await exportTo("--abort", "-o", "json")).stdout).toBe('{"namespace":"c1","aborted":false}\n');
  });

  test("an import that is not committed is undone, and the directory can be taken again", async () => {
    await exportTo("--directory", "out");
    world.target.intercept({ verb: "update", resource: configMaps, name: "lattice-move-record", times: 1 }, failWith("forbidden"));
    const stopped = await importFrom();
    expect(stopped.code).toBe(2);
    const early = await exportTo("--directory", "out", "--abort", "--not-imported");
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("a cluster has begun to import this directory")]);
    const undone = await importFrom("--abort");
    expect([undone.code, undone.stdout]).toEqual([0, "the import was undone: this cluster has no copies\n"]);
    expect(await contentsOf(world.target.client, "c1")).toEqual(new Map());
    expect((await importFrom("--abort", "-o", "json")).stdout).toBe('{"aborted":false}\n');
    expect((await importFrom()).code).toBe(0);
    const owned = await importFrom("--abort");
    expect([owned.code, owned.stderr]).toEqual([1, expect.stringContaining("this cluster owns the clusters already")]);
  });
});

describe("directories of clusterctl", () => {
  const asClusterctl = () => {
    rmSync(join(cwd, "out/lattice-export.yaml"));
  };

  test("are imported only by a person who knows that their source does not own the clusters", async () => {
    await exportTo("--directory", "out");
    asClusterctl();
    const refused = await importFrom();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("then add --force-owner")]);
    const forced = await importFrom("--force-owner");
    expect([forced.code, forced.stdout]).toEqual([0, expect.stringContaining("there is no receipt")]);
    expect(isUnpaused(world.target, "c1")).toBe(true);
    expect((await importFrom("--force-owner")).code).toBe(0);
  });
});

describe("hostile directories", () => {
  const rows: readonly { name: string; make: (out: string) => void; want: string }[] = [
    {
      name: "a changed file",
      make: (out) => writeFileSync(join(out, "Secret_c1_c1-ca.yaml"), "{}"),
      want: "Secret_c1_c1-ca.yaml was changed since it was written",
    },
    { name: "a missing file", make: (out) => rmSync(join(out, "Secret_c1_c1-ca.yaml")), want: "Secret_c1_c1-ca.yaml is missing" },
    {
      name: "a file beside",
      make: (out) => writeFileSync(join(out, "Secret_kube-system_x.yaml"), "{}"),
      want: "Secret_kube-system_x.yaml is not in the manifest",
    },
    { name: "a symbolic link", make: (out) => symlinkSync("/etc/passwd", join(out, "Secret_c1_link.yaml")), want: "is no regular file" },
    { name: "a folder", make: (out) => mkdirSync(join(out, "more")), want: "is no regular file" },
    {
      name: "a changed manifest",
      make: (out) => edit(join(out, "lattice-export.yaml"), '"epoch": 1', '"epoch": 9'),
      want: "lattice-export.yaml was changed",
    },
    {
      name: "a huge file",
      make: (out) => writeFileSync(join(out, "Secret_c1_c1-ca.yaml"), "x".repeat(5 << 20)),
      want: "is larger than 4 MiB",
    },
    { name: "no directory", make: (out) => rmSync(out, { recursive: true }), want: "the directory has no files of objects" },
  ];
  test("are refused with their reason, before anything is written", async () => {
    await exportTo("--directory", "good");
    for (const { name, make, want } of rows) {
      cpSync(join(cwd, "good"), join(cwd, "out"), { recursive: true });
      make(join(cwd, "out"));
      const { code, stderr } = await importFrom();
      expect({ name, code, stderr }).toEqual({ name, code: 1, stderr: expect.stringContaining(want) as string });
      rmSync(join(cwd, "out"), { recursive: true, force: true });
    }
    expect(await contentsOf(world.target.client, "c1")).toEqual(new Map());
  });

  function edit(file: string, from: string, to: string): void {
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  }

  test("kinds that a move does not write are refused, also without a manifest", async () => {
    await exportTo("--directory", "out");
    rmSync(join(cwd, "out/lattice-export.yaml"));
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name: "evil", uid: "u-1" } };
    writeFileSync(join(cwd, "out/ClusterRoleBinding__evil.yaml"), JSON.stringify(role));
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "evil", namespace: "kube-system", uid: "u-2" } };
    writeFileSync(join(cwd, "out/Secret_kube-system_evil.yaml"), JSON.stringify(secret));
    const { code, stderr } = await importFrom("--force-owner");
    expect(code).toBe(1);
    expect(stderr).toContain("the target does not move ClusterRoleBinding");
    expect(stderr).toContain("Secret kube-system/evil belongs to no Cluster of these files");
    expect(
      expectOk(await world.target.client.list(secrets, { namespace: "kube-system" })).items.map(({ metadata }) => metadata.name),
    ).not.toContain("evil");
  });

  test("a directory that is not empty is not written into", async () => {
    mkdirSync(join(cwd, "out"));
    writeFileSync(join(cwd, "out/notes.txt"), "mine");
    const { code, stderr } = await exportTo("--directory", "out");
    expect([code, stderr, isPausedAtSource()]).toEqual([1, expect.stringContaining("the directory is not empty"), false]);
  });

  test("a directory that cannot be written leaves nothing paused after an abort", async () => {
    mkdirSync(join(cwd, "locked"));
    writeFileSync(join(cwd, "file"), "");
    const { code, stderr } = await exportTo("--directory", "file");
    expect([code, stderr, isPausedAtSource()]).toEqual([1, expect.stringContaining("is no directory"), false]);
    chmodSync(join(cwd, "locked"), 0o700);
  });

  test("a receipt of other objects, or an edited one, is refused", async () => {
    await exportTo("--directory", "out");
    await importFrom();
    const file = join(cwd, "out/lattice-receipt.yaml");
    const text = readFileSync(file, "utf8");
    edit(file, '"epoch": 1', '"epoch": 2');
    expect((await exportTo("--confirm", file)).stderr).toContain("was changed, or is incomplete");
    writeFileSync(file, text);
    expect((await exportTo("--confirm", "a")).stderr).toContain("--confirm: a ");
  });
});

test.for([
  { name: "a wait that is too short", argv: ["--wait", "1ms"], want: "--wait: 1ms is too short" },
  { name: "an invalid namespace", argv: ["-n", "A/B"], want: "--namespace: " },
])("$name ends with 2 and one sentence", async ({ argv, want }) => {
  const { code, stdout, stderr } = await exportTo("--directory", "out", ...argv);
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(`lattice: ${want}`)]);
});
