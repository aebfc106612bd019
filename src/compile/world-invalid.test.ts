/** Invalid declarations and missing Secrets: nothing is opened, and nothing else is closed. */
import { expect, test } from "vitest";
import { err, expectOk } from "#base";
import { latticeExternalServiceKind, latticeServiceKind } from "#crds";
import type { KubeObject } from "#kube";
import { DataPlane } from "#mesh-compiler";
import { worldSettings } from "./settings.ts";
import { World } from "./world.ts";

const service = (name: string, spec: object) =>
  expectOk(
    latticeServiceKind.parse({
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeService",
      metadata: { name, namespace: "shop" },
      spec: { containers: { main: { image: "a:1" } }, service: { ports: { http: { port: 80 } } }, ...spec },
    }),
  );
const external = expectOk(
  latticeExternalServiceKind.parse({
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeExternalService",
    metadata: { name: "stripe", namespace: "shop" },
    spec: { endpoints: { api: "https://api.stripe.com" }, allowedRequesters: ["front"] },
  }),
);
const api = service("api", { resources: { front: { direction: "inbound" } } });
const front = service("front", {
  containers: { main: { image: "a:1", variables: { URL: "${resources.api.url}" } } },
  resources: { api: {}, stripe: { type: "external-service" } },
});

function worldOf(): World {
  const world = new World(worldSettings({ ingressDomain: "example.com" }, { secrets: (_, path) => err(`there is no secret '${path}'`) }));
  for (const one of [api, front, external]) world.put(one);
  return world;
}

test("an invalid service keeps its name, affects its neighbours, and gives its callers no address", () => {
  const world = worldOf();
  expect(world.compile("shop/front").ok).toBe(true);
  const raw: KubeObject = { apiVersion: api.apiVersion, kind: api.kind, metadata: { name: "api", namespace: "shop" } };
  expect([...world.putInvalid("LatticeService", raw)].toSorted()).toEqual(["shop/api", "shop/front"]);
  expect([world.idOf("shop/api"), world.compile("shop/api")]).toEqual(["shop/api", { ok: false, error: [] }]);
  expect(world.compile("shop/front")).toMatchObject({ ok: false, error: [{ kind: "resource-not-found", name: "api" }] });
  const [policy, ...more] = world.accessOf("shop/api");
  expect([policy, more]).toEqual([world.mesh.closedPolicy("shop/api"), []]);
  expect([...world.put(api)].toSorted()).toEqual(["shop/api", "shop/front"]);
  expect(world.compile("shop/front").ok).toBe(true);
});

test("an invalid external service has no entries and no requesters", () => {
  const world = worldOf();
  const raw: KubeObject = { ...external, metadata: { ...external.metadata, creationTimestamp: "2026-01-01T00:00:00Z" } };
  world.putInvalid("LatticeExternalService", raw);
  expect(world.compileExternal("shop/stripe")).toEqual({ ok: false, error: [] });
  expect(world.mesh.policiesOf("shop/stripe")).toEqual([]);
  expect(JSON.stringify(world.accessOf("shop/front"))).not.toContain("stripe");
});

test("policies and routes of a service do not depend on Secrets", () => {
  const world = worldOf();
  const resources = {
    front: { direction: "inbound" },
    db: { type: "postgres", params: { database: "${secrets.db.name}" } },
    web: { type: "route", params: { host: "a.example.com" } },
    bad: { type: "route", params: { host: "b.example.com", port: "nowhere" } },
  };
  world.put({ ...service("api", { resources }), kind: "LatticeService" });
  world.put({
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeSecretBindings",
    metadata: { name: "all", namespace: "shop" },
    spec: { bindings: { db: { secretRef: { name: "db" } } } },
  } as never);
  expect(world.compile("shop/api").ok).toBe(false);
  const access = world.accessOf("shop/api");
  expect(access.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "AuthorizationPolicy api",
    "CiliumNetworkPolicy api",
    "HTTPRoute api-web",
  ]);
  expect(JSON.stringify(access)).toContain("db-postgres");
  expect(world.accessOf("shop/nowhere")).toEqual([]);
});

test("a closed policy allows probes and DNS only", () => {
  const world = worldOf();
  const workloads = [api, front].flatMap((one) => {
    const made = world.compile(`shop/${one.metadata.name}`);
    return made.ok ? made.value.objects.map(({ object }) => object) : [];
  });
  const live = [...world.namespaceObjects("shop"), ...workloads.filter(({ kind }) => kind !== "AuthorizationPolicy")];
  const closed = live.map((object) =>
    object.kind === "CiliumNetworkPolicy" && object.metadata.name === "api" ? world.mesh.closedPolicy("shop/api") : object,
  );
  const asked = { from: "shop/front", to: "shop/api", port: 80 };
  expect([new DataPlane(live).ask(asked)?.l4, new DataPlane(closed).ask(asked)?.l4]).toEqual([true, false]);
  expect(JSON.stringify(world.mesh.closedPolicy("shop/api"))).toMatch(/169\.254\.7\.127.*kube-dns/);
});
