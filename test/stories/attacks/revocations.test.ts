/**
 * A revocation takes effect while the service fails, whatever the reason. Each story computes from the objects in the cluster which service
 * reaches which, and also checks the status.
 */
import { describe, expect, test } from "vitest";
import { latticeEnvironments, latticeServices } from "#crds";
import { failWith } from "#embedded-cluster";
import { calls, environment, externalService, isCalledBy, latticeService, secret, withVariables } from "../../builders/lattice-objects.ts";
import { INGRESS_GATEWAY, ingressGateway, isProbed, reaches, reachesHost } from "../../builders/live-plane.ts";
import { openServiceCrd } from "../../builders/open-crd.ts";
import { OperatedCluster } from "../../builders/operated-cluster.ts";

const settings = { ingressDomain: "example.com" };
const DB = { db: { type: "postgres" } };
const PASSWORD = withVariables({ P: "${resources.db.password}" });
const WEB = { web: { type: "route", params: { host: "api.example.com" } } };
const STRIPE = { stripe: { type: "external-service" } };
const stripe = (spec: object = {}) =>
  externalService("shop/stripe", { endpoints: { api: "https://api.stripe.com" }, allowedRequesters: ["api"], ...spec });

const api = (resources: object, spec: object = {}) =>
  latticeService("shop/api", { ...PASSWORD, resources: { ...DB, ...resources }, ...spec });
const front = latticeService("shop/front", { resources: calls("api") });
const other = latticeService("shop/other", { resources: calls("api") });
const password = secret("shop/postgres-db", { password: "p" });
const secretKind = (operated: OperatedCluster) => operated.cluster.resource("Secret");

async function reachOfApi(operated: OperatedCluster) {
  return {
    front: await reaches(operated, "shop/front", "shop/api"),
    other: await reaches(operated, "shop/other", "shop/api"),
    gateway: await reaches(operated, INGRESS_GATEWAY, "shop/api"),
    stripe: await reachesHost(operated, "shop/api", "api.stripe.com"),
  };
}

const OPEN = { front: true, other: true, gateway: true, stripe: true };
const REVOKED = { front: true, other: false, gateway: false, stripe: false };

