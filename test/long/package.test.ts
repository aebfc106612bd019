/** The packed package, installed by npm into an empty folder: the program, the types, and the guide's tests under vitest, Jest and pytest. */
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PROGRAM_VERSION } from "#base";
import { projectRoot } from "../../scripts/process/project.ts";
import { runProgram, type Ran } from "../../scripts/process/run-program.ts";
import { freshClone, type Clone } from "./clone.ts";

const GUIDE = join(projectRoot, "docs/guides/test-your-operator");
let clone: Clone;
let user: string;

beforeAll(async () => {
  clone = await freshClone();
  user = join(clone.root, "..", "user");
  await mkdir(user);
  const packed = await npm(clone.root, "pack", "--pack-destination", user);
  expect(packed.code, packed.stderr).toBe(0);
  const tarball = (await readdir(user)).find((file) => file.endsWith(".tgz"));
  await cp(GUIDE, user, { recursive: true });
  await writeFile(join(user, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  const installed = await npm(user, "install", "--no-audit", "--no-fund", `./${tarball}`);
  expect(installed.code, installed.stderr).toBe(0);
});
afterAll(() => clone.remove());

function npm(cwd: string, ...args: readonly string[]): Promise<Ran> {
  return runProgram("npm", args, { cwd, env: clone.env });
}

/** A program of an installed package. */
function npx(...args: readonly string[]): Promise<Ran> {
  return runProgram("npx", ["--no-install", ...args], { cwd: user, env: { ...clone.env, NO_COLOR: "1" } });
}

async function install(...packages: readonly string[]): Promise<void> {
  const installed = await npm(user, "install", "--no-audit", "--no-fund", "--save-dev", ...packages);
  expect(installed.code, installed.stderr).toBe(0);
}

it("the program runs", async () => {
  const ran = await npx("lattice", "version");
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stdout).toContain(PROGRAM_VERSION);
});

const OLD_NODE = /Lattice needs Node\.js 24 or later, but this is Node\.js [0-9.]+ \(.*\)\./;

it("an older Node gets one sentence from the program and from the libraries", async ({ skip }) => {
  const node = await findOldNode();
  if (node === undefined) return skip("there is no Node older than 24 in PATH");
  const program = await runProgram(node, ["node_modules/.bin/lattice", "version"], { cwd: user, env: clone.env });
  expect(program).toMatchObject({ code: 1, stdout: "" });
  expect(program.stderr.replace(OLD_NODE, "")).toBe("\n");
  for (const entry of ["patch", "compile", "kube-server"]) {
    const script = `import "@lattice-fleet/lattice/${entry}";`;
    const ran = await runProgram(node, ["--input-type=module", "--eval", script], { cwd: user, env: clone.env });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(OLD_NODE);
    expect(ran.stderr).not.toMatch(/^ +at /m);
  }
});

async function findOldNode(): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const ran = await runProgram(join(folder, "node"), ["--version"], { cwd: user, env: clone.env });
    if (ran.code === 0 && Number.parseInt(ran.stdout.slice(1)) < 24) return join(folder, "node");
  }
  return undefined;
}

it("the guide's tests pass under vitest and node:test, and its types are right", async () => {
  await install("vitest@5.1.0", "typescript@7.0.2", "@types/node@24.19.2");
  const vitest = await npx("vitest", "run", "vitest");
  expect(vitest.stdout, vitest.stderr).toMatch(/Tests +3 passed/);
  const node = await runProgram(process.execPath, ["--test", "node-test/greeting.test.ts"], { cwd: user, env: clone.env });
  expect(node.stdout, node.stderr).toMatch(/pass 2\b/);
  const types = await npx("tsc", "-p", ".");
  expect(types).toMatchObject({ code: 0, stdout: "" });
});

it("the guide's tests pass under Jest", async () => {
  await install("jest@30", "@babel/preset-env@7", "@babel/preset-typescript@7");
  const presets = [["@babel/preset-env", { targets: { node: "current" } }], "@babel/preset-typescript"];
  await writeFile(join(user, "babel.config.json"), JSON.stringify({ presets }));
  const jest = await npx("jest", "jest/");
  expect(jest.stderr).toMatch(/Tests: +2 passed/);
  expect(jest.code).toBe(0);
});

it("@kubernetes/client-node works on it", async () => {
  await install("@kubernetes/client-node");
  const program = `
    import { KubeConfig, CoreV1Api } from "@kubernetes/client-node";
    import { startEmbeddedCluster } from "@lattice-fleet/lattice/kube-server";
    await using cluster = await startEmbeddedCluster({ objects: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } }] });
    const kc = new KubeConfig();
    kc.loadFromString(await cluster.kubeconfig());
    const found = await kc.makeApiClient(CoreV1Api).readNamespacedConfigMap({ name: "a", namespace: "default" });
    console.log(found.data.k, cluster.actions.toString());`;
  const ran = await runProgram(process.execPath, ["--input-type=module", "--eval", program], { cwd: user, env: clone.env });
  expect(ran.stdout, ran.stderr).toBe("v 1. get configmaps default/a as admin -> 200\n");
});

it("the guide's pytest passes with the official Python client", async ({ skip }) => {
  const venv = join(user, "venv");
  const made = await runProgram("python3", ["-m", "venv", venv], { cwd: user, env: clone.env });
  if (made.code !== 0) skip("there is no Python 3 with venv on this machine");
  const got = await runProgram(join(venv, "bin/pip"), ["install", "-q", "kubernetes", "pytest"], { cwd: user, env: clone.env });
  if (got.code !== 0) skip("the Python packages cannot be fetched from here");
  const env = { ...clone.env, LATTICE: join(user, "node_modules/.bin/lattice"), PYTHONDONTWRITEBYTECODE: "1" };
  const ran = await runProgram(join(venv, "bin/python"), ["-m", "pytest", "-q", "-p", "no:cacheprovider", "python"], { cwd: user, env });
  expect(ran.stdout, ran.stderr).toContain("2 passed");
});
