import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectOk, FakeClock } from "#base";
import { loadBundle, makeBundle, type Bundle } from "#bundle";
import type { CacheReader } from "#controller-runtime";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { field, fieldAt, parseYaml, type KubeObject } from "#kube";
import { bundleSources } from "../../../test/builders/bundle-sources.ts";
import { localCluster } from "../../../test/builders/cell-world.ts";
import { childCluster } from "../../../test/builders/observed-child.ts";
import { operatorRbac } from "../controllers.ts";
import { operatorDeployment } from "../deployment.ts";
import { childManifests } from "./child-manifests.ts";

let cluster: EmbeddedCluster;
let folder: string;
let bundle: Bundle;

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  folder = mkdtempSync(join(tmpdir(), "lattice-child-manifests-"));
  const made = expectOk(makeBundle(bundleSources(), { mirrors: [], variables: new Map() }));
  for (const [path, text] of made.files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  bundle = expectOk(loadBundle(folder));
});

afterAll(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

function manifestsFor(objects: Readonly<Record<string, object>>, withBundle: Bundle | undefined) {
  const { endpoints } = childCluster({ endpoints: { host: "fd00::1" } }).spec;
  if (endpoints === undefined) throw new Error("no endpoints");
  const cache = { get: (_resource: unknown, { name }: { readonly name: string }) => objects[name] } as unknown as CacheReader;
  return childManifests({
    cache,
    client: cluster.client,
    clock: new FakeClock(),
    home: "lattice-system",
    cell: "mgmt",
    endpoints,
    trustBundle: () => "CA",
    rbac: operatorRbac(),
    deployment: operatorDeployment({ version: "1.2.3" }),
    bundle: withBundle,
  });
}

const objectsOf = (yaml: string) => expectOk(parseYaml(yaml)) as unknown as readonly KubeObject[];
const docker = childCluster();

test("a child gets its identity, its parent and an operator", async () => {
  const yaml = expectOk(await manifestsFor({ prod: localCluster("prod") }, undefined)("prod", "token"));
  const objects = objectsOf(yaml);
  const parent = objects.find(({ metadata }) => metadata.name === "lattice-parent-config");
  const texts = ["cell", "endpoint", "bootstrap", "csr-token"].map((key) => {
    const value = fieldAt(parent, "data", key);
    return typeof value === "string" ? Buffer.from(value, "base64").toString() : "";
  });
  expect(texts).toEqual(["mgmt", "[fd00::1]:50051", "https://[fd00::1]:8443", "token"]);
  expect(
    field(
      objects.find(({ metadata }) => metadata.name === "lattice-identity"),
      "data",
    ),
  ).toEqual({ cluster: "prod" });
  expect(objects.at(-1)).toMatchObject({ kind: "Deployment", metadata: { name: "lattice-operator" } });
});

test("a local cluster gets the kinds of the mesh, so that services start on it; others get those of their bundle", async () => {
  const kinds = (yaml: string) => objectsOf(yaml).map(({ metadata }) => metadata.name);
  const mesh = ["ciliumnetworkpolicies.cilium.io", "authorizationpolicies.security.istio.io"];
  expect(kinds(expectOk(await manifestsFor({ prod: localCluster("prod") }, undefined)("prod", "token")))).toEqual(
    expect.arrayContaining(mesh),
  );
  const others = kinds(expectOk(await manifestsFor({ prod: docker }, bundle)("prod", "token")));
  expect(others.filter((name) => mesh.includes(name))).toEqual([]);
});

test("an operator of a child has the image and the flags of its parent's", async () => {
  const own = operatorDeployment({ version: "9.9.9", args: ["--resync", "10m"] });
  await cluster.add({ ...own, spec: { ...own.spec, replicas: 3 } });
  const objects = objectsOf(expectOk(await manifestsFor({ prod: localCluster("prod") }, undefined)("prod", "token")));
  const [container] = fieldAt(objects.at(-1), "spec", "template", "spec", "containers") as readonly object[];
  expect(container).toMatchObject({
    image: expect.stringContaining("9.9.9") as string,
    args: expect.arrayContaining(["--resync"]) as string[],
  });
  expect(fieldAt(objects.at(-1), "spec", "replicas")).toBeUndefined();
});

test("a child of another provider gets the bundle with certificates for its webhooks, and the same ones again", async () => {
  const manifests = manifestsFor({ prod: docker }, bundle);
  const yaml = expectOk(await manifests("prod", "token"));
  expect(objectsOf(yaml).some(({ apiVersion }) => apiVersion.startsWith("cert-manager.io/"))).toBe(false);
  expect(expectOk(await manifests("prod", "token"))).toBe(yaml);
});

test("without a bundle, or without its LatticeCluster, a child gets a reason", async () => {
  expect(await manifestsFor({ prod: docker }, undefined)("prod", "token")).toMatchObject({
    ok: false,
    error: expect.stringContaining("need a bundle") as string,
  });
  expect(await manifestsFor({}, bundle)("prod", "token")).toEqual({ ok: false, error: "LatticeCluster prod does not exist" });
});
