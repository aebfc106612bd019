/** The compiled objects of `examples/clusters`, as children of a cell. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expectOk } from "#base";
import { compileCluster, type WantedClusterObject } from "#cluster-compiler";
import { selfManagerController } from "#controllers";
import { parseLatticeCluster, type LatticeCluster } from "#crds";
import { parseYaml, type KubeObject } from "#kube";

const CELL = { name: "root", host: "cell.example.com", bootstrapPort: 8_443, proxyPort: 8_444, caBundle: "PEM" };
const FOLDER = join(import.meta.dirname, "../../examples/clusters");

function exampleCluster(file: string): LatticeCluster {
  return expectOk(parseLatticeCluster(expectOk(parseYaml(readFileSync(join(FOLDER, `${file}.yaml`), "utf8")))[0]));
}

/** What the operator of a cell on Docker keeps for its own cluster, with a pool of either family. */
export function ownExampleObjects(): readonly KubeObject[] {
  const cell = exampleCluster("docker");
  const { spec } = cell;
  const other = { ...cell, spec: { ...spec, networking: { ...spec.networking, default: { cidr: "fd00:10::/112" } } } };
  const renamed = ownObjects(other).map((object) => ({
    ...object,
    metadata: { ...object.metadata, name: `${object.metadata.name}-ipv6` },
  }));
  return [...ownObjects(cell), ...renamed];
}

function ownObjects(cluster: LatticeCluster): readonly KubeObject[] {
  const { endpoints: current } = cluster.spec;
  const endpoints = current === undefined ? undefined : { current, former: [], isRemoved: false };
  const observed = { cluster, endpoints, home: "default", servesPools: true, servesAnnouncements: true };
  const identity = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "lattice-identity", namespace: "default" } };
  const { apply } = expectOk(selfManagerController.plan(identity, observed));
  return apply.flat().map((wanted) => ("object" in wanted ? wanted.object : wanted));
}

/** `inMemory`: the backend of docker, in a cluster with another name. */
function compiledExample(file: string, { inMemory = false } = {}): readonly WantedClusterObject[] {
  const parsed = exampleCluster(file);
  const { metadata } = parsed;
  const annotated = { ...metadata, name: `${metadata.name}-memory`, annotations: { "lattice.dev/backend": "inMemory" } };
  return expectOk(compileCluster(inMemory ? { ...parsed, metadata: annotated } : parsed, { cell: CELL })).wanted;
}

/** Of all providers whose CRDs are published. Of `local`, those of Cluster API itself. */
export function publishedExampleObjects(): readonly WantedClusterObject[] {
  return [
    ...["docker", "aws", "gcp", "azure"].flatMap((file) => compiledExample(file)),
    ...compiledExample("docker", { inMemory: true }),
    ...compiledExample("local").filter(({ object }) => !object.kind.startsWith("Local")),
  ];
}
