/** Which objects of a file describe a management cluster that can be installed. Pure. */
import { err, ok, type Result } from "#base";
import type { LatticeCluster } from "#crds";
import { describeObject, namespaces, secrets, type KubeObject, type Resource } from "#kube";
import type { AppliedBeside } from "./beside.ts";

export type ManagementFile = {
  readonly cluster: LatticeCluster;
  /** Namespaces and Secrets that it refers to, in the order in which they are applied. */
  readonly beside: readonly AppliedBeside[];
};

const BESIDE: readonly Resource[] = [namespaces, secrets] as readonly Resource[];

export type ManagementFileOptions = {
  /** The name of the bootstrap cluster. */
  readonly bootstrap: string;
};

/** The objects are valid by their schemas. */
export function checkManagementCluster(
  objects: readonly KubeObject[],
  { bootstrap }: ManagementFileOptions,
): Result<ManagementFile, string> {
  const clusters = objects.filter((object): object is LatticeCluster => object.kind === "LatticeCluster");
  const [cluster, second] = clusters;
  if (cluster === undefined) return err("the file has no LatticeCluster; lattice install needs the one of the management cluster");
  if (second !== undefined)
    return err(
      `the file has ${clusters.length} LatticeClusters (${clusters.map(({ metadata }) => metadata.name).join(", ")}); lattice install makes one, and its children are created there`,
    );
  const { name } = cluster.metadata;
  const { endpoints, cellRef } = cluster.spec;
  if (endpoints === undefined)
    return err(
      `spec.endpoints of LatticeCluster ${name} is missing: a management cluster is a cell, and its children need its address; add at least endpoints.host`,
    );
  if (cellRef !== undefined)
    return err(`spec.cellRef of LatticeCluster ${name} is ${cellRef}: a management cluster has no parent; remove it`);
  if (name === bootstrap) return err(`the name ${name} is used by the bootstrap cluster; choose another one`);
  const others = objects.filter((object) => object !== cluster);
  const unknown = others.find(({ kind }) => !BESIDE.some((resource) => resource.kind === kind));
  if (unknown !== undefined)
    return err(
      `${describeObject(unknown)} is not applied by lattice install, which takes the LatticeCluster, Namespaces and Secrets; apply it to the cluster afterwards`,
    );
  const beside = BESIDE.flatMap((resource) => others.filter(({ kind }) => kind === resource.kind).map((object) => ({ resource, object })));
  return ok({ cluster, beside });
}
