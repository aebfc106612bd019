/**
 * All compiled objects on a real API server with the published CRDs of Cilium, Istio, Flagger, Gateway API and External Secrets: every object
 * is accepted under strict validation, without a warning, and applying it again changes nothing.
 *
 * Accepted is not enforced: src/mesh-compiler/reachability models what these projects do with the objects.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sensitive } from "#base";
import { compileAll } from "#compile";
import { describeObject, fieldAt, formatYamlDocuments, type JsonObject, type KubeObject } from "#kube";
import type { CompiledObject } from "#service-compiler";
import { loadYaml } from "../builders/world.ts";
import { installCrds, MESH_CRDS, publishedCrds, realPlane, type RealPlane } from "./harness/index.ts";

const SECRETS = ["postgres/main-db/password", "redis/cache/password", "shared/key"];

function compiledWorld() {
  const text = readFileSync(new URL("compiled-objects/world.yaml", import.meta.url), "utf8");
  const { world, problems } = loadYaml(text, {
    secrets: new Map(SECRETS.map((path) => [path, sensitive(`value of ${path}`)])),
    settings: { monitoring: "monitoring" },
    assumeShareable: true,
  });
  const all = compileAll(world);
  expect([problems, [...all.errors]]).toEqual([[], []]);
  return all;
}

const world = compiledWorld();
const everything: readonly CompiledObject[] = [...world.namespaces.map((object) => ({ object })), ...world.compiled];
const rows = everything.map((given) => ({ name: describeObject(given.object), given }));

let plane: RealPlane;
let unavailable: string | undefined;

beforeAll(async () => {
  // a separate plane: other stories test an operator without these CRDs
  plane = await realPlane({ controllerManager: "absent" });
  const crds = await publishedCrds(MESH_CRDS);
  if (crds.ok) await installCrds(plane, crds.value);
  else unavailable = crds.error;
  if (unavailable !== undefined) console.log(`compiled objects are not checked on a real API server: ${unavailable}`);
});

afterAll(() => plane.stop());

const PLURALS: Readonly<Record<string, string>> = {
  AuthorizationPolicy: "authorizationpolicies",
  Canary: "canaries",
  CiliumNetworkPolicy: "ciliumnetworkpolicies",
  PeerAuthentication: "peerauthentications",
  ServiceEntry: "serviceentries",
};

function pathOf({ apiVersion, kind, metadata }: KubeObject): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
  return `${root}${metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`}/${plural}/${metadata.name}`;
}

function apply(object: KubeObject, manager = "lattice") {
  const path = `${pathOf(object)}?fieldManager=${manager}&force=true&fieldValidation=Strict`;
  return plane.request({ method: "PATCH", path, body: object, contentType: "application/apply-patch+yaml" });
}

test("the world has every compiled kind", () => {
  expect([...new Set(everything.map(({ object }) => object.kind))].toSorted()).toEqual([
    "AuthorizationPolicy",
    "Canary",
    "CiliumNetworkPolicy",
    "ConfigMap",
    "Deployment",
    "ExternalSecret",
    "Gateway",
    "HTTPRoute",
    "HorizontalPodAutoscaler",
    "Namespace",
    "PeerAuthentication",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceEntry",
  ]);
});

describe("each object", () => {
  test.for(rows)("is accepted, without a warning: $name", async ({ given: { object, once } }, { skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    // as a controller does: fields that are written once are applied first, by another manager
    if (once !== undefined) {
      const { apiVersion, kind, metadata } = object;
      const spec = { ...(fieldAt(object, "spec") as JsonObject), ...(once["spec"] as JsonObject) };
      const first = await apply({ apiVersion, kind, metadata, spec } as KubeObject, "lattice-once");
      expect(first.code, first.text).toBeLessThan(300);
    }
    const answer = await apply(object);
    expect(answer.code, answer.text).toBeLessThan(300);
    expect(answer.warnings).toEqual([]);
  });

  test.for(rows)("does not change when it is applied again: $name", async ({ given: { object } }, { skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    const versions = [await apply(object), await apply(object)].map((answer) => fieldAt(answer.json(), "metadata", "resourceVersion"));
    expect(versions[0]).toBe(versions[1]);
    expect(versions[0]).toEqual(expect.any(String));
  });
});

test("kubectl apply accepts the whole output of lattice compile", async ({ skip }) => {
  if (unavailable !== undefined) skip(unavailable);
  const stdin = formatYamlDocuments([...world.namespaces, ...world.objects]);
  const args = ["apply", "--server-side", "--force-conflicts", "--validate=strict", "--dry-run=server", "-f", "-"];
  expect(await plane.kubectl(args, { stdin, limitMs: 120_000 })).toMatchObject({ code: 0, stderr: "" });
});
