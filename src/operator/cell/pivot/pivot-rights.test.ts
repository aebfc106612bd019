/** A pivot, and its reverse, with the rights of the operator on both sides: they are enough, and all of them are used. */
import { expect, onTestFinished, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { rbacFor } from "#controller-runtime";
import { latticeClusters } from "#crds";
import type { EmbeddedCluster, FixtureObject } from "#embedded-cluster";
import { groupResourceOf, type Resource } from "#kube";
import { createKubeClient } from "#kube-client";
import { grantsOf, refusedRequests, requestedGrants } from "../../../../test/builders/attacks/grants.ts";
import { openCrd } from "../../../../test/builders/open-crd.ts";
import { OPERATOR_USER } from "../../../../test/builders/operated-cluster.ts";
import { OPERATOR_NAME, OPERATOR_NAMESPACE, operatorRbac } from "../../controllers.ts";
import { MOVE_PERMISSIONS } from "../../move-permissions.ts";
import { isDone, isWaiting, PivotWorld, untilView } from "./pivot-world.test-support.ts";

async function grantOperator(cluster: EmbeddedCluster): Promise<void> {
  for (const object of operatorRbac())
    expectOk(
      await cluster.client.apply(cluster.resource(object.kind, object.apiVersion), object, { fieldManager: "kubectl", force: true }),
    );
}

/** "create *.cluster.x-k8s.io" is used by "create machines.cluster.x-k8s.io". */
function isUsed(grant: string, requested: ReadonlySet<string>): boolean {
  if (requested.has(grant)) return true;
  const [verb = "", group = ""] = grant.split(" *.");
  return [...requested].some((one) => one.startsWith(`${verb} `) && one.slice(one.indexOf(".") + 1) === group);
}

const labelled = (resource: Resource) => {
  const labels = { "clusterctl.cluster.x-k8s.io": "" };
  return { ...openCrd(resource), metadata: { name: groupResourceOf(resource), labels } } as FixtureObject;
};

/** clusterctl labels every definition of a provider, and a move lists the objects of all of them. */
const MORE_KINDS = [
  labelled({
    group: "runtime.cluster.x-k8s.io",
    version: "v1beta2",
    kind: "ExtensionConfig",
    plural: "extensionconfigs",
    namespaced: false,
  }),
  labelled({ group: "resources.azure.com", version: "v1", kind: "ResourceGroup", plural: "resourcegroups", namespaced: true }),
];

const NOT_SEEN = [
  // kinds that this cluster has no objects of: the same verbs, in other groups
  /\*\.(ipam\.cluster\.x-k8s\.io|infrastructure\.lattice\.dev|addons\.cluster\.x-k8s\.io|[a-z]+\.azure\.com)$/,
  // a move that is continued compares copies and writes those again that have changed
  /^(get|update) \*\./,
  /^update (secrets|latticeclusters\.lattice\.dev)$/,
  // the agent has made the namespace
  /^create namespaces$/,
  // of every operator
  / events\.events\.k8s\.io$/,
];

test(
  "a pivot and its reverse need no other rights than the operator has, and use those that it has for them",
  { timeout: 60_000 },
  async () => {
    const world = await PivotWorld.open({ logActions: true });
    onTestFinished(() => world.close());
    const both = [world.parent, world.child];
    for (const cluster of both) {
      await grantOperator(cluster);
      await cluster.add(...MORE_KINDS);
    }
    const runner = world.runner({
      client: world.parent.clientFor(OPERATOR_USER),
      // a client for each move, which closes it
      childClient: () =>
        createKubeClient({ transport: world.child.transportFor(OPERATOR_USER), clock: systemClock, random: seededRandom(2) }),
      leaseMs: 15_000,
    });
    runner.start(await world.cluster());
    expect((await untilView(runner, (one) => isDone(one) || isWaiting(one))).problem).toBeUndefined();
    expectOk(
      await world.child.client.patch(latticeClusters, { name: "prod" }, { type: "merge", patch: { spec: { nodes: { workers: 5 } } } }),
    );
    await world.writeKubeconfig(world.parent, "of the parent");
    runner.unpivot(await world.cluster());
    const back = await untilView(runner, (one) => one.direction === "to-parent" && (isDone(one) || isWaiting(one)));
    expect(back.problem).toBeUndefined();
    expect(both.map((cluster) => refusedRequests(cluster, OPERATOR_USER))).toEqual([[], []]);
    const requested = new Set(both.flatMap((cluster) => [...requestedGrants(cluster, OPERATOR_USER)]));
    const role = rbacFor([{ name: "move", permissions: MOVE_PERMISSIONS }], { name: OPERATOR_NAME, namespace: OPERATOR_NAMESPACE });
    const unused = [...grantsOf(role)].filter((grant) => !NOT_SEEN.some((one) => one.test(grant)) && !isUsed(grant, requested));
    expect(unused.toSorted()).toEqual([]);
  },
);
