/** Objects by the compiler: those of a child, split where the kubeconfig Secret is written, before the KubeadmControlPlane; and those of the cluster itself. Pure. */
import { map, mapErr, type Result } from "#base";
import { compileCluster, describeClusterError, type ClusterSettingsInput } from "#cluster-compiler";
import type { WantedObject } from "#controller-runtime";
import type { LatticeCluster } from "#crds";
import { kubeadmControlPlanes, namespaces, type KubeObject } from "#kube";
import type { CellView, ChildObjects } from "./observed.ts";

/** Objects of the cluster that exist. */
export type ExistingObjects = NonNullable<ClusterSettingsInput["existing"]>;

export type CompileChildInput = {
  readonly cell: CellView;
  /** The KubeadmControlPlane that exists: its bootstrap-only fields stay as they are. */
  readonly controlPlane: KubeObject | undefined;
  /** MachineDeployments and Machines that exist: an upgrade is staged by them. Absent: it is not. */
  readonly existing?: Omit<ExistingObjects, "controlPlane">;
};

type Compiled = Pick<ChildObjects, "first" | "rest" | "upgrade"> & { readonly later: readonly string[] };

const MAX_ERRORS_SHOWN = 10;

/** The error is one sentence for the user. */
export function compileChild(cluster: LatticeCluster, { cell, controlPlane, existing }: CompileChildInput): Result<Compiled, string> {
  const { name, host, bootstrapPort, proxyPort, trustBundle: caBundle } = cell;
  const known = controlPlane === undefined ? {} : { existing: { ...existing, controlPlane } };
  return map(compile(cluster, { cell: { name, host, bootstrapPort, proxyPort, caBundle }, ...known }), ({ objects, upgrade, later }) => {
    const at = objects.findIndex((wanted) => ("once" in wanted ? wanted.object : wanted).kind === kubeadmControlPlanes.kind);
    return { first: objects.slice(0, at), rest: objects.slice(at), upgrade, later };
  });
}

type CompiledOwn = { readonly objects: readonly WantedObject[]; readonly upgrade: string | undefined; readonly later: readonly string[] };

/** Of the cluster itself. Without a cell: its machines exist, and bootstrap-only fields stay as they are. */
export function compileOwn(cluster: LatticeCluster, existing: ExistingObjects): Result<CompiledOwn, string> {
  return compile(cluster, { existing });
}

function compile(cluster: LatticeCluster, settings: ClusterSettingsInput): Result<CompiledOwn, string> {
  const compiled = compileCluster(cluster, settings);
  const described = mapErr(compiled, (errors) => errors.slice(0, MAX_ERRORS_SHOWN).map(describeClusterError).join("; "));
  return map(described, ({ wanted: all, upgrade, later }) => {
    // the namespace is created by a command: another controller applies labels to it, and two appliers with one name would undo each other
    const wanted = all.filter(({ object }) => object.kind !== namespaces.kind);
    const objects = wanted.map(({ object, once }): WantedObject => (once === undefined ? object : { object, once }));
    return { objects, upgrade, later };
  });
}
