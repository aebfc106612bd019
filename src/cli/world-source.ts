/**
 * The resources for `why` and `graph`: from files, or from a cluster when no files are given. Secrets do not affect which service reaches
 * which, so they are not read.
 */
import { err, ok, type Result } from "#base";
import { loadWorld, type DocumentProblem, type LoadedWorld, type NameScope } from "#compile";
import type { KubeObject } from "#kube";
import type { ClusterFlags } from "./cluster.ts";
import type { CliIo } from "./io.ts";
import { readLatticeResources, readPolicies, withCluster } from "./live-world.ts";
import { scopeOf, type NamespaceFlags } from "./namespace-scope.ts";
import { readWorld, settingsOf, type WorldFlags } from "./world-files.ts";

export type SourceFlags = WorldFlags & ClusterFlags & NamespaceFlags & { readonly output?: string };

export type SourceWorld = Pick<LoadedWorld, "world" | "places" | "problems"> & {
  /** The policies of the cluster; undefined: the resources come from files. */
  readonly objects: readonly KubeObject[] | undefined;
  readonly notes: readonly string[];
  /** Where names without a namespace are looked up; undefined: everywhere. */
  readonly names: NameScope | undefined;
  /** The namespace that the output is limited to; undefined: all namespaces. */
  readonly namespace: string | undefined;
};

export async function readSource(io: CliIo, flags: SourceFlags): Promise<Result<SourceWorld, string>> {
  const { filename } = flags;
  if (filename === undefined) return fromCluster(io, flags);
  if (flags.kubeconfig !== undefined || flags.context !== undefined)
    return err("give files with -f, or a cluster with --kubeconfig and --context, not both");
  if (flags.allNamespaces === true) return err("-A is for a cluster; files given with -f are read in all namespaces");
  const loaded = await readWorld(io, filename, { ...flags, placeholderSecrets: true, assumeShareable: true, anyImage: true });
  const names = flags.namespace === undefined ? undefined : { namespace: flags.namespace, only: false };
  return loaded.ok ? ok({ ...loaded.value, objects: undefined, notes: [], names, namespace: undefined }) : loaded;
}

async function fromCluster(io: CliIo, flags: SourceFlags): Promise<Result<SourceWorld, string>> {
  const settings = settingsOf(flags);
  if (!settings.ok) return settings;
  return withCluster(io, flags, async (client, config) => {
    const scope = scopeOf(flags, config);
    if (!scope.ok) return scope;
    const namespace = scope.value;
    const resources = await readLatticeResources(client, io.signal);
    if (!resources.ok) return resources;
    const policies = await readPolicies(client, io.signal);
    if (!policies.ok) return policies;
    const { world, problems } = loadWorld(resources.value.value, {
      settings: settings.value,
      placeholderSecrets: true,
      assumeShareable: true,
      allDeployments: true,
    });
    const notes = [...resources.value.notes, ...policies.value.notes];
    const names = namespace === undefined ? undefined : { namespace, only: flags.namespace !== undefined };
    return ok({ world, problems, places: new Map<string, string>(), objects: policies.value.value, notes, names, namespace });
  });
}

/** Without one of the files the result would be wrong. */
export function describeProblems(problems: readonly DocumentProblem[]): string {
  const lines = problems.map(({ from, path, message }) => `  ${from}${path === "" ? "" : `: ${path}`}: ${message}`);
  return `not all files could be read:\n${lines.join("\n")}`;
}
