import { cp, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectOk } from "#base";
import { fileTree } from "../../test/builders/file-tree.ts";
import { TEST_DIST } from "../../test/builders/program.ts";
import { projectRoot } from "../process/project.ts";
import { runNode } from "../process/run-program.ts";
import { buildEntries, ENTRIES } from "./entries.ts";

/** A project with the package as npm installs it, without dependencies and sources. */
let project = "";

beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), "lattice-entries-")));
  const home = join(project, "node_modules/@lattice-fleet/lattice");
  if (TEST_DIST === undefined) expectOk(await buildEntries(join(home, "dist")));
  else await cp(TEST_DIST, join(home, "dist"), { recursive: true });
  await cp(join(projectRoot, "package.json"), join(home, "package.json"));
}, 120_000);

afterAll(() => rm(project, { recursive: true, force: true }));

type Manifest = { readonly bin: Record<string, string>; readonly exports: Record<string, string | Readonly<Record<string, string>>> };

it("are the files of package.json", async () => {
  const { bin, exports } = JSON.parse(await readFile(join(projectRoot, "package.json"), "utf8")) as Manifest;
  const conditions = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : Object.entries(target)));
  const published = conditions.flatMap(([condition, path]) => (condition === "default" || condition === "require" ? [path] : []));
  expect([...Object.values(bin), ...published].toSorted()).toEqual(ENTRIES.map(({ file }) => `./dist/${file}`).toSorted());
});

const CRD = `{
  apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: "widgets.example.com" },
  spec: { group: "example.com", scope: "Namespaced", names: { plural: "widgets", kind: "Widget" }, versions: [{ name: "v1", served: true, storage: true,
    schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object",
      properties: { size: { type: "integer" }, colour: { type: "string", pattern: "^[a-z]+$" } },
      "x-kubernetes-validations": [{ rule: "self.size < 10", message: "too large" }] } } } } }] } }`;

const USES: { name: string; script: string; want: string }[] = [
  {
    name: "@lattice-fleet/lattice/patch merges lists by their keys",
    script: `import { applyStrategicMergePatch, builtinSchema } from "@lattice-fleet/lattice/patch";
      const pod = (image) => ({ spec: { containers: [{ name: "main", image }] } });
      const schema = builtinSchema({ group: "", version: "v1", kind: "Pod" });
      console.log(JSON.stringify(applyStrategicMergePatch(pod("web:1"), pod("web:2"), schema)));`,
    want: `{"ok":true,"value":{"spec":{"containers":[{"name":"main","image":"web:2"}]}}}\n`,
  },
  {
    name: "@lattice-fleet/lattice/compile compiles a service",
    script: `import { compileAll, loadWorld } from "@lattice-fleet/lattice/compile";
      const service = { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata: { name: "web" },
        spec: { containers: { main: { image: "web:1" } } } };
      const { world, problems } = loadWorld([{ from: "here", value: service }], {});
      console.log(problems.length, compileAll(world).objects.map(({ kind }) => kind).join(" "));`,
    want: "0 ServiceAccount Deployment CiliumNetworkPolicy\n",
  },
  {
    name: "@lattice-fleet/lattice/kube-server is a cluster with custom resources, their rules and patterns",
    script: `import { startEmbeddedCluster } from "@lattice-fleet/lattice/kube-server";
      await using cluster = await startEmbeddedCluster({ objects: [${CRD}] });
      const widgets = cluster.resource("Widget");
      const make = (spec) => cluster.client.create(widgets, { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a", namespace: "default" }, spec });
      for (const spec of [{ size: 11 }, { size: 1, colour: "Red" }, { size: 1, colour: "red" }]) {
        const made = await make(spec);
        console.log(made.ok ? "made" : made.error.message.replace(/.*invalid: /, ""));
      }`,
    want: `spec: Invalid value: too large
spec.colour: Invalid value: "Red": spec.colour in body should match '^[a-z]+$'
made
`,
  },
  {
    name: "@lattice-fleet/lattice/kube-server has controllers, and listens",
    script: `import { resources, startEmbeddedCluster } from "@lattice-fleet/lattice/kube-server";
      await using cluster = await startEmbeddedCluster({ controllers: true });
      const pod = { containers: [{ name: "main", image: "web:1" }] };
      await cluster.add({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" },
        spec: { selector: { matchLabels: { app: "web" } }, template: { metadata: { labels: { app: "web" } }, spec: pod } } });
      await cluster.waitFor(resources.deployments, { namespace: "default", name: "web" }, (made) => made?.status?.readyReplicas === 1);
      const { url } = await cluster.listen();
      console.log(new URL(url).protocol, (await cluster.kubeconfig()).startsWith("apiVersion: v1"));`,
    want: "https: true\n",
  },
  {
    name: "@lattice-fleet/lattice/kube-server can be required",
    script: `import { createRequire } from "node:module";
      const { resources, startEmbeddedCluster } = createRequire(process.cwd() + "/")("@lattice-fleet/lattice/kube-server");
      await using cluster = await startEmbeddedCluster();
      console.log((await cluster.client.get(resources.namespaces, { name: "default" })).ok);`,
    want: "true\n",
  },
];

