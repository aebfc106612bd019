import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { parseYaml, type Json, type KubeObject } from "#kube";
import { devClusterYaml } from "../../../test/builders/capi-objects.ts";
import { providerInventory, reducedCapiCrds } from "./index.ts";

const apply = { "content-type": "application/apply-patch+yaml" };

async function strictly(cluster: EmbeddedCluster, object: KubeObject) {
  const { plural, group, version } = cluster.resource(object.kind, object.apiVersion);
  const { name, namespace } = object.metadata;
  const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}/${name}?fieldManager=test&fieldValidation=Strict`;
  return cluster.request("PATCH", path, object as unknown as Json, apply);
}

const documents = () => expectOk(parseYaml(devClusterYaml("c1"))) as unknown as readonly KubeObject[];
const start = () =>
  startEmbeddedCluster({ objects: [...reducedCapiCrds(), { apiVersion: "v1", kind: "Namespace", metadata: { name: "c1" } }] });

describe("reduced kinds of Cluster API", () => {
  it("accept the objects of a cluster with fieldValidation=Strict, twice without a change", async () => {
    await using cluster = await start();
    for (const object of documents()) {
      const first = await strictly(cluster, object);
      expect(first, JSON.stringify(first.body)).toMatchObject({ code: 201 });
      const second = await strictly(cluster, object);
      expect(second.body).toMatchObject({ metadata: { generation: 1 } });
    }
  });

  it("refuse a misspelt field", async () => {
    await using cluster = await start();
    const [first] = documents();
    const wrong = { ...first, spec: { ...(first as unknown as { spec: object }).spec, controlPlaneReff: {} } } as unknown as KubeObject;
    expect((await strictly(cluster, wrong)).body).toMatchObject({ message: expect.stringContaining("controlPlaneReff") });
  });

  it("have the defaults of the real webhooks", async () => {
    await using cluster = await start();
    for (const object of documents()) await strictly(cluster, object);
    const read = (kind: string, name: string) => cluster.client.get(cluster.resource(kind), { namespace: "c1", name });
    const rollingUpdate = { maxSurge: 1 };
    expect(expectOk(await read("KubeadmControlPlane", "c1-cp"))).toMatchObject({ spec: { rollout: { strategy: { rollingUpdate } } } });
    expect(expectOk(await read("MachineDeployment", "c1-md"))).toMatchObject({
      spec: { rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { ...rollingUpdate, maxUnavailable: 0 } } } },
    });
  });

  it("for one infrastructure provider there are no kinds of others", () => {
    const names = (crds: readonly KubeObject[]) => crds.map(({ metadata }) => metadata.name);
    const local = names(reducedCapiCrds("local"));
    expect(names(reducedCapiCrds()).filter((name) => !local.includes(name))).toEqual([
      "devclusters.infrastructure.cluster.x-k8s.io",
      "devmachines.infrastructure.cluster.x-k8s.io",
      "devmachinetemplates.infrastructure.cluster.x-k8s.io",
    ]);
  });

  it("are small, and marked for clusterctl move", () => {
    const crds = reducedCapiCrds();
    expect(crds).toHaveLength(17);
    expect(JSON.stringify(crds).length).toBeLessThan(80_000);
    for (const { metadata } of crds) expect(metadata.labels).toMatchObject({ "clusterctl.cluster.x-k8s.io": "" });
    const contracts = crds.map(({ metadata }) => metadata.labels?.["cluster.x-k8s.io/v1beta2"]);
    expect(contracts.filter((one) => one === "v1alpha1")).toHaveLength(3);
  });

  it("come with the inventory of their providers", async () => {
    await using cluster = await start();
    await cluster.add(...providerInventory("local"), ...providerInventory("docker").slice(-1));
    const listed = expectOk(await cluster.client.list(cluster.resource("Provider")));
    expect(listed.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      "capd-system/infrastructure-docker",
      "capi-kubeadm-bootstrap-system/bootstrap-kubeadm",
      "capi-kubeadm-control-plane-system/control-plane-kubeadm",
      "capi-system/cluster-api",
      "capl-system/infrastructure-local",
    ]);
  });
});
