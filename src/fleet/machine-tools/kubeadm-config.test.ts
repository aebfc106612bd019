import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { err, ok } from "#base";
import { formatYamlDocuments } from "#kube";
import { parseKubeadmInit, parseKubeadmJoin } from "./kubeadm-config.ts";
import { machineNode } from "./machine-node.ts";

const CLUSTER = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: child\nkubernetesVersion: v1.36.3\n";

describe("the file of kubeadm init", () => {
  it("has the cluster, its version, labels and taints", () => {
    const parsed = parseKubeadmInit(`---
${CLUSTER}networking: {podSubnet: 10.0.0.0/8}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  name: ignored
  taints: [{key: a, value: b, effect: NoExecute}]
  kubeletExtraArgs:
  - {name: node-labels, value: "x=1,y=,broken"}
  - {name: register-with-taints, value: "c=d:NoSchedule,e:PreferNoSchedule"}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
`);
    expect(parsed).toMatchObject(
      ok({
        clusterName: "child",
        kubernetesVersion: "v1.36.3",
        node: {
          labels: { x: "1", y: "" },
          taints: [
            { key: "a", value: "b", effect: "NoExecute" },
            { key: "c", value: "d", effect: "NoSchedule" },
            { key: "e", effect: "PreferNoSchedule" },
          ],
        },
      }),
    );
    expect(parsed).toMatchObject({ value: { clusterConfiguration: expect.stringContaining("podSubnet: 10.0.0.0/8") as string } });
  });

  it("needs no InitConfiguration, and may be of an earlier version", () => {
    expect(parseKubeadmInit(CLUSTER)).toMatchObject(ok({ node: { labels: {}, taints: undefined } }));
    const older =
      "---\napiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\nnodeRegistration: {taints: [], kubeletExtraArgs: {node-labels: a=b}}\n";
    expect(parseKubeadmInit(`${CLUSTER}${older}`)).toMatchObject(ok({ node: { labels: { a: "b" }, taints: [] } }));
  });

  test.each([
    { name: "is empty", text: "", want: "the file has no ClusterConfiguration" },
    { name: "has no name", text: CLUSTER.replace("child", "''"), want: "ClusterConfiguration.clusterName: is missing" },
    { name: "has no version", text: CLUSTER.replace("v1.36.3", ""), want: "ClusterConfiguration.kubernetesVersion: is missing" },
    { name: "has two clusters", text: `${CLUSTER}---\n${CLUSTER}`, want: "the file has more than one ClusterConfiguration" },
    {
      name: "has a wrong taint",
      text: `${CLUSTER}---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nnodeRegistration: {taints: [{key: a}]}\n`,
      want: "InitConfiguration.nodeRegistration.taints[0]: must have a key, and an effect of NoSchedule, PreferNoSchedule, NoExecute",
    },
  ])("that $name is refused with one sentence", ({ text, want }) => {
    expect(parseKubeadmInit(text)).toEqual(err(want));
  });

  it("that is no YAML is refused, and no text throws", () => {
    expect(parseKubeadmInit("a: [")).toMatchObject({ ok: false, error: expect.stringMatching(/^the file is not valid YAML: /) as string });
    const kinds = fc.constantFrom("ClusterConfiguration", "InitConfiguration", "JoinConfiguration");
    const document = fc.tuple(kinds, fc.jsonValue({ maxDepth: 3 })).map(([kind, nodeRegistration]) => ({
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind,
      clusterName: "a",
      kubernetesVersion: "v1.1.1",
      nodeRegistration,
      controlPlane: nodeRegistration,
    }));
    fc.assert(
      fc.property(fc.array(document, { maxLength: 3 }), (documents) => {
        const text = formatYamlDocuments(documents);
        parseKubeadmInit(text);
        parseKubeadmJoin(text);
      }),
      { numRuns: 100 },
    );
  });
});

describe("the file of kubeadm join", () => {
  const JOIN = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n";

  it("is of a worker, or of a control-plane machine", () => {
    expect(parseKubeadmJoin(JOIN)).toMatchObject(ok({ controlPlane: false }));
    expect(parseKubeadmJoin(`${JOIN}controlPlane: {localAPIEndpoint: {bindPort: 6443}}\n`)).toMatchObject(ok({ controlPlane: true }));
    expect(parseKubeadmJoin(CLUSTER)).toEqual(err("the file has no JoinConfiguration"));
    const wrong = `${JOIN}nodeRegistration: {kubeletExtraArgs: [{name: register-with-taints, value: x}]}\n`;
    expect(parseKubeadmJoin(wrong)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^JoinConfiguration: --register-with-taints: /) as string,
    });
  });
});

test("the Node of a machine has its role, and is simulated", () => {
  const machine = { name: "m1", namespace: "capi-child", cluster: "child", controlPlane: true, version: "v1.35.1", kubeconfig: "" };
  expect(machineNode(machine, { labels: { pool: "a" } })).toEqual({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "m1",
      labels: {
        pool: "a",
        "node-role.kubernetes.io/control-plane": "",
        "node.kubernetes.io/exclude-from-external-load-balancers": "",
        "kubernetes.io/hostname": "m1",
        "simulation.lattice.dev/node": "true",
      },
      annotations: { "simulation.lattice.dev/version": "v1.35.1" },
    },
    spec: { providerID: "local:///capi-child/m1", taints: [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }] },
  });
  expect(machineNode({ ...machine, controlPlane: false }, { labels: {} }).spec).toEqual({ providerID: "local:///capi-child/m1" });
  expect(machineNode(machine, { labels: {}, taints: [] }).spec).toEqual({ providerID: "local:///capi-child/m1" });
});
