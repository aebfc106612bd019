import { expect, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { capiClusters } from "#kube";
import { providerInventory, reducedCapiCrds } from "#bundle";
import { localClusterYaml } from "../../../test/builders/capi-objects.ts";
import { parseYaml, type KubeObject } from "#kube";
import { isTrue } from "./objects.ts";
import { FakeMachineHost } from "./capi-world.test-support.ts";
import { openByKubeconfig } from "./open-child.ts";

const options = { clock: systemClock, random: seededRandom(1) };

test("a child is reached over HTTP with the kubeconfig of its Secret, and the machines of the embedded cluster's host become its Nodes", async () => {
  await using child = await startEmbeddedCluster();
  const kubeconfig = await child.kubeconfig();
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "c1" } };
  const objects = [...reducedCapiCrds(), namespace, ...providerInventory("local")];
  await using parent = await startEmbeddedCluster({
    objects,
    controllers: { simulation: { nodes: 0 }, localMachines: new FakeMachineHost(systemClock, () => child.client) },
  });
  const all = expectOk(parseYaml(localClusterYaml("c1", { workers: 0 }))) as unknown as readonly KubeObject[];
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "c1-kubeconfig", namespace: "c1" },
    stringData: { value: kubeconfig },
  };
  await parent.add(secret, ...all);
  const found = await parent.waitFor(
    capiClusters,
    { namespace: "c1", name: "c1" },
    (object) => object !== undefined && isTrue(object, "Available"),
    { timeoutMs: 20_000 },
  );
  expect(found?.metadata.finalizers).toEqual(["cluster.cluster.x-k8s.io"]);
});

test.each([
  { name: "no text", text: "", want: "data.value is not a kubeconfig" },
  { name: "no kubeconfig", text: "- a", want: "data.value is not a kubeconfig" },
  { name: "a huge text", text: "a".repeat(300_000), want: "data.value is not a kubeconfig" },
  {
    name: "a file of this computer",
    text: "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: 'https://127.0.0.1:1', certificate-authority: /etc/passwd}}]\nusers: [{name: a, user: {}}]\n",
    want: "the kubeconfig is not usable",
  },
])("$name is refused, without a part of it in the message", async ({ text, want }) => {
  expect(await openByKubeconfig(text, options)).toEqual({ ok: false, error: want });
});
