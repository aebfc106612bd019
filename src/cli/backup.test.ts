/** `lattice backup` and `restore` on embedded clusters over HTTP: what is saved, what is refused, and runs that are killed. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { seededRandom, systemClock } from "#base";
import { latticeClusterKind, latticeClusters } from "#crds";
import type { EmbeddedCluster } from "#embedded-cluster";
import { capiClusters, configMaps, fieldAt, namespaces, secrets } from "#kube";
import { MOVE_RECORD } from "#pivot";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { contentsOf, danglingOwners, makeProvisioned, startManagementCluster } from "../../test/builders/move-world.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";

const HOME = "lattice-system";
const CAPI = "capi-prod";
let cwd = "";
let owner: EmbeddedCluster;
let seed = 40;

const named = (kind: string, name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: HOME, ...(more as { metadata?: object }).metadata },
  ...more,
});

async function startManaged(): Promise<EmbeddedCluster> {
  seed += 1;
  const cluster = await startManagementCluster(seed);
  await cluster.add(latticeClusterKind.crd(), {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: HOME },
  });
  return cluster;
}

/** A cluster that owns itself, and is a cell with a child. */
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-backup-"));
  owner = await startManaged();
  await makeProvisioned(owner.client, "prod", 1, CAPI);
  await owner.add(
    rawCluster({}, "prod"),
    rawCluster({ cellRef: "prod" }, "leaf"),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: HOME }, data: { cluster: "prod" } },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "lattice-cell-ca", namespace: HOME },
      data: { "ca.key": Buffer.alloc(100_000).toString("base64") },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "lattice-access-leaf", namespace: HOME, labels: { "lattice.dev/cluster-access": "true" } },
      data: { record: "e30=" },
    },
    named("Secret", "unrelated", { data: { x: "eA==" } }),
  );
  await owner.writeKubeconfig(join(cwd, "owner"));
  writeFileSync(join(cwd, "key"), Buffer.alloc(32, 7));
  writeFileSync(join(cwd, "other-key"), Buffer.alloc(32, 8));
  writeFileSync(join(cwd, "passphrase"), "correct horse battery\n");
  const saved = await lattice("backup", "--self", "--kubeconfig", "owner", "-o", "self.backup", "--key-file", "key");
  expect([saved.code, saved.stderr.includes("lattice:")]).toEqual([0, false]);
});

afterAll(async () => {
  await owner.close();
  rmSync(cwd, { recursive: true, force: true });
});

function lattice(...words: readonly string[]): Promise<CliRun> {
  const located = words.map((word, at) => (words[at - 1] === "--kubeconfig" ? join(cwd, word) : word));
  return runCli(located, { cwd, clock: systemClock, random: seededRandom(words.length) });
}

async function freshTarget(): Promise<EmbeddedCluster> {
  const target = await startManaged();
  onTestFinished(() => target.close());
  await target.writeKubeconfig(join(cwd, "target"));
  return target;
}

const pausedOf = (cluster: EmbeddedCluster) => fieldAt(cluster.peek(capiClusters, { namespace: CAPI, name: "prod" }), "spec", "paused");
const restore = (...flags: readonly string[]) => lattice("restore", "self.backup", "--kubeconfig", "target", "--key-file", "key", ...flags);
const GONE = "--old-owner-is-gone";

