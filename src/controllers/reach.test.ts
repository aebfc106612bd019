/** An operator for some namespaces: it works with the rights it has, and reports missing rights with the command that grants them. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeServices } from "#crds";
import { field, namespaces, type KubeObject } from "#kube";
import { operatorRbac } from "#operator";
import { environment, externalService, latticeService, secret, withVariables } from "../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../test/builders/operated-cluster.ts";
import { reachProblem } from "./reach.ts";

const inShop = environment("shop", { sourceNamespaces: ["team"] });
const api = latticeService("team/api", { environment: "shop" });
const own = latticeService("team/own");

const refusals = (operated: OperatedCluster) =>
  [...operated.cluster.actions].filter(({ user, code }) => user.name === operated.user.name && code === 403).length;
const warnings = (operated: OperatedCluster) => operated.lines.filter(({ level }) => level === "warn" || level === "error").length;

/** Removes a rule from the operator's ClusterRole. */
async function forbid(operated: OperatedCluster, resource: string, verb: string): Promise<void> {
  type Rule = { readonly resources: readonly string[]; readonly verbs: readonly string[] };
  const role = await operated.read("ClusterRole", "lattice-operator");
  const rules = (field(role, "rules") ?? []) as unknown as readonly Rule[];
  const fewer = rules
    .map((rule) => (rule.resources.includes(resource) ? { ...rule, verbs: rule.verbs.filter((one) => one !== verb) } : rule))
    .filter(({ verbs }) => verbs.length > 0);
  const key = { name: "lattice-operator" };
  expectOk(await operated.client.patch(operated.cluster.resource("ClusterRole"), key, { type: "merge", patch: { rules: fewer } as never }));
}

describe("a namespace outside the operator's scope", () => {
  test("gets no requests: the service reports it with the command, and other services run", async () => {
    const stripe = externalService("team/stripe", { environment: "shop", endpoints: { api: "https://api.stripe.com" } });
    const elsewhere = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
    await using operated = await OperatedCluster.start({
      rbac: true,
      namespaces: ["team"],
      objects: [elsewhere, inShop, api, own, stripe],
    });
    const message =
      "namespace shop is out of reach: this operator works in team only; to add it, run: lattice rbac --namespace lattice-system " +
      "--namespaces team,shop | kubectl apply --server-side -f -; then restart the operator with --namespaces team,shop";
    const want = { status: "False", reason: "NamespaceOutOfReach", message };
    expect(await operated.condition("team/api", "Ready")).toMatchObject(want);
    expect((await operated.service("team/api")).status).toMatchObject({ phase: "Pending", message });
    expect(await operated.read("LatticeEnvironment", "shop")).toMatchObject({ status: { phase: "Pending", message } });
    expect(await operated.read("LatticeExternalService", "team/stripe")).toMatchObject({ status: { phase: "Pending", message } });
    expect((await operated.service("team/own")).status).toMatchObject({ phase: "Ready" });
    expect(await operated.names("Deployment", "shop")).toEqual([]);
    expect((await operated.read("Namespace", "shop"))?.metadata.labels?.["istio.io/dataplane-mode"]).toBeUndefined();
    expect(operated.manager.health()).toMatchObject({ live: true, ready: true });
    expect(refusals(operated)).toBe(0);
    const quiet = warnings(operated);
    await operated.live(250_000, 10_000);
    expect(warnings(operated)).toBe(quiet);
  });

  test("can have another operator: the status that this one wrote stays", async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team"], objects: [inShop] });
    const theirs = { type: "Ready", status: "True", reason: "Compiled", message: "ok", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const patch = { status: { phase: "Ready", message: "closed", conditions: [theirs] } } as never;
    const environments = operated.cluster.resource("LatticeEnvironment");
    await operated.client.patch(environments, { name: "shop" }, { type: "merge", patch }, { subresource: "status" });
    await operated.live(1_300_000, 50_000);
    expect(await operated.read("LatticeEnvironment", "shop")).toMatchObject({ status: { phase: "Ready", conditions: [theirs] } });
  });

  test("keeps the applied objects when the service is deleted, and the status gives the reason", async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team", "shop"], objects: [inShop, api] });
    await operated.live(3_000, 500);
    expect(await operated.names("Deployment", "shop")).toEqual(["api"]);
    await operated.restart({ namespaces: ["team"] });
    await operated.remove(latticeServices, "team/api");
    await operated.live(5_000, 500);
    expect(await operated.condition("team/api", "Ready")).toMatchObject({
      reason: "NamespaceOutOfReach",
      message: expect.stringContaining("its objects are not deleted: namespace shop is out of reach") as string,
    });
    await operated.restart({ namespaces: ["team", "shop"] });
    await operated.live(5_000, 500);
    expect(await operated.read("LatticeService", "team/api")).toBeUndefined();
    expect(await operated.names("Deployment", "shop")).toEqual([]);
  });

  test("does not block the deletion of a service that never ran there", async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team"], objects: [inShop, api] });
    await operated.remove(latticeServices, "team/api");
    await operated.live(2_000, 200);
    expect(await operated.read("LatticeService", "team/api")).toBeUndefined();
  });
});

