/** Namespaces of Lattice services have a default deny before anything starts, and as long as a pod of a service runs in them. */
import { describe, expect, test } from "vitest";
import { latticeEnvironments, latticeServices } from "#crds";
import { failWith } from "#embedded-cluster";
import { fieldAt, namespaces } from "#kube";
import { calls, environment, isCalledBy, latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const deny = async (operated: OperatedCluster, namespace: string) =>
  [
    await operated.read("CiliumNetworkPolicy", `${namespace}/lattice-default-deny`),
    await operated.read("AuthorizationPolicy", `${namespace}/lattice-default-deny`),
    await operated.read("PeerAuthentication", `${namespace}/lattice-default-deny`),
  ].filter((object) => object !== undefined).length;

describe("a namespace", () => {
  test("with a service in it is in the mesh and has a default deny; others are not changed", async () => {
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

  test("gets its labels back when another client removes them, and a changed policy is repaired", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    await operated.remove(operated.cluster.resource("CiliumNetworkPolicy"), "shop/lattice-default-deny");
    const key = { namespace: "shop", name: "lattice-default-deny" };
    const patch = { spec: { rules: [{}] } };
    await operated.client.patch(operated.cluster.resource("AuthorizationPolicy"), key, { type: "merge", patch });
    await operated.live(1_000);
    expect(await deny(operated, "shop")).toBe(3);
    expect(fieldAt(await operated.read("AuthorizationPolicy", "shop/lattice-default-deny"), "spec")).toEqual({});
  });

  test("with a conflicting label of a user keeps the label, and its services wait and report it", async () => {
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
    const reported = (await operated.events()).filter(({ regarding, type }) => regarding["kind"] === "Namespace" && type === "Warning");
    expect(reported.length).toBeGreaterThan(0);
    await operated.client.patch(
      namespaces,
      { name: "shop" },
      { type: "merge", patch: { metadata: { labels: { "istio.io/dataplane-mode": null } } } },
    );
    await operated.live(10_000, 500);
    expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Ready" });
  });

  test("created by Helm keeps Helm's managed-by label", async () => {
    const helm = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { "app.kubernetes.io/managed-by": "Helm" } } };
    await using operated = await OperatedCluster.start({ objects: [helm, latticeService("shop/api")] });
    expect((await operated.read("Namespace", "shop"))?.metadata.labels?.["app.kubernetes.io/managed-by"]).toBe("Helm");
    expect((await operated.service("shop/api")).status?.phase).toBe("Ready");
  });

  test("without services has its original labels again", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    await operated.remove(latticeServices, "shop/api");
    await operated.live(5_000);
    expect(await deny(operated, "shop")).toBe(0);
    expect(Object.keys((await operated.read("Namespace", "shop"))?.metadata.labels ?? {})).toEqual(["kubernetes.io/metadata.name"]);
  });

  test("keeps its default deny when its environment is deleted while services run", async () => {
    await using operated = await OperatedCluster.start({
      objects: [environment("prod", { sourceNamespaces: ["team"] }), latticeService("team/api", { environment: "prod" })],
    });
    await operated.remove(latticeEnvironments, "prod");
    await operated.live(5_000);
    expect((await operated.service("team/api")).status).toMatchObject({ phase: "Pending" });
    expect(await operated.names("Deployment", "prod")).toEqual(["api"]);
    expect(await deny(operated, "prod")).toBe(3);
    expect((await operated.read("Namespace", "prod"))?.metadata.labels?.["istio.io/dataplane-mode"]).toBe("ambient");
    await operated.remove(latticeServices, "team/api");
    await operated.live(5_000);
    expect([await operated.names("Deployment", "prod"), await deny(operated, "prod")]).toEqual([[], 0]);
  });

  describe("that a service moved away from", () => {
    const prod = environment("prod", { sourceNamespaces: ["team"] });
    const start = () => OperatedCluster.start({ objects: [prod, latticeService("team/api")] });
    const ours = async (operated: OperatedCluster) => {
      const { labels = {} } = (await operated.read("Namespace", "team"))?.metadata ?? {};
      return { deny: await deny(operated, "team"), labels: Object.keys(labels).filter((name) => name !== "kubernetes.io/metadata.name") };
    };
    const RELEASED = { deny: 0, labels: [] };

    test("is released, although the LatticeService object is still in it", async () => {
      await using operated = await start();
      expect(await deny(operated, "team")).toBe(3);
      await operated.apply(latticeService("team/api", { environment: "prod" }));
      await operated.live(60_000, 1_000);
      expect([await operated.names("Deployment", "team"), await operated.names("Deployment", "prod")]).toEqual([[], ["api"]]);
      expect(await ours(operated)).toEqual(RELEASED);
      const quiet = operated.writes().length;
      await operated.live(130_000, 10_000);
      expect(operated.writes().slice(quiet)).toEqual([]);
    });

    test("keeps its default deny while a pod of the service runs, gets it back when it is deleted, and is released after that", async () => {
      await using operated = await start();
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "straggler", namespace: "team", labels: { "lattice.dev/service": "api" } },
        spec: { containers: [{ name: "main", image: "a:1" }] },
      };
      await operated.apply(pod);
      await operated.apply(latticeService("team/api", { environment: "prod" }));
      await operated.live(60_000, 1_000);
      expect(await deny(operated, "team")).toBe(3);
      for (const kind of ["CiliumNetworkPolicy", "AuthorizationPolicy", "PeerAuthentication"])
        await operated.remove(operated.cluster.resource(kind), "team/lattice-default-deny");
      const unlabelled = { type: "merge", patch: { metadata: { labels: { "istio.io/dataplane-mode": null } } } } as const;
      await operated.client.patch(namespaces, { name: "team" }, unlabelled, { fieldManager: "kubectl-label" });
      await operated.live(1_000);
      expect(await deny(operated, "team")).toBe(3);
      expect((await operated.read("Namespace", "team"))?.metadata.labels?.["istio.io/dataplane-mode"]).toBe("ambient");
      await operated.remove(operated.cluster.resource("Pod"), "team/straggler");
      await operated.live(90_000, 1_000);
      expect(await ours(operated)).toEqual(RELEASED);
    });

    test("gets its default deny back while a Deployment of a removed environment is left in it", async () => {
      await using operated = await OperatedCluster.start({ objects: [prod, latticeService("team/api", { environment: "prod" })] });
      await operated.remove(latticeEnvironments, "prod");
      await operated.live(3_000);
      await operated.remove(operated.cluster.resource("AuthorizationPolicy"), "prod/lattice-default-deny");
      await operated.live(1_000);
      expect([await operated.names("Deployment", "prod"), await deny(operated, "prod")]).toEqual([["api"], 3]);
    });
  });

  test("labelled by another client is labelled again and an event reports it, even if a policy cannot be applied", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    operated.cluster.intercept({ verb: "apply", resource: "ciliumnetworkpolicies", user: "operator" }, failWith("forbidden"));
    await operated.remove(operated.cluster.resource("CiliumNetworkPolicy"), "shop/lattice-default-deny");
    const patch = { metadata: { labels: { "istio.io/dataplane-mode": "none", "istio.io/use-waypoint-namespace": "mine" } } };
    await operated.client.patch(namespaces, { name: "shop" }, { type: "merge", patch }, { fieldManager: "kubectl-label" });
    await operated.live(2_000);
    const { labels = {} } = (await operated.read("Namespace", "shop"))?.metadata ?? {};
    expect([labels["istio.io/dataplane-mode"], labels["istio.io/use-waypoint-namespace"]]).toEqual(["ambient", undefined]);
    const notes = (await operated.events()).filter(({ reason }) => reason === "ForeignFieldsRemoved").map(({ note }) => note);
    expect(notes).toContainEqual(expect.stringContaining("istio.io/dataplane-mode, istio.io/use-waypoint-namespace"));
  });

  test("with an older waypoint label of another client keeps it, and its services wait", async () => {
    const mine = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { "istio.io/use-waypoint": "mine" } } };
    await using operated = await OperatedCluster.start({ objects: [mine, latticeService("shop/api")] });
    expect((await operated.read("Namespace", "shop"))?.metadata.labels?.["istio.io/use-waypoint"]).toBe("mine");
    expect((await operated.service("shop/api")).status?.phase).toBe("Pending");
  });

  test("of the system, of a gateway or of a user gets no default deny, whatever labels a Deployment in it has", async () => {
    const places = ["kube-system", "istio-ingress", "staging"];
    const labels = { "lattice.dev/service": "api", "lattice.dev/owned-by": "service.0000000000000000" };
    const forged = places.map((namespace) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "api", namespace, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: "a", image: "a:1" }] } } },
    }));
    await using operated = await OperatedCluster.start({ objects: [...forged, latticeService("shop/api")] });
    for (const namespace of places) {
      expect([namespace, await deny(operated, namespace)]).toEqual([namespace, 0]);
      expect((await operated.read("Namespace", namespace))?.metadata.labels?.["istio.io/dataplane-mode"]).toBeUndefined();
    }
  });

  test("has a waypoint as long as something in it needs one", async () => {
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

  test("that is being deleted is not changed", async () => {
    await using operated = await OperatedCluster.start({ objects: [latticeService("shop/api")] });
    await operated.remove(namespaces, "shop");
    await operated.live(10_000, 500);
    expect(await operated.read("Namespace", "shop")).toBeUndefined();
  });
});

test("a pod security level that an administrator set on the namespace is kept", async () => {
  const level = "pod-security.kubernetes.io/enforce";
  const labelled = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { [level]: "privileged" } } };
  await using operated = await OperatedCluster.start({ objects: [labelled, latticeService("shop/api")] });
  expect((await operated.read("Namespace", "shop"))?.metadata.labels).toMatchObject({
    [level]: "privileged",
    "pod-security.kubernetes.io/warn": "restricted",
    "istio.io/dataplane-mode": "ambient",
  });
  expect((await operated.service("shop/api")).status?.phase).toBe("Ready");
});
