/**
 * `lattice diff` against a cluster with the operator, the controllers of Kubernetes and Flagger: their additions are no differences, and
 * objects that the files would not change are not reported.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeServices } from "#crds";
import { parseYaml, type KubeObject } from "#kube";
import { runCli } from "../builders/cli-io.ts";
import { initializeCanary } from "../builders/flagger.ts";
import { latticeService, secret } from "../builders/lattice-objects.ts";
import { openServiceCrd } from "../builders/open-crd.ts";
import { OperatedCluster } from "../builders/operated-cluster.ts";
import { serviceYaml } from "../builders/world.ts";

const SHOP = join(import.meta.dirname, "../../examples/shop");

const LEDGER = serviceYaml("ledger", { spec: "  resources:\n    data: {type: volume, params: {size: 1Gi}}\n" }).replace(
  'image: "ledger:1"',
  'image: "ledger:1", volumes: {/data: {source: "${resources.data.ref}"}}',
);
const CANARY = [
  serviceYaml("api", { calledBy: ["web"], spec: "  deploy: {strategy: canary}\n  replicas: {min: 2, max: 9}\n" }).replace(
    "{http: {port: 8080}}",
    "{http: {port: 80, targetPort: 8080}, metrics: {port: 9090}}",
  ),
  serviceYaml("web", { calls: ["api"], spec: "  replicas: {min: 2, max: 9}\n" }),
].join("---\n");

let operated: OperatedCluster;
let cwd: string;

const diff = (...argv: string[]) => runCli(["diff", ...argv], { cwd, clock: systemClock, env: { KUBECONFIG: join(cwd, "kubeconfig") } });
const NOTHING = { code: 0, stdout: "no differences\n", stderr: "" };

beforeAll(async () => {
  operated = await OperatedCluster.start({});
  cwd = mkdtempSync(join(tmpdir(), "lattice-live-diff-"));
  cpSync(SHOP, join(cwd, "shop"), { recursive: true });
  writeFileSync(join(cwd, "kubeconfig"), await operated.cluster.kubeconfig({ http: true }));
  const secrets = [secret("shop/postgres-products", { password: "p" }, "default"), secret("shop/stripe", { "api-key": "k" }, "default")];
  await operated.apply(...secrets);
  await operated.apply(...shop());
  for (const [file, text] of [
    ["canary.yaml", CANARY],
    ["ledger.yaml", LEDGER],
  ] as const) {
    await operated.applyYaml(text);
    writeFileSync(join(cwd, file), text);
  }
  await operated.live(15_000, 500);
}, 60_000);
afterAll(async () => {
  await operated[Symbol.asyncDispose]();
  rmSync(cwd, { recursive: true });
});

function shop(): readonly KubeObject[] {
  const files = readdirSync(SHOP).filter((name) => name.endsWith(".yaml"));
  const documents = files.flatMap((name) => expectOk(parseYaml(readFileSync(join(SHOP, name), "utf8")))) as unknown as KubeObject[];
  return documents.map((object) =>
    object.kind === "LatticeEnvironment" ? object : { ...object, metadata: { namespace: "default", ...object.metadata } },
  );
}

test("the shop, applied from the files, has no differences", async () => {
  expect(await diff("-f", "shop")).toEqual(NOTHING);
});

test("a claim that Kubernetes has bound is no difference", async () => {
  const claim = await operated.read("PersistentVolumeClaim", "shop/data");
  expect(claim?.metadata.annotations).toHaveProperty(["pv.kubernetes.io/bind-completed"]);
  expect(await diff("-f", "ledger.yaml")).toEqual(NOTHING);
});

test("under a canary, Flagger's writes are no difference and close no flow", async () => {
  expect(await diff("-f", "canary.yaml")).toEqual(NOTHING);
  await initializeCanary({ client: operated.client, resource: (kind) => operated.cluster.resource(kind) }, "shop/api");
  await operated.live(2_000, 500);
  expect(await diff("-f", "canary.yaml")).toEqual(NOTHING);
  writeFileSync(join(cwd, "next.yaml"), CANARY.replace("api:1", "api:2"));
  const { code, stdout } = await diff("-f", "next.yaml");
  expect(code).toBe(1);
  expect(stdout).toContain('image: "api:1" -> "api:2"');
  expect(stdout).not.toContain("flows");
});

test("a flow that a change of a canary's service really closes is reported", async () => {
  writeFileSync(join(cwd, "closed.yaml"), CANARY.replace("direction: inbound", "direction: outbound"));
  expect((await diff("-f", "closed.yaml")).stdout).toMatch(/flows\n {2}closed {2}shop\/web -> shop\/api:80\n/);
});

test("pods that an autoscaler added are no difference", async () => {
  const patch = { type: "merge" as const, patch: { spec: { replicas: 7 } } };
  expectOk(
    await operated.client.patch(operated.cluster.resource("Deployment"), { namespace: "shop", name: "web" }, patch, {
      fieldManager: "hpa",
    }),
  );
  expect(await diff("-f", "canary.yaml")).toEqual(NOTHING);
});

test("namespaces and claims that outlive their services are no deletions", async () => {
  await operated.applyYaml(LEDGER.replaceAll("shop", "old"));
  await operated.apply({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "empty", labels: { "app.kubernetes.io/managed-by": "lattice" } },
  });
  await operated.live(5_000, 500);
  await operated.remove(latticeServices, "old/ledger");
  await operated.live(5_000, 500);
  expect(await operated.read("PersistentVolumeClaim", "old/data")).toBeDefined();
  writeFileSync(join(cwd, "no-volume.yaml"), serviceYaml("ledger"));
  expect(await diff("-f", "shop")).toEqual(NOTHING);
  const { code, stdout } = await diff("-f", "no-volume.yaml");
  expect(code).toBe(1);
  expect(stdout).not.toMatch(/^ {2}- /m);
});

test("services of the cluster that are not among the files are not reported, also with errors", async () => {
  await operated.apply(latticeService("shop/odd", { resources: { x: { type: "nonsense" } } }));
  await operated.live(3_000, 500);
  // a service whose last version the operator has not applied yet, and one that an older version of Lattice accepted
  await operated.stopOperator();
  await operated.apply(latticeService("shop/ledger"), openServiceCrd());
  await operated.apply(latticeService("shop/older", { containers: "written for an older version" }));
  expect(await diff("-f", "shop")).toEqual(NOTHING);
  expect((await diff("-f", "ledger.yaml")).stdout).not.toContain("odd");
});
