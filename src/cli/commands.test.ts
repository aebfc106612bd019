import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { latticeKinds } from "#crds";
import { parseYaml } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";

const VALID =
  "apiVersion: lattice.dev/v1alpha1\nkind: LatticeImageRegistry\nmetadata: {name: company}\nspec: {host: registry.example.com}\n";
const INVALID = VALID.replace("host:", "hots:");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-cli-"));
  writeFileSync(join(folder, "good.yaml"), VALID);
  writeFileSync(join(folder, "two.yml"), `${VALID}---\n${INVALID}`);
  writeFileSync(join(folder, "broken.json"), "{");
  writeFileSync(join(folder, "notes.txt"), "ignored");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("lattice version", () => {
  it("prints its version and that of Node", async () => {
    expect(await runCli(["version"])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^lattice \d+\.\d+\.\d+ \(Node 24\.0\.0\)\n$/) as string,
      stderr: "",
    });
  });
});

describe("lattice crds", () => {
  it("prints all eight as documents that kubectl applies", async () => {
    const { code, stdout } = await runCli(["crds"]);
    const kinds = expectOk(parseYaml(stdout)).map((document) => (document as { spec: { names: { kind: string } } }).spec.names.kind);
    expect(code).toBe(0);
    expect(kinds).toEqual(latticeKinds.map(({ kind }) => kind));
  });

  it.each([["lc"], ["LatticeCluster"], ["latticeclusters"]])("prints one by the name %s", async (name) => {
    const { stdout } = await runCli(["crds", name, "-o", "json"]);
    expect((JSON.parse(stdout) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)).toEqual([
      "latticeclusters.lattice.dev",
    ]);
  });

  it("prints a schema for editors", async () => {
    const { stdout } = await runCli(["crds", "lir", "--output", "schema"]);
    expect((JSON.parse(stdout) as { anyOf: unknown[] }).anyOf).toHaveLength(1);
  });

  it("an error for an unknown kind lists the known ones", async () => {
    expect(await runCli(["crds", "pods"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining('unknown kind "pods"; there are LatticeCluster (lc)') as string,
    });
    expect(await runCli(["crds", "-o", "toml"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Allowed choices are yaml, json, schema") as string,
    });
  });
});

describe("lattice validate", () => {
  it("accepts valid files", async () => {
    const run = await runCli(["validate", "-f", join(folder, "good.yaml")]);
    expect(run).toEqual({ code: 0, stderr: "", stdout: `ok    ${folder}/good.yaml: LatticeImageRegistry company\n1 valid\n` });
  });

  it("reads standard input", async () => {
    expect(await runCli(["validate", "-f", "-"], { input: VALID })).toMatchObject({ code: 0 });
  });

  it("reads a folder and reports every mistake with its file, document and field", async () => {
    const { code, stdout } = await runCli(["validate", "-f", "."], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toContain("error broken.json:1:2: unexpected end");
    expect(stdout).toContain("ok    good.yaml: LatticeImageRegistry company\n");
    expect(stdout).toContain("error two.yml:9:1: spec.host: is required");
    expect(stdout).toContain('spec.hots: unknown field "spec.hots"; did you mean "host"?');
    expect(stdout).toContain("3 of 4 invalid\n");
    expect(stdout).not.toContain("notes.txt");
  });

  it("prints JSON for programs", async () => {
    const { stdout } = await runCli(["validate", "-f", "good.yaml", "two.yml", "-o", "json"], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject([
      { document: "good.yaml", ok: true, kind: "LatticeImageRegistry", name: "company", object: "LatticeImageRegistry company" },
      { document: "two.yml", ok: false, errors: [{ file: "two.yml", line: 3, column: 12, path: "metadata.name" }] },
      { document: "two.yml (document 2)", ok: false, errors: [{ file: "two.yml", path: "spec.host" }, { path: "spec.hots" }] },
    ]);
  });

  it.each([
    { name: "a missing file", path: "nowhere.yaml", want: "there is no such file or folder" },
    { name: "a folder without resources", path: "empty", want: "the folder holds no .yaml, .yml or .json file" },
  ])("a file that cannot be read is exit code 2: $name", async ({ path, want }) => {
    const cwd = mkdtempSync(join(folder, "nothing-"));
    mkdtempSync(join(cwd, "x-"));
    const run = await runCli(["validate", "-f", path === "empty" ? "." : path], { cwd });
    expect(run).toMatchObject({ code: 2, stdout: expect.stringContaining(want) as string });
  });

  it("an unknown command is exit code 2, with help", async () => {
    expect(await runCli(["validate"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--filename") as string });
    expect(await runCli(["validat"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean validate?") as string });
    expect(await runCli(["--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("validate") as string });
  });
});

describe("lattice rbac", () => {
  it("prints the operator's permissions, in the given namespace", async () => {
    const { stdout } = await runCli(["rbac", "-n", "elsewhere"]);
    const kinds = expectOk(parseYaml(stdout)).map((document) => (document as { kind: string }).kind);
    expect(kinds).toEqual([
      "Namespace",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
      "Role",
      "RoleBinding",
      "ServiceAccount",
      "ClusterRole",
      "ClusterRoleBinding",
    ]);
    expect(stdout).toContain("namespace: elsewhere");
  });

  it("with --namespaces it prints Roles, and grants namespaced resources nowhere else", async () => {
    const { stdout } = await runCli(["rbac", "--namespaces", "shop,payments"]);
    type Printed = {
      readonly kind: string;
      readonly metadata: { readonly namespace?: string };
      readonly rules?: readonly { readonly resources: readonly string[] }[];
    };
    const documents = expectOk(parseYaml(stdout)) as unknown as readonly Printed[];
    const roles = documents.filter(({ kind }) => kind === "Role").map(({ metadata }) => metadata.namespace);
    expect(roles).toEqual(["shop", "payments", "lattice-system", "default"]);
    const wide = documents.find(({ kind }) => kind === "ClusterRole")?.rules?.flatMap(({ resources }) => resources);
    expect(wide?.toSorted()).toEqual([
      "latticeenvironments",
      "latticeenvironments/finalizers",
      "latticeenvironments/status",
      "namespaces",
      "namespaces/finalizers",
    ]);
  });

  it("refuses namespaces that Lattice never changes", async () => {
    expect(await runCli(["rbac", "--namespaces", "kube-system"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--namespaces: kube-system is a system namespace") as string,
    });
  });
});

describe("lattice operator", () => {
  it("refuses invalid namespace names", async () => {
    expect(await runCli(["operator", "--namespaces", "A"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--namespaces: "A" must be a lowercase RFC 1123 label') as string,
    });
  });

  it.each([
    { name: "no kubeconfig", argv: [], want: "no kubeconfig" },
    { name: "a missing kubeconfig", argv: ["--kubeconfig", "/nonexistent/config"], want: "/nonexistent/config" },
    { name: "a bad address", argv: ["--health-address", "nowhere"], want: '"nowhere" is not an address' },
    { name: "an invalid port", argv: ["--health-address", "127.0.0.1:70000"], want: "is not an address" },
    {
      name: "a short lease",
      argv: ["--lease-duration", "500ms"],
      want: "--lease-duration: 500ms is too short, at least 1s: a Lease stores",
    },
    { name: "a long lease", argv: ["--lease-duration", "2h"], want: "--lease-duration: 2h is too long, at most 1h: after a crash" },
    {
      name: "a lease without an election",
      argv: ["--lease-duration", "5s", "--no-leader-elect"],
      want: "has no effect with --no-leader-elect",
    },
    { name: "an invalid resync", argv: ["--resync", "often"], want: '--resync: "often" is not a duration' },
    { name: "a short resync", argv: ["--resync", "1ms"], want: "--resync: 1ms is too short, at least 1s" },
  ])("refuses $name with an error that has the fix", async ({ argv, want }) => {
    const run = await runCli(["operator", ...argv]);
    expect(run).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(want) as string });
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });
});

it("the API server of a fleet is not started by hand", async () => {
  expect(await runCli(["__fleet-api-server", "--folder", "/nonexistent", "--name", "mgmt"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "lattice: __fleet-api-server is started by lattice up, and not by hand; use lattice api-server\n",
  });
});

it("the process of a local machine is not started by hand", async () => {
  expect(await runCli(["__fleet-machine", "--folder", "/nonexistent", "--name", "m1"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "lattice: __fleet-machine is started by lattice up, and not by hand\n",
  });
});
