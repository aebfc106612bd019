/**
 * Two services with all common features, and the complete compiled output. A change of a compiler shows in the golden file as a change of
 * users' clusters.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sensitive } from "#base";
import { compileAll } from "#compile";
import { fieldAt, formatYamlDocuments, type KubeObject } from "#kube";
import { loadYaml } from "../builders/world.ts";

const [api = "", frontend = ""] = readFileSync(new URL("two-services/services.yaml", import.meta.url), "utf8").split("\n---\n");
const secrets = new Map([["postgres/main-db/password", sensitive("<resolved-from-secret-store>")]]);

function compiled(...texts: readonly string[]) {
  const { world, problems } = loadYaml(texts, { secrets });
  const all = compileAll(world);
  expect([problems, [...all.errors]]).toEqual([[], []]);
  return all;
}

const named = (objects: readonly KubeObject[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

test("api and frontend compile to the golden objects", async () => {
  const { namespaces, objects } = compiled(api, frontend);
  await expect(formatYamlDocuments([...namespaces, ...objects])).toMatchFileSnapshot("two-services/compiled.yaml.golden");
});

test("api has these objects", () => {
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

test("api may call its databases, with a warning that their own ingress is not managed by Lattice", () => {
  const { objects, warnings } = compiled(api, frontend);
  const policy = objects.find(({ kind, metadata }) => kind === "CiliumNetworkPolicy" && metadata.name === "api");
  const egress = JSON.stringify(fieldAt(policy, "spec", "egress"));
  for (const name of ["main-db-postgres", "shared-cache-redis"]) {
    expect(egress).toContain(name);
    expect(warnings).toContain(
      `prod/api -> prod/${name} is open on the side of prod/api only: prod/${name} is not a Lattice service, so Lattice cannot open its ingress`,
    );
  }
});
