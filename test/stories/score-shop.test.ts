/** A shop of twelve workloads in plain Score, in the style of Score's public examples: compiled, applied to a cluster, with Ready pods. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { isScore, parseDocuments } from "#compile";
import { reducedMeshCrds } from "#controllers";
import { startEmbeddedCluster } from "#embedded-cluster";
import { fieldAt, keyText, parseYaml, type Json, type KubeObject } from "#kube";
import { runCli } from "../builders/cli-io.ts";

const root = join(import.meta.dirname, "../..");
const FOLDER = "examples/score-shop";
const FLAGS = ["--secrets", `${FOLDER}/secrets.example`, "--image", "registry.example.com/shop/storefront:9.0"];

const texts = readdirSync(join(root, FOLDER))
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => readFileSync(join(root, FOLDER, name), "utf8"));
const scores = texts.flatMap((text) => expectOk(parseDocuments(text))).filter(isScore);

async function compiled(): Promise<readonly KubeObject[]> {
  const { code, stdout, stderr } = await runCli(["compile", "-f", FOLDER, ...FLAGS], { cwd: root });
  expect({ code, errors: stderr.replaceAll(/^warning: .*\n/gm, "") }).toEqual({ code: 0, errors: "" });
  return expectOk(parseYaml(stdout)) as unknown as KubeObject[];
}

function nameOf(file: Json): string {
  const name = fieldAt(file, "metadata", "name");
  return typeof name === "string" ? name : "";
}

const textsAt = (object: Json | undefined, ...path: readonly string[]) => fieldAt(object, ...path) as Readonly<Record<string, string>>;

test("the twelve files are plain Score, and use every resource type that Score publishes and Lattice supports", () => {
  const types = scores.flatMap((file) => Object.values((fieldAt(file, "resources") ?? {}) as Readonly<Record<string, { type: string }>>));
  expect(scores).toHaveLength(12);
  expect(texts.filter((text) => text.startsWith("apiVersion: score.dev/") && text.includes("lattice"))).toEqual([]);
  expect([...new Set(types.map(({ type }) => type))].toSorted()).toEqual(
    ["amqp", "dns", "environment", "mongodb", "mysql", "postgres", "redis", "route", "s3", "service", "service-port", "volume"], // prettier-ignore
  );
});

test("a shop in plain Score compiles, its objects are accepted, and its pods become Ready", { timeout: 60_000 }, async () => {
  const objects = await compiled();
  await using cluster = await startEmbeddedCluster({ clock: "fake", controllers: true });
  await cluster.add(...reducedMeshCrds());
  await cluster.clock.advance(10);
  for (const object of objects) {
    const resource = cluster.resource(object.kind, object.apiVersion);
    expectOk(await cluster.client.apply(resource, object, { fieldManager: "kubectl", force: true }));
  }
  for (let step = 0; step < 30; step += 1) {
    await cluster.clock.advance(500);
    await cluster.settled();
  }
  const deployments = expectOk(await cluster.client.list<KubeObject>(cluster.resource("Deployment"), { namespace: "score-shop" })).items;
  expect(deployments.map((one) => `${one.metadata.name} ${JSON.stringify(fieldAt(one, "status", "availableReplicas"))}`)).toEqual(
    scores.map((file) => `${nameOf(file)} 1`).toSorted(),
  );
});

test("values reach the workloads as they are written", async () => {
  const objects = await compiled();
  const find = (kind: string, name: string) => objects.find((one) => one.kind === kind && keyText(one.metadata) === `score-shop/${name}`);
  expect(textsAt(find("ConfigMap", "shipping-env") as Json, "data")).toEqual({
    COUNTRIES: "DE,NO,SE",
    DEFAULT_COUNTRY: "NO",
    NO: "Posten Norge",
  });
  expect(textsAt(find("ConfigMap", "catalog-env") as Json, "data")["spring.datasource.url"]).toBe(
    "jdbc:mysql://catalog-db-mysql.score-shop.svc.cluster.local:3306/catalog-db",
  );
  expect(textsAt(find("ConfigMap", "media-env") as Json, "data")["S3_ENDPOINT"]).toBe("https://s3.eu-central-1.amazonaws.com");
  expect(find("Deployment", "reviews")?.metadata.annotations).toEqual({ "prometheus.io/scrape": "true" });
  expect(fieldAt(find("Deployment", "billing"), "spec", "template", "spec", "securityContext")).toEqual({
    fsGroup: 65_532,
    fsGroupChangePolicy: "OnRootMismatch",
  });
  expect(find("PersistentVolumeClaim", "recommendations-models")).toBeDefined();
});
