/** The compiled objects of `examples/clusters`, as children of a cell. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expectOk } from "#base";
import { compileCluster, type WantedClusterObject } from "#cluster-compiler";
import { parseLatticeCluster } from "#crds";
import { parseYaml } from "#kube";

const CELL = { name: "root", host: "cell.example.com", bootstrapPort: 8_443, proxyPort: 8_444, caBundle: "PEM" };
const FOLDER = join(import.meta.dirname, "../../examples/clusters");

/** `inMemory`: the backend of docker, in a cluster with another name. */
function compiledExample(file: string, { inMemory = false } = {}): readonly WantedClusterObject[] {
  const parsed = expectOk(parseLatticeCluster(expectOk(parseYaml(readFileSync(join(FOLDER, `${file}.yaml`), "utf8")))[0]));
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
