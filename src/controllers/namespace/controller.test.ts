/** Namespaces that Lattice services run in: closed before anything starts, and as long as anything is left inside. */
import { describe, expect, test } from "vitest";
import { latticeEnvironments, latticeServices } from "#crds";
import { namespaces } from "../kinds.ts";
import { calls, environment, isCalledBy, latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const deny = async (operated: OperatedCluster, namespace: string) =>
  [
    await operated.read("CiliumNetworkPolicy", `${namespace}/lattice-default-deny`),
    await operated.read("AuthorizationPolicy", `${namespace}/lattice-default-deny`),
    await operated.read("PeerAuthentication", `${namespace}/lattice-default-deny`),
  ].filter((object) => object !== undefined).length;

describe("a namespace", () => {
  test("with a service in it is in the mesh and closed; others are left alone", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    expect(await deny(operated, "shop")).toBe(3);
    expect(await operated.read("CiliumNetworkPolicy", "shop/lattice-default-deny")).toMatchObject({
      spec: { endpointSelector: {}, ingress: [{}], egress: [{}] },
      metadata: { ownerReferences: [{ kind: "Namespace", name: "shop" }] },
    });
    expect((await operated.read("Namespace", "shop"))?.metadata.labels).toMatchObject({
      "istio.io/dataplane-mode": "ambient",
      "app.kubernetes.io/managed-by": "lattice",
    });
    for (const name of ["default", "kube-system", "lattice-system"]) {
      expect([name, await deny(operated, name)]).toEqual([name, 0]);
      expect((await operated.read("Namespace", name))?.metadata.labels?.["istio.io/dataplane-mode"]).toBeUndefined();
    }
  });

  test("is closed again when somebody opens it, and a door is repaired", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    await operated.remove(operated.cluster.resource("CiliumNetworkPolicy"), "shop/lattice-default-deny");
    const key = { namespace: "shop", name: "lattice-default-deny" };
    const patch = { spec: { rules: [{}] } };
    await operated.client.patch(operated.cluster.resource("AuthorizationPolicy"), key, { type: "merge", patch });
    await operated.live(1_000);
    expect(await deny(operated, "shop")).toBe(3);
  });

  test("that a person labelled otherwise keeps the label, and its services wait and say so", async () => {
    const mine = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { "istio.io/dataplane-mode": "none" } } };
    await using operated = await OperatedCluster.start({ objects: [mine, latticeService("shop/api")] });
    expect((await operated.service("shop/api")).status).toMatchObject({
      phase: "Pending",
      message:
        "namespace shop has label istio.io/dataplane-mode=none, and Lattice needs ambient; remove the label, or use another namespace",
    });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "False", reason: "NamespaceNotReady" });
    expect(await operated.read("Deployment", "shop/api")).toBeUndefined();
    expect((await operated.read("Namespace", "shop"))?.metadata.labels?.["istio.io/dataplane-mode"]).toBe("none");
    const told = (await operated.events()).filter(({ regarding, type }) => regarding["kind"] === "Namespace" && type === "Warning");
    expect(told.length).toBeGreaterThan(0);
    await operated.client.patch(
      namespaces,
      { name: "shop" },
      { type: "merge", patch: { metadata: { labels: { "istio.io/dataplane-mode": null } } } },
    );
    await operated.live(10_000, 500);
    expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Ready" });
  });

  test("that Helm made stays Helm's by name", async () => {
    const helm = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { "app.kubernetes.io/managed-by": "Helm" } } };
    await using operated = await OperatedCluster.start({ objects: [helm, latticeService("shop/api")] });
    expect((await operated.read("Namespace", "shop"))?.metadata.labels?.["app.kubernetes.io/managed-by"]).toBe("Helm");
    expect((await operated.service("shop/api")).status?.phase).toBe("Ready");
  });

  test("whose last service goes is given back as it was", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    await operated.remove(latticeServices, "shop/api");
    await operated.live(5_000);
    expect(await deny(operated, "shop")).toBe(0);
    expect(Object.keys((await operated.read("Namespace", "shop"))?.metadata.labels ?? {})).toEqual(["kubernetes.io/metadata.name"]);
  });

  test("stays closed when its environment is deleted under running services", async () => {
    await using operated = await OperatedCluster.start({
      objects: [environment("prod", { sourceNamespaces: ["team"] }), latticeService("team/api", { environment: "prod" })],
    });
    await operated.remove(latticeEnvironments, "prod");
    await operated.live(5_000);
    expect((await operated.service("team/api")).status).toMatchObject({ phase: "Failed" });
    expect(await operated.names("Deployment", "prod")).toEqual(["api"]);
    expect(await deny(operated, "prod")).toBe(3);
    expect((await operated.read("Namespace", "prod"))?.metadata.labels?.["istio.io/dataplane-mode"]).toBe("ambient");
    await operated.remove(latticeServices, "team/api");
    await operated.live(5_000);
    expect([await operated.names("Deployment", "prod"), await deny(operated, "prod")]).toEqual([[], 0]);
  });

  test("gets a waypoint when something in it needs one, and loses it again", async () => {
    const inbound = (methods: readonly string[] | undefined) =>
      latticeService("shop/api", {
        resources: { front: { direction: "inbound", ...(methods === undefined ? {} : { params: { methods } }) } },
      });
    await using operated = await OperatedCluster.start({
      objects: [inbound(["GET"]), latticeService("shop/front", { resources: calls("api") })],
    });
    expect(await operated.names("Gateway", "shop")).toEqual(["waypoint"]);
    expect((await operated.read("Namespace", "shop"))?.metadata.labels?.["istio.io/use-waypoint"]).toBe("waypoint");
    await operated.apply(latticeService("shop/api", { resources: isCalledBy("front") }));
    await operated.live(3_000);
    expect(await operated.names("Gateway", "shop")).toEqual([]);
    expect((await operated.read("Namespace", "shop"))?.metadata.labels?.["istio.io/use-waypoint"]).toBeUndefined();
    expect((await operated.service("shop/api")).status?.phase).toBe("Ready");
  });

  test("that is being deleted is left alone", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    await operated.remove(namespaces, "shop");
    await operated.live(10_000, 500);
    expect(await operated.read("Namespace", "shop")).toBeUndefined();
  });
});
