/** The examples compile to the objects in `golden/`. Update them with `vitest -u` and read the difference. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { parseLatticeCluster } from "#crds";
import { fieldAt, formatYamlDocuments, parseYaml } from "#kube";
import { compileCluster, type ClusterSettingsInput } from "./index.ts";

const CELL: NonNullable<ClusterSettingsInput["cell"]> = {
  name: "mgmt-root",
  host: "172.18.255.9",
  bootstrapPort: 8_443,
  proxyPort: 8_444,
  caBundle: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
};

function example(name: string) {
  const text = readFileSync(join(import.meta.dirname, `../../examples/clusters/${name}.yaml`), "utf8");
  return expectOk(parseLatticeCluster(expectOk(parseYaml(text))[0]));
}

describe("an example compiles to its golden file:", () => {
  test.each(["docker", "local", "aws", "gcp", "azure"])("%s", async (name) => {
    const { objects } = expectOk(compileCluster(example(name)));
    await expect(formatYamlDocuments(objects)).toMatchFileSnapshot(`./golden/${name}.yaml.golden`);
  });

  test("docker in memory, as a child of a cell", async () => {
    const cluster = example("docker");
    const annotations = { "lattice.dev/backend": "inMemory" };
    const inMemory = { ...cluster, metadata: { ...cluster.metadata, annotations } };
    const { objects } = expectOk(compileCluster(inMemory, { cell: CELL }));
    await expect(formatYamlDocuments(objects)).toMatchFileSnapshot("./golden/in-memory-child.yaml.golden");
  });
});

test("objects are in the order in which Cluster API needs them", () => {
  const { objects } = expectOk(compileCluster(example("aws")));
  expect([...new Set(objects.map(({ kind }) => kind))]).toEqual([
    "Namespace",
    "AWSClusterStaticIdentity",
    "AWSCluster",
    "Cluster",
    "AWSMachineTemplate",
    "KubeadmConfigTemplate",
    "KubeadmControlPlane",
    "MachineDeployment",
    "MachineHealthCheck",
  ]);
});

test("the token is in a Secret that the node's files refer to, never in an object", () => {
  const { objects } = expectOk(compileCluster(example("docker"), { cell: CELL, tokenSecret: "lattice-bootstrap-mgmt" }));
  const files = fieldAt(
    objects.find(({ kind }) => kind === "KubeadmControlPlane"),
    "spec",
    "kubeadmConfigSpec",
    "files",
  );
  expect(files).toContainEqual({
    path: "/etc/lattice/token",
    owner: "root:root",
    permissions: "0600",
    contentFrom: { secret: { name: "lattice-bootstrap-mgmt", key: "token" } },
  });
});
