/**
 * docs/guides/test-your-operator/go: a test as kubebuilder generates it, on `lattice api-server` instead of etcd and kube-apiserver. It needs
 * no change: envtest uses the cluster that the environment names.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectRoot } from "../../scripts/process/project.ts";
import { ServerProcess } from "../builders/api-server/server-process.ts";
import { runProgram } from "./harness/index.ts";

const folder = join(projectRoot, "docs/guides/test-your-operator/go");
let home = "";
let server: ServerProcess | undefined;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "lattice-go-"));
  server = new ServerProcess(home, ["--kubeconfig-out", join(home, "kubeconfig")]);
  if ((await server.url()) === undefined) throw new Error(`the server did not start: ${server.stderr}`);
});
afterAll(async () => {
  await server?.kill();
  rmSync(home, { recursive: true, force: true });
});

test("envtest and controller-runtime work on it, without their binaries", { timeout: 600_000 }, async ({ skip }) => {
  const env = { ...process.env, USE_EXISTING_CLUSTER: "true", KUBECONFIG: join(home, "kubeconfig"), KUBEBUILDER_ASSETS: "/nonexistent" };
  const run = (args: readonly string[]) => runProgram("go", ["-C", folder, ...args], { env, limitMs: 300_000 });
  if ((await run(["version"])).code !== 0) skip("there is no Go on this machine");
  if ((await run(["mod", "download"])).code !== 0) skip("the Go modules cannot be fetched from here");
  for (const _time of ["the first", "again, on the same server"]) {
    const ran = await run(["test", "-count=1", "./..."]);
    expect(ran.stdout + ran.stderr).toMatch(/^ok\s+example\.com\/greetings/m);
  }
  const program = join(projectRoot, "src/bin/lattice.ts");
  const command = [
    "api-server",
    "--no-controllers",
    "--crds",
    join(folder, "../crds"),
    "--",
    "go",
    "-C",
    folder,
    "test",
    "-count=1",
    "./...",
  ];
  const inside = await runProgram(process.execPath, [program, ...command], { env: process.env, limitMs: 300_000 });
  expect(inside.stdout).toMatch(/^ok\s+example\.com\/greetings/);
  expect(inside.code, inside.stderr).toBe(0);
});