it.each(USES)("$name", async ({ script, want }) => {
  const ran = await runNode("--input-type=module", ["--eval", script], { cwd: project });
  expect(ran).toEqual({ code: 0, stdout: want, stderr: "" });
});

it.each([
  { name: "compiles", args: ["compile", "-f", "web.yaml", "--workloads-only"], want: /^---\napiVersion: v1\nkind: ServiceAccount\n/ },
  { name: "prints definitions", args: ["crds", "LatticeService"], want: /name: latticeservices\.lattice\.dev/ },
  { name: "prints its version", args: ["version"], want: /^lattice [0-9.]+ \(Node / },
])("the program $name, also without a usable cache", async ({ args, want }) => {
  const service =
    "apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: web}\nspec: {containers: {main: {image: 'web:1'}}}\n";
  const cwd = await fileTree({ "web.yaml": service, "cache is a file": "" });
  const program = join(project, "node_modules/@lattice-fleet/lattice/dist/lattice.js");
  const ran = await runNode(program, args, { cwd, env: { LATTICE_CACHE: join(cwd, "cache is a file") } });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toMatch(want);
});

/** Only the reported version is changed: the code runs in this Node. */
const OLD_NODE = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });`;

it.each([
  { name: "patch", load: `import("@lattice-fleet/lattice/patch")` },
  { name: "compile", load: `import("@lattice-fleet/lattice/compile")` },
  { name: "kube-server", load: `import("@lattice-fleet/lattice/kube-server")` },
  {
    name: "kube-server as CommonJS",
    load: `(async () => process.getBuiltinModule("module").createRequire(process.cwd() + "/")("@lattice-fleet/lattice/kube-server"))()`,
  },
])("$name refuses an old Node with one sentence and no stack frames", async ({ load }) => {
  const script = `${OLD_NODE} await ${load}.catch((error) => console.log(error.stack));`;
  const ran = await runNode("--input-type=module", ["--eval", script], { cwd: project });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).toMatch(/^Error: Lattice needs Node\.js 24 or later, but this is Node\.js 20\.20\.2 \(.*\)\.\n$/);
});

it("the program refuses an old Node with one sentence", async () => {
  const cwd = await fileTree({ "old-node.cjs": OLD_NODE });
  const program = join(project, "node_modules/@lattice-fleet/lattice/dist/lattice.js");
  const ran = await runNode("--require", ["./old-node.cjs", program, "version"], { cwd });
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toMatch(/^Lattice needs Node\.js 24 or later, but this is Node\.js 20\.20\.2 \(.*\)\.\n$/);
});

it("no published file imports Node's modules by a name that Node 20 does not have", async () => {
  const dist = join(project, "node_modules/@lattice-fleet/lattice/dist");
  const files = (await readdir(dist, { recursive: true })).filter((file) => file.endsWith(".js"));
  const texts = await Promise.all(files.map((file) => readFile(join(dist, file), "utf8")));
  const imported = texts.flatMap((text) => [...text.matchAll(/\bimport\s*\{([^}]*)\}\s*from\s*"(node:[^"]+)"/g)]);
  const names = imported.flatMap(([, list = "", from = ""]) =>
    list.split(",").map((name) => `${from} ${name.replace(/ as .*/, "").trim()}`),
  );
  const inNode20 = /^node:(?:(?:async_hooks|buffer|events|os|path|tty) \w+|util stripVTControlCharacters)$/;
  expect(names.filter((name) => !inNode20.test(name))).toEqual([]);
});
