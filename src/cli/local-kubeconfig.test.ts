/** `.lattice/kubeconfig` is found without a flag, and is used only if `lattice up` of this user wrote it. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nodeProcesses, systemClock } from "#base";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { fleetFolder } from "#fleet";
import { runCli } from "../../test/builders/cli-io.ts";
import { latticeService } from "../../test/builders/lattice-objects.ts";

let cluster: EmbeddedCluster;
let kubeconfig: string;
let root: string;
let cwd: string;

beforeAll(async () => {
  cluster = await startEmbeddedCluster({ objects: latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject) });
  await cluster.add(latticeService("default/hello"));
  kubeconfig = await cluster.kubeconfig({ http: true });
  root = mkdtempSync(join(tmpdir(), "lattice-local-"));
});
afterAll(async () => {
  await cluster.close();
  rmSync(root, { recursive: true });
});
beforeEach(() => {
  cwd = mkdtempSync(join(root, "project-"));
});

/** The files that `lattice up` writes to a folder, with this process as the running one. */
function localCluster({ text = kubeconfig, runs = true, mode = 0o600 } = {}): void {
  const folder = fleetFolder(join(cwd, ".lattice"));
  mkdirSync(folder.path, { mode: 0o700 });
  writeFileSync(folder.kubeconfig, text, { mode });
  chmodSync(folder.kubeconfig, mode);
  const record = { pid: process.pid, process: nodeProcesses.identify(process.pid), processes: [] };
  if (runs) writeFileSync(folder.record, JSON.stringify(record));
}

const run = (argv: readonly string[], more: object = {}) => runCli(argv, { cwd, clock: systemClock, userId: statSync(root).uid, ...more });

describe("a .lattice/kubeconfig", () => {
  test("of a lattice up that runs is used without a flag, and stderr names it", async () => {
    localCluster();
    expect(await run(["status"])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("default/hello") as string,
      stderr: "cluster: lattice up in .lattice\n",
    });
    expect(await run(["status", "-o", "json"])).toMatchObject({ code: 1, stderr: "" });
  });

  test("of a parent folder is found too", async () => {
    localCluster();
    const below = join(cwd, "services", "api");
    mkdirSync(below, { recursive: true });
    expect(await run(["status"], { cwd: below })).toMatchObject({ code: 1, stderr: `cluster: lattice up in ${join(cwd, ".lattice")}\n` });
  });

  test("--kubeconfig, --context and KUBECONFIG override it; it overrides ~/.kube/config", async () => {
    localCluster();
    const home = join(cwd, "home");
    mkdirSync(join(home, ".kube"), { recursive: true });
    writeFileSync(join(home, ".kube", "config"), "{}");
    expect((await run(["status"], { home })).code).toBe(1);
    for (const [flags, env] of [
      [["--kubeconfig", "/nowhere/config"], {}],
      [["--context", "other"], {}],
      [[], { KUBECONFIG: "/nowhere/config" }],
    ] as const)
      expect(await run(["status", ...flags], { home, env })).toMatchObject({
        code: 2,
        stderr: expect.not.stringContaining("cluster: lattice up") as string,
      });
  });

  test("of a lattice up that has ended is not used; without another one the error names it", async () => {
    localCluster({ runs: false });
    expect(await run(["status"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the cluster in .lattice is not running: start it with lattice up") as string,
    });
  });

  test("is not used by the operator", async () => {
    localCluster();
    expect(await run(["operator"])).toMatchObject({ code: 2, stderr: expect.stringContaining("no kubeconfig") as string });
  });

  const exec = (text: string) =>
    text.replace(
      /users:\n[^]*?(?=\n\S|$)/,
      "users: [{name: lattice, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./steal}}}]",
    );
  test.each([
    { name: "that others can read", given: { mode: 0o644 }, want: "other users can read it" },
    { name: "that names a program", given: { change: exec }, want: "it names a program that gets credentials" },
    {
      name: "of another server",
      given: { change: (text: string) => text.replace("127.0.0.1", "evil.example.com") },
      want: "its server is not on this machine",
    },
    { name: "that is not a kubeconfig", given: { change: () => "[" }, want: "it cannot be read" },
    { name: "of another user", given: {}, userId: 4_242, want: "it belongs to another user" },
  ])("$name is not used, and the warning has the reason", async ({ given, userId, want }) => {
    const { change = (text: string) => text, mode = 0o600 } = given as { change?: (text: string) => string; mode?: number };
    localCluster({ text: change(kubeconfig), mode });
    const { code, stderr } = await run(["status"], userId === undefined ? {} : { userId });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`warning: .lattice/kubeconfig is not used: ${want}; pass --kubeconfig to use it anyway\n`) as string,
    });
  });

  test("behind a link, or in a folder that others can write to, is not used", async () => {
    localCluster();
    chmodSync(join(cwd, ".lattice"), 0o770);
    expect((await run(["status"])).stderr).toContain("other users can write to its folder");
    const other = mkdtempSync(join(root, "linked-"));
    symlinkSync(join(cwd, ".lattice"), join(other, ".lattice"));
    expect((await run(["status"], { cwd: other })).stderr).toContain("it is a symbolic link, or in one");
  });
});
