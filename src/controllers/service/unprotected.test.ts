/** A cluster that cannot enforce policies: no pod of a service starts before the default deny of its namespace, unless a user allows it. */
import { describe, expect, test } from "vitest";
import { failWith } from "#embedded-cluster";
import { reducedMeshCrds } from "../reduced-mesh-crds.ts";
import { calls, environment, isCalledBy, latticeService, withVariables } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const api = latticeService("shop/api", { environment: "shop", ...withVariables({ A: "b" }), resources: isCalledBy("front") });
const front = latticeService("shop/front", { environment: "shop", resources: calls("api") });
const OBJECTS = [environment("shop"), api, front];

const CILIUM = "ciliumnetworkpolicies.cilium.io";
const ISTIO = "authorizationpolicies.security.istio.io, peerauthentications.security.istio.io";
const ALL = `authorizationpolicies.security.istio.io, ${CILIUM}, peerauthentications.security.istio.io`;
const without = (group: string) => reducedMeshCrds().filter(({ metadata }) => !metadata.name.endsWith(group));
const held = (kinds: string, products: string) =>
  `the cluster does not have ${kinds}, so nothing would enforce who may talk to whom; no pod is started and what runs stays as it is ` +
  `until ${products} is installed; to run without protection, start the operator with --allow-unprotected`;

async function workloads(operated: OperatedCluster): Promise<readonly string[]> {
  const kinds = ["Deployment", "Service", "ConfigMap", "Secret"];
  const names = await Promise.all(kinds.map(async (kind) => (await operated.names(kind, "shop")).map((name) => `${kind} ${name}`)));
  return names.flat().filter((name) => /api|front/.test(name));
}

describe("without the kinds of the default deny", () => {
  test.each([
    { name: "Cilium and Istio", mesh: [], message: held(ALL, "Cilium and Istio") },
    { name: "Cilium", mesh: without("cilium.io"), message: held(CILIUM, "Cilium") },
    { name: "Istio", mesh: without("istio.io"), message: held(ISTIO, "Istio") },
  ])(
    "without $name no workload is applied, the conditions give the reason, and it is applied once they are served",
    async ({ mesh, message }) => {
      await using operated = await OperatedCluster.start({ mesh, objects: OBJECTS });
      await operated.live(5_000, 500);
      expect(await workloads(operated)).toEqual([]);
      for (const type of ["PoliciesApplied", "Ready"]) {
        expect(await operated.condition("shop/api", type)).toMatchObject({ status: "False", reason: "CRDsMissing", message });
      }
      expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Pending", message });
      expect(await operated.read("LatticeEnvironment", "shop")).toMatchObject({ status: { phase: "Pending", message } });
      const quiet = operated.writes().length;
      await operated.live(200_000, 10_000);
      expect(operated.writes().slice(quiet)).toEqual([]);
      expect(await workloads(operated)).toEqual([]);

      await operated.apply(...reducedMeshCrds());
      await operated.live(45_000, 500);
      expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Ready" });
      expect(await operated.names("CiliumNetworkPolicy", "shop")).toEqual(["api", "front", "lattice-default-deny"]);
      expect(orderProblems(operated)).toEqual([]);
    },
  );

  test("with --allow-unprotected services run, and a condition reports that nothing is enforced", async () => {
    await using operated = await OperatedCluster.start({ mesh: without("cilium.io"), objects: OBJECTS, allowUnprotected: true });
    await operated.live(5_000, 500);
    const lack = `the cluster does not have ${CILIUM}, and the operator runs with --allow-unprotected`;
    const message = `who may talk to whom is not enforced by Cilium: ${lack}`;
    expect(await operated.read("Deployment", "shop/api")).toMatchObject({ status: { availableReplicas: 1 } });
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "False", reason: "Unprotected", message });
    expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "True" });
    expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Ready" });
    expect(await operated.names("AuthorizationPolicy", "shop")).toEqual(["api", "lattice-default-deny"]);
    const { status } = (await operated.read<never>("LatticeEnvironment", "shop")) as unknown as { status: { conditions: unknown[] } };
    expect(status).toMatchObject({ phase: "Ready" });
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: "PoliciesApplied", status: "False", reason: "Unprotected", message }),
    );
    await operated.apply(...reducedMeshCrds());
    await operated.live(45_000, 500);
    expect(await operated.condition("shop/api", "PoliciesApplied")).toMatchObject({ status: "True", reason: "Applied" });
  });

  test("kinds that are removed later stop no running pod; new workloads wait, and the status reports it", async () => {
    await using operated = await OperatedCluster.start({ objects: OBJECTS });
    await operated.live(5_000, 500);
    const before = await operated.read("Deployment", "shop/api");
    await operated.remove(operated.cluster.resource("CustomResourceDefinition"), CILIUM);
    await operated.live(400_000, 5_000);
    await operated.apply(
      latticeService("shop/api", { environment: "shop", ...withVariables({ A: "changed" }), resources: isCalledBy("front") }),
    );
    await operated.apply(latticeService("shop/late", { environment: "shop" }));
    await operated.live(10_000, 500);
    expect((await operated.read("Deployment", "shop/api"))?.metadata.generation).toBe(before?.metadata.generation);
    expect(await operated.read("Deployment", "shop/api")).toMatchObject({ status: { availableReplicas: 1 } });
    expect(await operated.read("Deployment", "shop/late")).toBeUndefined();
    for (const key of ["shop/api", "shop/late"]) {
      expect(await operated.condition(key, "PoliciesApplied")).toMatchObject({ reason: "CRDsMissing", message: held(CILIUM, "Cilium") });
    }
    expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "True" });
  });
});