describe("a revocation takes effect while the service", () => {
  const all = { ...isCalledBy("front", "other"), ...WEB, ...STRIPE };
  const start = () => OperatedCluster.start({ settings, objects: [password, stripe(), ingressGateway(), api(all), front, other] });

  test("lacks a Secret: a caller, an external host and a route that were removed are closed", async () => {
    await using operated = await start();
    expect(await reachOfApi(operated)).toEqual(OPEN);
    await operated.remove(secretKind(operated), "shop/postgres-db");
    await operated.live(2_000);
    expect((await operated.service("shop/api")).status?.phase).toBe("Failed");
    await operated.apply(api(isCalledBy("front")));
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual(REVOKED);
    expect(await operated.names("HTTPRoute", "shop")).toEqual([]);
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "True", reason: "Applied" });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "CompileError" });
    expect(await operated.names("Deployment", "shop")).toContain("api");
  });

  test("has a param that cannot be resolved: the other declared edges stay open, and no others open", async () => {
    await using operated = await start();
    const broken = { type: "postgres", params: { database: "${config.nowhere}" } };
    await operated.apply(api({ ...isCalledBy("front"), main: broken }));
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual(REVOKED);
    expect((await operated.service("shop/api")).status?.phase).toBe("Failed");
  });

  test("has an object that the API server rejects: policies do not wait for a volume claim", async () => {
    const claim = (size: string) => ({ data: { type: "volume", params: { size } } });
    const containers = (image: string) => ({ containers: { main: { image, volumes: { "/d": { source: "${resources.data.ref}" } } } } });
    const sized = (size: string, resources: object) => api({ ...claim(size), ...resources }, containers("a:1"));
    await using operated = await OperatedCluster.start({
      settings,
      objects: [stripe(), ingressGateway(), sized("2Gi", all), front, other],
    });
    expect(await reachOfApi(operated)).toEqual(OPEN);
    await operated.apply(sized("1Gi", isCalledBy("front")));
    await operated.live(3_000);
    const { status } = await operated.service("shop/api");
    expect(status).toMatchObject({ phase: "Failed", message: expect.stringContaining("PersistentVolumeClaim shop/data") as string });
    expect(await reachOfApi(operated)).toEqual(REVOKED);
    expect(await operated.names("HTTPRoute", "shop")).toEqual([]);
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "True" });
  });

  test("cannot read its Secrets", async () => {
    await using operated = await start();
    operated.cluster.intercept({ verb: "get", resource: "secrets", user: "operator" }, failWith("forbidden"));
    await operated.apply(secret("shop/postgres-db", { password: "changed" }));
    await operated.apply(api(isCalledBy("front")));
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual(REVOKED);
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "True" });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "Unknown", reason: "ReconcileFailed" });
  });

  test("calls another that fails: the edge closes when the caller removes its own declaration", async () => {
    await using operated = await start();
    await operated.remove(secretKind(operated), "shop/postgres-db");
    await operated.apply(latticeService("shop/other"));
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual({ ...OPEN, other: false });
    const rules = JSON.stringify(await operated.read("AuthorizationPolicy", "shop/api"));
    expect([rules.includes("sa/front"), rules.includes("sa/other")]).toEqual([true, false]);
  });

  test("is deleted: all its edges close, also in the policies of its peers", async () => {
    await using operated = await start();
    await operated.remove(secretKind(operated), "shop/postgres-db");
    await operated.live(2_000);
    await operated.remove(latticeServices, "shop/api");
    await operated.live(3_000);
    expect(await operated.names("HTTPRoute", "shop")).toEqual([]);
    expect(await operated.names("AuthorizationPolicy", "shop")).toEqual(["lattice-default-deny"]);
    expect(JSON.stringify(await operated.read("CiliumNetworkPolicy", "shop/front"))).not.toContain('"k8s:lattice.dev/service":"api"');
  });

  test("is deleted and held by the finalizer of another controller", async () => {
    await using operated = await start();
    const patch = { metadata: { finalizers: ["example.com/held", "lattice.dev/service"] } };
    await operated.client.patch(latticeServices, { namespace: "shop", name: "api" }, { type: "merge", patch });
    await operated.remove(latticeServices, "shop/api");
    await operated.live(3_000);
    expect(await operated.read("LatticeService", "shop/api")).toBeDefined();
    expect(await reachOfApi(operated)).toEqual({ front: false, other: false, gateway: false, stripe: false });
    expect(await operated.names("HTTPRoute", "shop")).toEqual([]);
  });
});

describe("an invalid declaration opens no edge", () => {
  const CLOSED = { front: false, other: false, gateway: false, stripe: false };
  const all = { ...isCalledBy("front", "other"), ...WEB, ...STRIPE };
  const objects = [openServiceCrd(), password, stripe(), ingressGateway(), api(all), front, other];

  test("a service whose spec became invalid is closed on both sides, and its pods stay", async () => {
    await using operated = await OperatedCluster.start({ settings, objects });
    expect(await reachOfApi(operated)).toEqual(OPEN);
    await operated.apply(api(all, { containers: {} }));
    await operated.live(3_000);
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "InvalidSpec" });
    expect(await reachOfApi(operated)).toEqual(CLOSED);
    expect(await operated.names("HTTPRoute", "shop")).toEqual([]);
    expect(JSON.stringify(await operated.read("CiliumNetworkPolicy", "shop/front"))).not.toContain('"k8s:lattice.dev/service":"api"');
    expect([await operated.names("Deployment", "shop"), await isProbed(operated, "shop/api")]).toEqual([["api", "front", "other"], true]);
    await operated.stopOperator();
    operated.startOperator();
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual(CLOSED);
    await operated.apply(api(all));
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual(OPEN);
  });

  test("an external service whose spec became invalid is closed to its requesters", async () => {
    await using operated = await OperatedCluster.start({ settings, objects });
    const loose = structuredClone(await operated.read("CustomResourceDefinition", "latticeexternalservices.lattice.dev")) as unknown as {
      metadata: object;
      spec: { versions: { schema: object }[] };
    };
    const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    for (const version of loose.spec.versions) version.schema = { openAPIV3Schema: { type: "object", properties: { spec: anything } } };
    await operated.apply({ ...loose, metadata: { name: "latticeexternalservices.lattice.dev" } } as never);
    await operated.live(1_000);
    await operated.apply(stripe({ resolution: "telepathy" }));
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual({ ...OPEN, stripe: false });
    expect(await operated.names("ServiceEntry", "shop")).toEqual([]);
  });

  test("an external service that removes a requester from its list is closed to it while the caller fails", async () => {
    await using operated = await OperatedCluster.start({ settings, objects });
    await operated.remove(secretKind(operated), "shop/postgres-db");
    await operated.apply(stripe({ allowedRequesters: ["front"] }));
    await operated.live(3_000);
    expect(await reachOfApi(operated)).toEqual({ ...OPEN, stripe: false });
  });
});

