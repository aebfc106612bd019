/** `lattice diff`, `why` and `graph` against a cluster: the embedded one, over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectOk, systemClock } from "#base";
import { compileAll, compiledKinds, loadWorld } from "#compile";
import { FIELD_MANAGER, stamp } from "#controller-runtime";
import { HASH_KEY_SECRET } from "#controllers";
import { latticeKinds } from "#crds";
import { startEmbeddedCluster, type EmbeddedCluster, type FixtureObject } from "#embedded-cluster";
import { parseYaml, type KubeObject } from "#kube";
import { runCli } from "../../test/builders/cli-io.ts";
import { addFiles } from "../../test/builders/file-tree.ts";
import { documentsOf, serviceYaml } from "../../test/builders/world.ts";

const LIVE = [
  serviceYaml("a", { calls: ["b"], spec: "  replicas: {min: 2, max: 5}\n" }).replace(
    '{image: "a:1"}',
    '{image: "a:1", variables: {P: "${secrets.s.key}", A: one}}',
  ),
  serviceYaml("b", { calledBy: ["a"] }),
  "apiVersion: lattice.dev/v1alpha1\nkind: LatticeSecretBindings\nmetadata: {name: s, namespace: shop}\nspec: {bindings: {s: {secretRef: {name: s}}}}\n",
  "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\ndata: {key: aHVudGVyMg==}\n",
];

/** Cilium's and Istio's kinds, with the fields that these tests use. */
const foreignCrds = compiledKinds
  .filter(({ group }) => group.includes(".") && !["apps", "autoscaling", "policy"].includes(group))
  .map(({ group, version, kind, plural }): FixtureObject => {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, for a test" } },
      spec: { group, scope: "Namespaced", names: { kind, plural }, versions: [{ name: version, served: true, storage: true, schema }] },
    };
  });

let cluster: EmbeddedCluster;
let cwd: string;

const run = (...argv: string[]) => runCli(argv, { cwd, clock: systemClock, env: { KUBECONFIG: join(cwd, "kubeconfig") } });

async function applyCompiled(): Promise<void> {
  const { namespaces, compiled, errors } = compileAll(loadWorld(documentsOf(...LIVE)).world);
  expect([...errors]).toEqual([]);
  const owner = (controller: string, kind: string, apiVersion: string) => ({
    controller,
    object: { apiVersion, kind, metadata: { name: "shop", namespace: kind === "Namespace" ? undefined : "shop", uid: "1" } } as KubeObject,
  });
  const [closing, serving] = [owner("namespace", "Namespace", "v1"), owner("service", "LatticeService", "lattice.dev/v1alpha1")];
  // as the operator applies them: with the labels by which it recognizes them
  const stamped = [
    ...namespaces.map((object) => (object.kind === "Namespace" ? object : stamp(object, closing))),
    ...compiled.map((one) => stamp(one.object, serving)),
  ];
  for (const object of stamped) {
    const resource = compiledKinds.find(({ kind }) => kind === object.kind);
    if (resource !== undefined) expectOk(await cluster.client.apply<KubeObject>(resource, object, { fieldManager: FIELD_MANAGER }));
  }
  const key = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: HASH_KEY_SECRET, namespace: "lattice-system", labels: { "app.kubernetes.io/managed-by": "lattice" } },
  };
  await cluster.add({ apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } }, key);
}

beforeAll(async () => {
  const crds = latticeKinds.map(({ crd }) => crd() as unknown as FixtureObject);
  cluster = await startEmbeddedCluster({ objects: [...crds, ...foreignCrds], users: [{ name: "reader" }] });
  await cluster.add(...LIVE.flatMap((text) => expectOk(parseYaml(text)) as unknown as FixtureObject[]));
  await applyCompiled();
  cwd = mkdtempSync(join(tmpdir(), "lattice-live-"));
  await addFiles(cwd, {
    "same.yaml": LIVE[0] ?? "",
    "changed.yaml": serviceYaml("b").replace("b:1", "b:2"),
    "new.yaml": serviceYaml("c", { calls: ["b"] }),
  });
  writeFileSync(join(cwd, "kubeconfig"), await cluster.kubeconfig({ http: true }));
  writeFileSync(join(cwd, "stranger"), await cluster.kubeconfig({ user: "reader" }));
});
afterAll(async () => {
  await cluster.close();
  rmSync(cwd, { recursive: true });
});