describe("backup", () => {
  test("writes one private file without a readable object, and pauses nothing", async () => {
    expect(statSync(join(cwd, "self.backup")).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(join(cwd, "self.backup"));
    expect(bytes.subarray(0, 17).toString()).toBe("lattice-backup/1\n");
    expect(bytes.includes("prod-kubeconfig")).toBe(false);
    expect(pausedOf(owner)).toBeUndefined();
  });

  test("has the Cluster API objects, and what makes the cluster itself", async () => {
    const { code, stdout } = await lattice("restore", "self.backup", "--inspect", "--key-file", "key", "-o", "json");
    const shown = JSON.parse(stdout) as { cluster: string; objects: string[]; epoch: number };
    expect([code, shown.cluster, shown.epoch, shown.objects.length]).toEqual([0, "prod", 0, 30]);
    const beside = shown.objects.slice(25).toSorted();
    expect(beside).toEqual([
      "ConfigMap_lattice-system_lattice-identity.yaml",
      "LatticeCluster__leaf.yaml",
      "LatticeCluster__prod.yaml",
      "Secret_lattice-system_lattice-access-leaf.yaml",
      "Secret_lattice-system_lattice-cell-ca.yaml",
    ]);
    const text = await lattice("restore", "self.backup", "--inspect", "--key-file", "key");
    expect(text.stdout).toMatch(/^cluster prod of 20.*, epoch 0, saved from https:\/\/.*\n {2}Cluster_capi-prod_prod.yaml\n/);
  });

  test("is done again with --force, or with a passphrase, and never over an existing file", async () => {
    const existing = await lattice("backup", "prod", "--kubeconfig", "owner", "-o", "self.backup", "--key-file", "key");
    expect([existing.code, existing.stderr]).toEqual([2, expect.stringContaining("self.backup exists already")]);
    const typed = await lattice(
      "backup",
      "prod",
      "--kubeconfig",
      "owner",
      "-o",
      "typed.backup",
      "--passphrase-file",
      "passphrase",
      "--output",
      "json",
    );
    expect(JSON.parse(typed.stdout)).toMatchObject({ cluster: "prod", objects: 30, epoch: 0, file: "typed.backup" });
    const opened = await lattice("restore", "typed.backup", "--inspect", "--passphrase-file", "passphrase");
    expect(opened.code).toBe(0);
    const wrong = await lattice("restore", "typed.backup", "--inspect", "--key-file", "key");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("typed.backup was sealed with a passphrase")]);
    expect(readdirSync(cwd).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("replaces a regular file only, and leaves the files beside it alone", async () => {
    writeFileSync(join(cwd, "old.file"), "old");
    writeFileSync(join(cwd, "forced.backup"), "old");
    writeFileSync(join(cwd, "forced.backup.partial"), "mine");
    symlinkSync(join(cwd, "old.file"), join(cwd, "linked.backup"));
    const save = (file: string) => lattice("backup", "prod", "--kubeconfig", "owner", "-o", file, "--force", "--key-file", "key");
    const linked = await save("linked.backup");
    expect([linked.code, linked.stderr]).toEqual([2, expect.stringContaining("linked.backup is a symbolic link")]);
    expect(readFileSync(join(cwd, "old.file"), "utf8")).toBe("old");
    expect((await save("forced.backup")).code).toBe(0);
    expect(readFileSync(join(cwd, "forced.backup")).subarray(0, 17).toString()).toBe("lattice-backup/1\n");
    expect(readFileSync(join(cwd, "forced.backup.partial"), "utf8")).toBe("mine");
  });

  const rows: readonly { name: string; argv: readonly string[]; code?: number; want: string }[] = [
    { name: "no name and no --self", argv: [], want: "give the name of a LatticeCluster, or --self" },
    { name: "both", argv: ["prod", "--self"], want: "give the name of a LatticeCluster, or --self" },
    { name: "an unknown cluster", argv: ["nope"], want: "there is no LatticeCluster nope" },
    { name: "a child that owns itself", argv: ["leaf"], want: "cluster leaf owns itself" },
    { name: "a key that is none", argv: ["prod", "--key-file", "passphrase"], want: "--key-file: passphrase is no key of 32 bytes" },
    { name: "a missing key", argv: ["prod", "--key-file", "missing"], want: "--key-file: missing there is no such file" },
    { name: "no secret and no terminal", argv: ["prod"], want: "give --key-file or --passphrase-file" },
    { name: "two secrets", argv: ["prod", "--key-file", "key", "--passphrase-file", "passphrase"], want: "exclude each other" },
  ];
  test.for(rows)("$name ends with one sentence", async ({ argv, want }) => {
    const { code, stdout, stderr } = await lattice("backup", ...argv, "--kubeconfig", "owner", "-o", "x.backup");
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(want)]);
    expect(existsSync(join(cwd, "x.backup"))).toBe(false);
  });

  test("a passphrase is typed twice on a terminal, and is long enough", async () => {
    const typing = (...lines: readonly (string | undefined)[]) => {
      const left = [...lines];
      return { askHidden: () => Promise.resolve(left.shift()) };
    };
    const run = (given: ReturnType<typeof typing>, name: string) =>
      runCli(["backup", "prod", "--kubeconfig", join(cwd, "owner"), "-o", name], { cwd, clock: systemClock, ...given });
    expect((await run(typing("correct horse", "correct cow"), "t1")).stderr).toContain("the two passphrases differ");
    expect((await run(typing("short", "short"), "t1")).stderr).toContain("shorter than 12 characters");
    expect((await run(typing(undefined), "t1")).stderr).toContain("no passphrase was typed");
    expect((await run(typing("correct horse", "correct horse"), "t1")).code).toBe(0);
    const opened = await runCli(["restore", "t1", "--inspect"], { cwd, clock: systemClock, ...typing("correct horse") });
    expect(opened.code).toBe(0);
  });

  test("is refused while a move is unfinished", async () => {
    const journal = { id: "a", phase: "intent", epoch: 1, target: "t", source: "s", startedAt: "", pausables: [] };
    const data = { journal: Buffer.from(JSON.stringify(journal)).toString("base64") };
    await owner.add({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "lattice-move-journal", namespace: CAPI, labels: { "lattice.dev/move-journal": "head" } },
      data,
    });
    const { code, stderr } = await lattice("backup", "prod", "--kubeconfig", "owner", "-o", "x.backup", "--key-file", "key");
    await owner.client.delete(secrets, { namespace: CAPI, name: "lattice-move-journal" });
    expect([code, stderr]).toEqual([1, expect.stringContaining("a move of these clusters is unfinished")]);
  });
});