/** Deployments that were written before the default deny of their namespace and their own policies existed. */
function orderProblems(operated: OperatedCluster): readonly string[] {
  const order = operated.writes();
  const deny = ["ciliumnetworkpolicies.cilium.io", "authorizationpolicies.security.istio.io", "peerauthentications.security.istio.io"];
  return order.flatMap((line, at) => {
    const [, namespace = "", name = ""] = /^apply deployments\.apps ([^/]+)\/(.+)$/.exec(line) ?? [];
    if (name === "") return [];
    const needed = [
      ...deny.map((kind) => `apply ${kind} ${namespace}/lattice-default-deny`),
      `apply ciliumnetworkpolicies.cilium.io ${namespace}/${name}`,
    ];
    return needed.filter((one) => !order.slice(0, at).includes(one)).map((one) => `${line} before ${one}`);
  });
}

describe("the order of first writes", () => {
  test("default deny and the service's own policies precede its Deployment, for every service", async () => {
    await using operated = await OperatedCluster.start({ objects: [...OBJECTS, latticeService("other/one"), latticeService("other/two")] });
    await operated.live(5_000, 500);
    expect(operated.writes().filter((line) => line.startsWith("apply deployments.apps ")).length).toBeGreaterThanOrEqual(4);
    expect(orderProblems(operated)).toEqual([]);
  });

  test.each([
    { name: "the default deny of the namespace", match: { verb: "apply", resource: CILIUM, name: "lattice-default-deny" } },
    { name: "a policy of the service", match: { verb: "apply", resource: CILIUM, name: "api" } },
    { name: "a policy of Istio", match: { verb: "apply", resource: "authorizationpolicies.security.istio.io", name: "api" } },
  ] as const)("also when $name is refused at first", async ({ match }) => {
    await using operated = await OperatedCluster.start({});
    const refusing = operated.cluster.intercept(match, failWith("invalid"));
    await operated.apply(...OBJECTS);
    await operated.live(10_000, 500);
    expect(await operated.read("Deployment", "shop/api")).toBeUndefined();
    refusing.remove();
    await operated.live(120_000, 1_000);
    expect((await operated.service("shop/api")).status).toMatchObject({ phase: "Ready" });
    expect(orderProblems(operated)).toEqual([]);
  });
});
