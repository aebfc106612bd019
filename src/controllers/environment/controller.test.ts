import { describe, expect, test } from "vitest";
import { latticeEnvironments } from "#crds";
import { field, namespaces } from "#kube";
import { calls, environment, isCalledBy, latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const status = async (operated: OperatedCluster, name: string) => field(await operated.read("LatticeEnvironment", name), "status");

describe("an environment", () => {
  test("creates its namespace with a default deny, and is Ready", async () => {
    await using operated = await OperatedCluster.start({ objects: [environment("prod", { namespace: "production" })] });
    expect(await status(operated, "prod")).toMatchObject({
      phase: "Ready",
      namespaces: ["production"],
      message: "namespace production is closed until both sides agree",
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "Accepted", status: "True" }),
        expect.objectContaining({ type: "Ready", status: "True", reason: "Compiled" }),
        expect.objectContaining({ type: "PoliciesApplied", status: "True", reason: "Applied" }),
      ]) as unknown,
    });
    const made = await operated.read("Namespace", "production");
    expect(made?.metadata.labels).toMatchObject({ "lattice.dev/environment": "prod", "istio.io/dataplane-mode": "ambient" });
    expect(made?.metadata.ownerReferences).toBeUndefined();
    expect(await operated.names("CiliumNetworkPolicy", "production")).toEqual(["lattice-default-deny"]);
  });

  test("sets limits from its isolation, updates them, and removes them", async () => {
    const isolation = { quota: { "requests.cpu": 10, pods: "50" }, limits: { memory: "512Mi" } };
    await using operated = await OperatedCluster.start({ objects: [environment("prod", { isolation })] });
    expect(await operated.read("ResourceQuota", "prod/lattice-isolation")).toMatchObject({
      spec: { hard: { "requests.cpu": "10", pods: "50" } },
    });
    expect(await operated.read("LimitRange", "prod/lattice-isolation")).toMatchObject({
      spec: { limits: [{ type: "Container", default: { memory: "512Mi" } }] },
    });
    const quiet = operated.writes().length;
    await operated.live(130_000, 5_000);
    expect(operated.writes().slice(quiet)).toEqual([]);
    await operated.apply(environment("prod", { isolation: { quota: { pods: "5" } } }));
    await operated.live(2_000);
    expect(field(await operated.read("ResourceQuota", "prod/lattice-isolation"), "spec")).toEqual({ hard: { pods: "5" } });
    expect(await operated.read("LimitRange", "prod/lattice-isolation")).toBeUndefined();
    await operated.apply(environment("prod", { ingressDomain: "example.com" }));
    await operated.live(2_000);
    expect(await operated.read("ResourceQuota", "prod/lattice-isolation")).toBeUndefined();
  });

  test("with a waypoint gets one", async () => {
    await using operated = await OperatedCluster.start({ objects: [environment("prod", { mesh: { waypoint: true } })] });
    expect(await operated.names("Gateway", "prod")).toEqual(["waypoint"]);
    expect(await status(operated, "prod")).toMatchObject({ phase: "Ready" });
  });

  test("without a trust domain has the operator's, whatever else its mesh settings are", async () => {
    const objects = [
      environment("prod", { mesh: { waypoint: true } }),
      environment("own", { mesh: { trustDomain: "own.example" } }),
      ...["prod", "own"].flatMap((namespace) => [
        latticeService(`${namespace}/a`, { resources: calls("b") }),
        latticeService(`${namespace}/b`, { resources: isCalledBy("a") }),
      ]),
    ];
    await using operated = await OperatedCluster.start({ objects, settings: { trustDomain: "corp.example" } });
    const principals = async (key: string) => JSON.stringify(await operated.read("AuthorizationPolicy", key));
    expect(await principals("prod/b")).toContain('"corp.example/ns/prod/sa/a"');
    expect(await principals("own/b")).toContain('"own.example/ns/own/sa/a"');
    expect(field(await operated.read("LatticeEnvironment", "prod"), "spec")).toEqual({ mesh: { waypoint: true } });
  });

  test("lists the fields that have no effect yet", async () => {
    await using operated = await OperatedCluster.start({
      objects: [environment("prod", { clusters: ["a"], clusterSelector: { matchLabels: { a: "b" } } })],
    });
    expect(await status(operated, "prod")).toMatchObject({
      phase: "Ready",
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: "Implemented",
          status: "False",
          message: "this release of Lattice does not act on spec.clusters, spec.clusterSelector yet",
        }),
      ]) as unknown,
    });
  });

  test("cannot have the namespace of an older environment, and gets it when that one is deleted", async () => {
    await using operated = await OperatedCluster.start({ objects: [environment("prod")] });
    await operated.apply(environment("later", { namespace: "prod" }));
    await operated.live(1_000);
    expect(await status(operated, "later")).toMatchObject({
      phase: "Failed",
      message: expect.stringContaining("LatticeEnvironment prod has namespace prod already") as string,
    });
    expect(await status(operated, "prod")).toMatchObject({ phase: "Ready" });
    await operated.remove(latticeEnvironments, "prod");
    await operated.live(5_000);
    expect(await status(operated, "later")).toMatchObject({ phase: "Ready", namespaces: ["prod"] });
    expect(await operated.read("Namespace", "prod")).toBeDefined();
  });

  test("whose namespace is deleted creates it again", async () => {
    await using operated = await OperatedCluster.start({ objects: [environment("prod")] });
    await operated.remove(namespaces, "prod");
    await operated.live(10_000, 500);
    expect(await operated.read("Namespace", "prod")).toBeDefined();
    expect(await status(operated, "prod")).toMatchObject({ phase: "Ready" });
  });

  test("a system namespace is rejected by the API server, and by the controller if the API server did not", async () => {
    await using operated = await OperatedCluster.start({});
    const refused = await operated.client.create(latticeEnvironments, environment("x", { namespace: "kube-system" }) as never);
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining("must not be a system namespace") as string } });
  });
});