describe("restore", () => {
  test("makes a fresh API server the owner, with everything as it was", async () => {
    const target = await freshTarget();
    const before = await contentsOf(owner.client, CAPI);
    const refused = await restore();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("still answers at https://")]);
    const { code, stdout, stderr } = await restore(GONE);
    expect([code, stdout]).toEqual([0, "restored 25 objects of cluster prod: this API server owns it, epoch 1\n"]);
    expect(stderr).toContain("warning: whether the old owner still runs is not checked");
    const after = await contentsOf(target.client, CAPI);
    expect([...after.keys()].toSorted()).toEqual([...before.keys()].filter((name) => !name.endsWith("/unrelated")).toSorted());
    expect(await danglingOwners(target.client, CAPI)).toEqual([]);
    expect(target.peek(configMaps, { namespace: CAPI, name: MOVE_RECORD })?.data).toMatchObject({
      state: "committed",
      epoch: "1",
      objects: "25",
    });
    expect(target.peek(latticeClusters, { name: "leaf" })).toMatchObject({ spec: { cellRef: "prod" } });
    expect(target.peek(configMaps, { namespace: HOME, name: "lattice-identity" })).toMatchObject({ data: { cluster: "prod" } });
    expect(target.peek(secrets, { namespace: HOME, name: "unrelated" })).toBeUndefined();
    expect((await restore(GONE)).code).toBe(0);
  });

  test("refuses the cluster that the backup was made from, and a target that is not empty", async () => {
    const own = await lattice("restore", "self.backup", "--kubeconfig", "owner", "--key-file", "key", GONE);
    expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("this is the cluster that the files were written from")]);
    const target = await freshTarget();
    await target.add(rawCluster({ cellRef: "other" }, "prod"));
    const taken = await restore(GONE);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("LatticeCluster prod exists at the target already")]);
    expect([...(await contentsOf(target.client, CAPI)).keys()]).toEqual([]);
  });

  test("names what the target lacks before it writes anything", async () => {
    const target = await startManagementCluster(99);
    onTestFinished(() => target.close());
    await target.writeKubeconfig(join(cwd, "target"));
    const { code, stderr } = await restore(GONE);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        "the target does not serve latticeclusters.lattice.dev; install the definitions of Lattice there: lattice crds",
      ),
    ]);
  });

  const files: readonly { name: string; make: (bytes: Buffer) => Buffer; want: string }[] = [
    { name: "another file", make: () => Buffer.from("hello"), want: "is no backup of lattice" },
    {
      name: "another version",
      make: (bytes) => Buffer.concat([Buffer.from("lattice-backup/2\n"), bytes.subarray(17)]),
      want: "has another version (2)",
    },
    { name: "a truncated file", make: (bytes) => bytes.subarray(0, bytes.length - 100), want: "is truncated or was edited" },
    {
      name: "a missing last part",
      make: (bytes) => bytes.subarray(0, headerLength(bytes) + 65_552),
      want: "is truncated: its last part is missing",
    },
    {
      name: "an edited part",
      make: (bytes) => flip(bytes, headerLength(bytes) + 40_000),
      want: "was edited: part 1 is not as it was written",
    },
    { name: "only a header", make: (bytes) => bytes.subarray(0, headerLength(bytes)), want: "is truncated" },
    { name: "half a header", make: (bytes) => bytes.subarray(0, 40), want: "is truncated: its header is incomplete" },
  ];
  test.for(files)("$name is refused with one sentence", async ({ make, want }) => {
    writeFileSync(join(cwd, "bad.backup"), make(readFileSync(join(cwd, "self.backup"))));
    const { code, stdout, stderr } = await lattice("restore", "bad.backup", "--inspect", "--key-file", "key");
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(`lattice: bad.backup ${want}`)]);
  });

  test("the wrong key, a missing file and a missing target are one sentence each", async () => {
    expect((await lattice("restore", "self.backup", "--inspect", "--key-file", "other-key")).stderr).toBe(
      "lattice: self.backup cannot be opened with this key: it is another one, or the header was edited\n",
    );
    expect((await lattice("restore", "missing", "--inspect", "--key-file", "key")).stderr).toContain("lattice: missing cannot be read");
    expect((await lattice("restore", ".", "--inspect", "--key-file", "key")).stderr).toContain("lattice: . ");
    expect((await lattice("restore", "self.backup", "--key-file", "key")).stderr).toBe(
      "lattice: name the API server to restore into with --kubeconfig\n",
    );
  });

  function headerLength(bytes: Buffer): number {
    return 21 + bytes.readUInt32BE(17);
  }

  function flip(bytes: Buffer, at: number): Buffer {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  }

  test("needs no override when the old owner is gone", async () => {
    const old = await startManaged();
    await makeProvisioned(old.client, "prod", 1, CAPI);
    await old.add(rawCluster({}, "prod"));
    await old.writeKubeconfig(join(cwd, "old"));
    expect((await lattice("backup", "prod", "--kubeconfig", "old", "-o", "old.backup", "--key-file", "key")).code).toBe(0);
    await freshTarget();
    const alive = await lattice("restore", "old.backup", "--kubeconfig", "target", "--key-file", "key");
    expect([alive.code, alive.stderr]).toEqual([1, expect.stringContaining("still answers")]);
    await old.close();
    const gone = await lattice("restore", "old.backup", "--kubeconfig", "target", "--key-file", "key", "-o", "json");
    expect([gone.code, JSON.parse(gone.stdout)]).toEqual([0, { cluster: "prod", id: expect.any(String) as string, objects: 25, epoch: 1 }]);
  });

  test("a cell, and a child that it owns, are backed up and restored one after the other, in any order", async () => {
    const old = await startManaged();
    await makeProvisioned(old.client, "prod", 1, CAPI);
    await makeProvisioned(old.client, "dev", 1, "capi-dev");
    const access = (cluster: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `lattice-access-${cluster}`, namespace: HOME, labels: { "lattice.dev/cluster-access": "true" } },
      data: { record: "e30=" },
    });
    await old.add(
      rawCluster({}, "prod"),
      rawCluster({ cellRef: "prod" }, "dev"),
      rawCluster({ cellRef: "prod" }, "leaf"),
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: HOME }, data: { cluster: "prod" } },
      access("dev"),
      access("leaf"),
    );
    await old.writeKubeconfig(join(cwd, "old"));
    const save = (subject: string, file: string) => lattice("backup", subject, "--kubeconfig", "old", "-o", file, "--key-file", "key");
    const self = await save("--self", "cell.backup");
    expect([self.code, self.stderr]).toEqual([0, expect.stringContaining("cluster dev does not own itself")]);
    expect(self.stderr).not.toContain("leaf");
    const patch = { metadata: { labels: { changed: "yes" } } };
    expect((await old.client.patch(latticeClusters, { name: "dev" }, { type: "merge", patch })).ok).toBe(true);
    expect((await save("dev", "dev.backup")).code).toBe(0);
    await old.close();
    for (const order of [
      ["cell.backup", "dev.backup"],
      ["dev.backup", "cell.backup"],
    ]) {
      const target = await freshTarget();
      for (const file of order) {
        const { code, stderr } = await lattice("restore", file, "--kubeconfig", "target", "--key-file", "key");
        expect([file, code, stderr.includes("lattice:")]).toEqual([file, 0, false]);
      }
      expect(target.peek(capiClusters, { namespace: "capi-dev", name: "dev" })).toBeDefined();
      expect(target.peek(latticeClusters, { name: "dev" })).toMatchObject({ metadata: { labels: { changed: "yes" } } });
      expect(target.peek(secrets, { namespace: HOME, name: "lattice-access-leaf" })).toBeDefined();
      expect(target.peek(secrets, { namespace: HOME, name: "lattice-access-dev" })).toBeDefined();
    }
  });

  test("a key file that is no key is never named as the target of a command", async () => {
    const { stderr } = await lattice("restore", "self.backup", "--inspect", "--key-file", "passphrase");
    expect(stderr).toContain("--key-file: passphrase is no key of 32 bytes");
    expect(stderr).not.toContain("openssl");
    const saved = await lattice("backup", "prod", "--kubeconfig", "owner", "-o", "x.backup", "--key-file", "passphrase");
    expect(saved.stderr).toContain("openssl rand -out NEWFILE 32");
  });

  test("an identity without a Cluster cannot be backed up by itself", async () => {
    const bare = await startManaged();
    onTestFinished(() => bare.close());
    await bare.writeKubeconfig(join(cwd, "bare"));
    const self = ["backup", "--self", "--kubeconfig", "bare", "-o", "x.backup", "--key-file", "key"];
    expect((await lattice(...self)).stderr).toContain("this cluster has no identity");
    await bare.add(
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: HOME }, data: { cluster: "prod" } },
      rawCluster({}, "prod"),
    );
    expect((await lattice(...self)).stderr).toContain("this cluster does not own itself");
    await bare.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: CAPI } });
  });
});