describe("lattice diff against a cluster", () => {
  it("finds nothing when the files are applied: defaults, and fields that are written once, are not differences", async () => {
    expect(await run("diff", "-f", "same.yaml")).toEqual({ code: 0, stdout: "no differences\n", stderr: "" });
  });

  it("compares as if the files were applied to the cluster", async () => {
    const { code, stdout } = await run("diff", "-f", "changed.yaml");
    expect(code).toBe(1);
    expect(stdout).toContain('image: "b:1" -> "b:2"');
    expect(stdout).toContain("- AuthorizationPolicy shop/b\n");
    expect(stdout).toContain("closed  shop/a -> shop/b:8080\n");
    expect(stdout).not.toContain("Deployment shop/a");
  });

  it("a new service is added, and others are unchanged", async () => {
    const { stdout } = await run("diff", "-f", "new.yaml");
    expect(stdout).toMatch(/\+ Deployment shop\/c\n/);
    expect(stdout).toMatch(/\n4 added, 0 changed, 0 removed\n$/);
  });

  it("a service of the cluster that cannot be compiled is not reported, and its objects are not deletions", async () => {
    await cluster.add(
      ...(expectOk(parseYaml(serviceYaml("odd", { spec: "  resources: {x: {type: nonsense}}\n" }))) as unknown as FixtureObject[]),
    );
    expect(await run("diff", "-f", "same.yaml")).toEqual({ code: 0, stdout: "no differences\n", stderr: "" });
  });

  it("a service of the cluster that could be compiled without the files, and cannot with them, is reported with the reason", async () => {
    const binding =
      "apiVersion: lattice.dev/v1alpha1\nkind: LatticeSecretBindings\nmetadata: {name: s, namespace: shop}\nspec: {bindings: {other: {secretRef: {name: s}}}}\n";
    writeFileSync(join(cwd, "unbound.yaml"), binding);
    const { code, stdout, stderr } = await run("diff", "-f", "unbound.yaml");
    expect(stderr).toMatch(
      /^warning: shop\/a, which is in the cluster, cannot be compiled with these files: .*secrets\.s.*; its objects are not changed\n$/,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "no differences\n" });
  });

  it("labels of a namespace that its administrator set, and that the operator does not change, are not a difference", async () => {
    const labels = { "app.kubernetes.io/managed-by": "Helm", "pod-security.kubernetes.io/enforce": "privileged" };
    const patch = { type: "merge" as const, patch: { metadata: { labels } } };
    expectOk(await cluster.client.patch(cluster.resource("Namespace"), { name: "shop" }, patch, { fieldManager: "helm" }));
    expect(await run("diff", "-f", "same.yaml")).toEqual({ code: 0, stdout: "no differences\n", stderr: "" });
  });

  it("an object that may not be pruned is not a deletion", async () => {
    const stale = (name: string, annotations: object): FixtureObject => {
      const labels = { "app.kubernetes.io/managed-by": "lattice", "app.kubernetes.io/name": "a" };
      return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop", labels, annotations } };
    };
    await cluster.add(stale("a-kept", { "lattice.dev/prune": "never" }), stale("a-stale", {}));
    const { stdout } = await run("diff", "-f", "same.yaml");
    expect(stdout).toContain("- ConfigMap shop/a-stale\n");
    expect(stdout).not.toContain("a-kept");
    expectOk(await cluster.client.delete(cluster.resource("ConfigMap"), { namespace: "shop", name: "a-stale" }));
  });

  it("files with a mistake, and a cluster that refuses the request, are exit code 2", async () => {
    writeFileSync(join(cwd, "wrong.yaml"), serviceYaml("a", { spec: "  resources: {x: {type: nonsense}}\n" }));
    expect(await run("diff", "-f", "wrong.yaml")).toMatchObject({ code: 2, stderr: expect.stringContaining("error wrong.yaml") as string });
    expect(await run("diff", "-f", "same.yaml", "--gateway", "x")).toMatchObject({ code: 2 });
    await using gone = await startEmbeddedCluster();
    writeFileSync(join(cwd, "gone"), await gone.kubeconfig({ http: true }));
    await gone.close();
    expect(await run("diff", "-f", "same.yaml", "--kubeconfig", join(cwd, "gone"))).toMatchObject({ code: 2, stdout: "" });
  });

  it("a kind that may not be read is reported", async () => {
    const { stderr } = await run("graph", "--kubeconfig", join(cwd, "stranger"));
    expect(stderr).toContain("warning: latticeservices.lattice.dev may not be read with these credentials, and are left out\n");
  });
});

describe("lattice why and graph against a cluster", () => {
  it("evaluate the policies of the cluster", async () => {
    expect(await run("why", "a", "b")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("shop/a -> shop/b:8080 is open") as string,
    });
    const policy = { namespace: "shop", name: "b" };
    await cluster.client.delete(cluster.resource("AuthorizationPolicy"), policy);
    const { code, stdout } = await run("why", "a", "b");
    expect(code).toBe(1);
    expect(stdout).toContain("L7  NO   is let in at shop/b  AuthorizationPolicy shop/lattice-default-deny does not allow it");
  });

  it("show declared edges", async () => {
    expect((await run("graph", "-n", "shop")).stdout).toContain("shop/a  ->  shop/b:8080  open\n");
  });
});
