/** `lattice patch-preview` on files and on a cluster. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { deployments, formatYamlDocuments, parseYaml, type KubeObject } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";
import { addFiles } from "../../test/builders/file-tree.ts";
import { serviceYaml } from "../../test/builders/world.ts";
import { ownedDeployment } from "../../test/builders/workload-patches.ts";

const PATCHED = [
  "apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: web, namespace: shop}\nspec:\n",
  "  workloadRef: {kind: Deployment, name: web, namespace: shop}\n",
  '  containers: {main: {image: "web:2", variables: {LEVEL: debug, USED: x}}, gone: {variables: {A: b}}}\n',
  "  service: {ports: {http: {port: 8080}}}\n  resources: {caller: {direction: inbound}}\n",
].join("");
const CALLER = serviceYaml("caller", { calls: ["web"] });
const OWNED = ownedDeployment({ env: [{ name: "LEVEL", value: "info" }, { name: "DB_PASSWORD", value: "hunter2" }, { name: "USED", value: "1" }, { name: "LATTICE_USED", value: "2" }] }); // prettier-ignore

let cluster: EmbeddedCluster;
let cwd: string;
const run = (...argv: string[]) => runCli(argv, { cwd, clock: systemClock, env: { KUBECONFIG: join(cwd, "kubeconfig") } });

beforeAll(async () => {
  const crds = latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject);
  cluster = await startEmbeddedCluster({ objects: crds, controllers: false });
  await cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await cluster.add(...(expectOk(parseYaml(CALLER)) as unknown as FixtureObject[]));
  expectOk(await cluster.client.apply<KubeObject>(deployments, OWNED, { fieldManager: "helm" }));
  cwd = mkdtempSync(join(tmpdir(), "lattice-preview-"));
  await addFiles(cwd, {
    "web.yaml": PATCHED,
    "owned.yaml": serviceYaml("own"),
    "deployment.yaml": formatYamlDocuments([OWNED]),
    "list.yaml": formatYamlDocuments([{ apiVersion: "v1", kind: "List", items: [OWNED] }]),
    "caller.yaml": CALLER,
    "broken.yaml": PATCHED.replace("kind: Deployment", "kind: StatefulSet"),
  });
  writeFileSync(join(cwd, "kubeconfig"), await cluster.kubeconfig({ http: true }));
});
afterAll(async () => {
  await cluster.close();
  rmSync(cwd, { recursive: true, force: true });
});

describe("lattice patch-preview", () => {
  it("shows each field, and that a flow opens, from files", async () => {
    const { code, stdout, stderr } = await run("patch-preview", "-f", "web.yaml", "--against", "deployment.yaml", "caller.yaml");
    expect(stderr).toBe("");
    expect(stdout).toContain("shop/web would patch Deployment shop/web\n");
    expect(stdout).toContain('  ~ spec.template.spec.containers[main].image: "web:1" -> "web:2"\n');
    expect(stdout).toContain('  ~ spec.template.spec.containers[main].env[LEVEL]: {"name":"LEVEL","value":"info"} -> ');
    expect(stdout).toContain("  ! container gone: not in the Deployment, and never created\n");
    expect(stdout).toContain("  ! spec.template.spec.containers[main].env[USED]: not patched; the variable LATTICE_USED is needed");
    expect(stdout).toContain("flows\n  opened  shop/caller -> shop/web:8080\n");
    expect(stdout).not.toContain("hunter2");
    expect(code).toBe(1);
  });

  it("shows the owner of each field in a cluster", async () => {
    const { stdout, code } = await run("patch-preview", "-f", "web.yaml");
    expect(stdout).toContain('  ~ spec.template.spec.containers[main].image: "web:1" -> "web:2"  (helm, Apply)\n');
    expect(stdout).toContain("  opened  shop/caller -> shop/web:8080\n");
    expect(code).toBe(1);
  });

  it("prints JSON with the same content", async () => {
    const { stdout } = await run("patch-preview", "-f", "web.yaml", "--against", "list.yaml", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({
      services: [{ service: "shop/web", deployment: "shop/web", preview: { missingContainers: ["gone"] } }],
    });
  });

  it("changes nothing in the cluster", async () => {
    const before = expectOk(await cluster.client.get<KubeObject>(deployments, { namespace: "shop", name: "web" }));
    await run("patch-preview", "-f", "web.yaml");
    expect(expectOk(await cluster.client.get<KubeObject>(deployments, { namespace: "shop", name: "web" }))).toEqual(before);
  });

  it.each([
    { name: "a Deployment that does not exist", given: ["-f", "web.yaml", "--against", "caller.yaml"], code: 1, want: "there is no Deployment shop/web" },
    { name: "no service in patch mode", given: ["-f", "owned.yaml", "--against", "deployment.yaml"], code: 2, want: "no service of the files has spec.workloadRef" },
    { name: "a file that is not there", given: ["-f", "web.yaml", "--against", "none.yaml"], code: 2, want: "--against none.yaml: there is no such file or folder" },
    { name: "files and a cluster at once", given: ["-f", "web.yaml", "--against", "caller.yaml", "--context", "x"], code: 2, want: "not both" },
    { name: "a service with a mistake", given: ["-f", "broken.yaml", "--against", "deployment.yaml"], code: 2, want: "broken.yaml" },
  ])("explains $name", async ({ given, code, want }) => {
    const ran = await run("patch-preview", ...given);
    expect(`${ran.stdout}${ran.stderr}`).toContain(want);
    expect(ran.code).toBe(code);
  }); // prettier-ignore
});