describe("a namespace whose Role is missing", () => {
  const secretUser = latticeService("shop/db", {
    ...withVariables({ P: "${resources.db.password}" }),
    resources: { db: { type: "postgres" } },
  });

  test("is reported once and retried periodically; the service continues when the Role is granted", async () => {
    await using operated = await OperatedCluster.start({
      rbac: true,
      namespaces: ["team", "shop"],
      granted: ["team"],
      objects: [secret("shop/postgres-db", { password: "p" }), inShop, api, own, secretUser],
    });
    expect(await operated.condition("team/api", "Ready")).toMatchObject({
      reason: "NamespaceOutOfReach",
      message:
        "namespace shop is out of reach: RBAC does not let this operator read namespaces, configmaps, secrets and 13 more kinds in it; " +
        "run: lattice rbac --namespace lattice-system --namespaces team,shop | kubectl apply --server-side -f -",
    });
    expect((await operated.service("team/own")).status).toMatchObject({ phase: "Ready" });
    expect(operated.manager.health()).toMatchObject({ live: true, ready: true });
    expect(operated.manager.health().details["informer deployments.apps/v1 in shop"]).toContain("forbidden");
    const quiet = warnings(operated);
    await operated.live(250_000, 10_000);
    expect(warnings(operated)).toBe(quiet);
    await operated.apply(...operatorRbac("lattice-system", ["team", "shop"]));
    await operated.live(60_000, 1_000);
    expect((await operated.service("team/api")).status).toMatchObject({ phase: "Ready" });
    expect((await operated.service("shop/db")).status).toMatchObject({ phase: "Ready" });
  });

  test("that loses its Role later keeps running workloads, and its services report it", async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team", "shop"], objects: [inShop, api] });
    await operated.live(3_000, 500);
    await operated.remove(operated.cluster.resource("RoleBinding"), "shop/lattice-operator");
    await operated.live(400_000, 5_000);
    expect(await operated.condition("team/api", "Ready")).toMatchObject({ reason: "NamespaceOutOfReach" });
    expect(await operated.names("Deployment", "shop")).toEqual(["api"]);
    expect(await operated.names("CiliumNetworkPolicy", "shop")).toContain("lattice-default-deny");
  });
});

test("a namespace that does not exist is not created, and the message has the commands that create it and grant rights", async () => {
  const shop = environment("shop");
  await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team", "shop"], objects: [shop] });
  await operated.remove(namespaces, "shop");
  await operated.live(5_000, 500);
  expect(await operated.read("LatticeEnvironment", "shop")).toMatchObject({
    status: {
      message:
        "namespace shop does not exist, and this operator may not create namespaces; run: kubectl create namespace shop; " +
        "then run: lattice rbac --namespace lattice-system --namespaces team,shop | kubectl apply --server-side -f -",
    },
  });
});

describe("cluster-scoped objects that may not be written", () => {
  test("labels of the Namespace: the services report which to set, and run once they are set", async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team"] });
    await forbid(operated, "namespaces", "patch");
    await operated.apply(own);
    await operated.live(3_000, 500);
    expect(await operated.condition("team/own", "Ready")).toMatchObject({
      reason: "NamespaceNotReady",
      message: expect.stringMatching(
        /^RBAC does not let this operator label namespace team; run: kubectl label namespace team .*istio.io\/dataplane-mode=ambient.*, or grant it: lattice rbac /,
      ) as string,
    });
    expect(await operated.names("Deployment", "team")).toEqual([]);
    const command = (await operated.condition("team/own", "Ready"))?.message ?? "";
    const pairs = /kubectl label namespace team ([^,]+),/.exec(command)?.[1]?.split(" ") ?? [];
    const labels = Object.fromEntries(pairs.map((pair) => pair.split("=")));
    const named: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team", labels } };
    await operated.apply(named);
    await operated.live(5_000, 500);
    expect((await operated.service("team/own")).status).toMatchObject({ phase: "Ready" });
  });

  test("the status of a LatticeEnvironment: its services run, and the log reports it once", async () => {
    await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team"] });
    await forbid(operated, "latticeenvironments/status", "update");
    await operated.apply(environment("team"), latticeService("team/api", { environment: "team" }));
    await operated.live(250_000, 10_000);
    expect((await operated.service("team/api")).status).toMatchObject({ phase: "Ready" });
    const reported = operated.lines.filter(({ level, message }) => level === "warn" && message.startsWith("status may not be written"));
    expect(reported).toHaveLength(1);
  });
});

test("with very many namespaces the message still fits into a condition", () => {
  const many = Array.from({ length: 100 }, (_, at) => `a-namespace-with-a-long-name-${at}`);
  const nothing = { get: () => undefined, list: () => [], byIndex: () => [], isServed: () => true, access: () => "readable" as const };
  const { message = "" } = reachProblem("other", { home: "lattice-system", namespaces: many }, nothing) ?? {};
  expect(message.length).toBeLessThan(1_024);
  expect(message).toContain(",other | kubectl apply");
  expect(reachProblem("other", { home: "lattice-system" }, nothing)).toBeUndefined();
});

test("a write that the Role does not allow fails only that service, and its status has the error of the API server", async () => {
  await using operated = await OperatedCluster.start({ rbac: true, namespaces: ["team", "shop"] });
  const role = await operated.read("Role", "shop/lattice-operator");
  type Rule = { readonly resources: readonly string[]; readonly verbs: readonly string[] };
  const rules = (field(role, "rules") ?? []) as unknown as readonly Rule[];
  const fewer = rules.map((rule) => (rule.resources.includes("deployments") ? { ...rule, verbs: ["get", "list", "watch"] } : rule));
  const patch = { rules: fewer } as never;
  const key = { namespace: "shop", name: "lattice-operator" };
  expectOk(await operated.client.patch(operated.cluster.resource("Role"), key, { type: "merge", patch }));
  await operated.apply(inShop, api, own);
  await operated.live(10_000, 500);
  expect(await operated.condition("team/api", "Ready")).toMatchObject({
    reason: "ReconcileFailed",
    message: expect.stringMatching(
      /Deployment shop\/api: .*is forbidden: User "system:serviceaccount:lattice-system:lattice-operator" cannot/,
    ) as string,
  });
  expect((await operated.service("team/own")).status).toMatchObject({ phase: "Ready" });
});
