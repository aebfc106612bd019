/**
 * The output of `lattice compile`, applied by hand and applied again after changes by controllers: pods that an autoscaler added stay, and so do
 * Flagger's changes of a canary's Service and Deployment. Both forms of `kubectl apply` are simulated; test/kube runs kubectl itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { reducedMeshCrds } from "#controllers";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { fieldAt, parseKey, parseYaml, type KubeObject } from "#kube";
import { runCli } from "../builders/cli-io.ts";
import { initializeCanary } from "../builders/flagger.ts";
import { applyClientSide, applyServerSide, type Apply } from "../builders/kubectl-apply.ts";
import { serviceYaml } from "../builders/world.ts";

const FILES = (image: string) =>
  [
    serviceYaml("web", { calls: ["api"], spec: "  replicas: {min: 2, max: 9}\n" }).replace("web:1", image),
    serviceYaml("api", { calledBy: ["web"], spec: "  deploy: {strategy: canary}\n  replicas: {min: 3}\n" }).replace("api:1", image),
  ].join("---\n");

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-again-"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

async function compiled(image: string): Promise<{ readonly objects: readonly KubeObject[]; readonly stderr: string }> {
  writeFileSync(join(cwd, "services.yaml"), FILES(image));
  const { code, stdout, stderr } = await runCli(["compile", "-f", "services.yaml"], { cwd });
  expect(code).toBe(0);
  return { objects: expectOk(parseYaml(stdout)) as unknown as KubeObject[], stderr };
}

async function applyAll(cluster: EmbeddedCluster, apply: Apply, image: string): Promise<void> {
  for (const object of (await compiled(image)).objects) {
    const resource = cluster.resource(object.kind, object.apiVersion);
    expectOk(await apply(cluster.client, resource, object));
  }
}

async function scale(cluster: EmbeddedCluster, key: string, replicas: number): Promise<void> {
  const options = { fieldManager: "kube-controller-manager", subresource: "scale" as const };
  const patch = { type: "merge" as const, patch: { spec: { replicas } } };
  expectOk(await cluster.client.patch(cluster.resource("Deployment"), parseKey(key), patch, options));
}

const read = async (cluster: EmbeddedCluster, kind: string, key: string) =>
  expectOk(await cluster.client.get<KubeObject>(cluster.resource(kind), parseKey(key)));

describe.each([
  { name: "server-side", apply: applyServerSide },
  { name: "client-side", apply: applyClientSide },
])("compiled objects applied again, $name", ({ apply }) => {
  test("keep the pods that an autoscaler added and Flagger's changes, and get a new image", async () => {
    await using cluster = await startEmbeddedCluster({ controllers: false });
    await cluster.add(...reducedMeshCrds());
    await applyAll(cluster, apply, "app:1");
    await scale(cluster, "shop/web", 7);
    await initializeCanary({ client: cluster.client, resource: (kind) => cluster.resource(kind) }, "shop/api");
    await applyAll(cluster, apply, "app:1");
    await applyAll(cluster, apply, "app:2");
    const [web, api, service] = [
      await read(cluster, "Deployment", "shop/web"),
      await read(cluster, "Deployment", "shop/api"),
      await read(cluster, "Service", "shop/api"),
    ];
    expect([web, api].map((one) => fieldAt(one, "spec", "replicas"))).toEqual([7, 0]);
    expect(fieldAt(service, "spec", "selector")).toEqual({ "app.kubernetes.io/name": "api-primary" });
    expect(JSON.stringify(web)).toContain('"image":"app:2"');
  });
});

test("a canary with several pods and no autoscaler: compile prints how to scale it, since compiled output has no replicas", async () => {
  const { objects, stderr } = await compiled("app:1");
  expect(stderr).toContain(
    "warning: shop/api: Flagger starts api-primary with 1 pod and not 3, since compiled output leaves replicas out to be safe to apply again; give spec.replicas.max, or run once: kubectl scale -n shop deployment/api-primary --replicas=3\n",
  );
  const service = objects.find(({ kind, metadata }) => kind === "Service" && metadata.name === "api");
  const port = { name: "http", port: 8080, targetPort: 8080 };
  expect(fieldAt(service, "spec")).toEqual({ type: "ClusterIP", ports: [port] });
  expect(stderr).not.toContain("web-primary");
});