describe("a service that may no longer run in its environment is closed, and its pods stay", () => {
  const inProd = (key: string, resources: object) => latticeService(key, { environment: "prod", resources });
  const prod = environment("prod", { sourceNamespaces: ["team", "web"] });
  const objects = [prod, ingressGateway(), inProd("team/api", { ...isCalledBy("front"), ...WEB }), inProd("web/front", calls("api"))];
  const reach = async (operated: OperatedCluster) => ({
    front: await reaches(operated, "prod/front", "prod/api"),
    gateway: await reaches(operated, INGRESS_GATEWAY, "prod/api"),
  });

  const rows = [
    {
      name: "the environment withdraws the namespace",
      withdraw: (operated: OperatedCluster) => operated.apply(environment("prod", { sourceNamespaces: ["web"] })),
      phase: "Failed",
    },
    {
      name: "the environment is deleted",
      withdraw: (operated: OperatedCluster) => operated.remove(latticeEnvironments, "prod"),
      phase: "Pending",
    },
  ];
  test.each(rows)("$name", async ({ withdraw, phase }) => {
    await using operated = await OperatedCluster.start({ settings, objects });
    expect(await reach(operated)).toEqual({ front: true, gateway: true });
    await withdraw(operated);
    await operated.live(5_000);
    expect(await reach(operated)).toEqual({ front: false, gateway: false });
    expect(await operated.names("HTTPRoute", "prod")).toEqual([]);
    expect(await operated.names("Deployment", "prod")).toContain("api");
    expect(await isProbed(operated, "prod/api")).toBe(true);
    expect((await operated.service("team/api")).status?.phase).toBe(phase);
    expect(await operated.condition("team/api", "PoliciesApplied")).toMatchObject({ status: "True" });
  });
});

test("PoliciesApplied is False while a policy in the cluster differs from the declaration, and names it", async () => {
  await using operated = await OperatedCluster.start({ settings, objects: [password, api(isCalledBy("front", "other")), front, other] });
  using refusal = operated.cluster.intercept({ verb: "apply", resource: "authorizationpolicies", user: "operator" }, failWith("forbidden"));
  await operated.apply(api(isCalledBy("front")));
  await operated.live(3_000);
  // the other policy is still applied, and closes the edge
  expect(await reaches(operated, "shop/other", "shop/api")).toBe(false);
  expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({
    status: "False",
    reason: "ApplyFailed",
    message: expect.stringContaining("AuthorizationPolicy shop/api") as string,
  });
  refusal[Symbol.dispose]();
  await operated.live(20_000, 1_000);
  expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "True" });
});

test("a user's copy of a service's Deployment gets no policy", async () => {
  await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
  const { spec, metadata } = (await operated.read("Deployment", "shop/api")) as unknown as { spec: object; metadata: { labels: object } };
  const copy = { name: "api", namespace: "staging", labels: metadata.labels };
  await operated.apply({ apiVersion: "apps/v1", kind: "Deployment", metadata: copy, spec });
  await operated.apply(latticeService("shop/api", withVariables({ A: "b" })));
  await operated.live(3_000);
  expect(await operated.names("CiliumNetworkPolicy", "staging")).toEqual([]);
});
