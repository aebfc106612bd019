/**
 * The example of the plan that Lattice comes from, and what it compiles to, to the letter. The golden file is the review:
 * whoever changes what is compiled sees here what that means for people's clusters.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sensitive } from "#base";
import { compileAll } from "#compile";
import { fieldAt, formatYamlDocuments, type KubeObject } from "#kube";
import { loadYaml } from "../builders/world.ts";

const [api = "", frontend = ""] = readFileSync(new URL("seed-example/services.yaml", import.meta.url), "utf8").split("\n---\n");
const secrets = new Map([["postgres/main-db/password", sensitive("<resolved-from-secret-store>")]]);

function compiled(...texts: readonly string[]) {
  const { world, problems } = loadYaml(texts, { secrets });
  const all = compileAll(world);
  expect([problems, [...all.errors]]).toEqual([[], []]);
  return all;
}

const named = (objects: readonly KubeObject[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

test("api and frontend become these objects", async () => {
  const { namespaces, objects } = compiled(api, frontend);
  await expect(formatYamlDocuments([...namespaces, ...objects])).toMatchFileSnapshot("seed-example/compiled.yaml.golden");
});

test("among them are the ten of the plan, and what we add", () => {
  const { objects } = compiled(api, frontend);
  const own = objects.filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === "api");
  expect(named(own)).toEqual([
    "ConfigMap api-env",
    "ConfigMap api-files",
    "Secret api-secrets",
    "ServiceAccount api",
    "Deployment api",
    "Service api",
    "HorizontalPodAutoscaler api",
    "PodDisruptionBudget api",
    "Canary api",
    "AuthorizationPolicy api",
    "AuthorizationPolicy api-waypoint",
    "CiliumNetworkPolicy api",
  ]);
});

describe("api alone", () => {
  test("compiles without the edge, with a warning", () => {
    const { objects, warnings } = compiled(api);
    expect(named(objects)).not.toContain("AuthorizationPolicy api");
    expect(warnings).toContain("prod/frontend -> prod/api is closed: there is no prod/frontend");
  });
});

test("the databases are opened on the side of api, with a warning that the other side is not ours", () => {
  const { objects, warnings } = compiled(api, frontend);
  const policy = objects.find(({ kind, metadata }) => kind === "CiliumNetworkPolicy" && metadata.name === "api");
  const egress = JSON.stringify(fieldAt(policy, "spec", "egress"));
  for (const name of ["main-db-postgres", "shared-cache-redis"]) {
    expect(egress).toContain(name);
    expect(warnings).toContain(
      `prod/api -> prod/${name} is open on the side of prod/api only: prod/${name} is no service of ours, and its own ingress is not ours to open`,
    );
  }
});
