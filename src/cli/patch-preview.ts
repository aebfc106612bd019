/**
 * `lattice patch-preview`: what services in patch mode would change in their Deployments, field by field, who owns each field now, and which flows
 * open and close.
 *
 * Exit code 0: nothing would change, 1: something would change, 2: the preview failed.
 */
import { err, ok, timestamp, type Result } from "#base";
import { compileAll, diffObjects, type WorldDiff, type WorldDocument } from "#compile";
import { deployments, describeObject, field, isJsonObject, type Json, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { previewWorkloadPatch, type PatchPreview } from "#workload-patch";
import type { ClusterFlags } from "./cluster.ts";
import { allProblems, printProblems } from "./compile.ts";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { readLatticeResources, readShareable, withCluster } from "./live-world.ts";
import { formatPreview } from "./patch-preview-text.ts";
import { readResourceFiles } from "./resource-files.ts";
import { readWorld, type FilesWorld, type SecretFlags, type WorldFlags } from "./world-files.ts";

export type PreviewFlags = WorldFlags &
  SecretFlags &
  ClusterFlags & {
    readonly filename: readonly string[];
    readonly against?: readonly string[];
    readonly output: "text" | "json";
  };

/** One service in patch mode. */
export type ServicePreview = {
  /** `namespace/name`. */
  readonly service: string;
  readonly deployment: string;
  /** Absent: there is no such Deployment. */
  readonly preview?: PatchPreview;
};

/** The result of the command. */
export type Preview = { readonly services: readonly ServicePreview[]; readonly flows: WorldDiff["flows"] };

export async function patchPreview(io: CliIo, flags: PreviewFlags): Promise<ExitCode> {
  const { against, kubeconfig, context } = flags;
  if (against !== undefined && (kubeconfig !== undefined || context !== undefined))
    return reportFailure(io, "give the Deployments with --against FILES, or a cluster with --kubeconfig and --context, not both");
  // values of secrets are not part of a preview
  const marking = { ...flags, placeholderSecrets: true };
  const found = against === undefined ? await againstCluster(io, marking) : await againstFiles(io, marking, against);
  if (!found.ok) return reportFailure(io, found.error);
  if (found.value === undefined) return 2;
  io.stdout(flags.output === "json" ? `${JSON.stringify(found.value, undefined, 2)}\n` : formatPreview(found.value));
  return isUnchanged(found.value) ? 0 : 1;
}

function isUnchanged({ services, flows }: Preview): boolean {
  return services.every(({ preview }) => preview?.isApplied === true) && flows.opened.length === 0 && flows.closed.length === 0;
}

/** undefined: the files have errors, which were printed. */
type Found = Result<Preview | undefined, string>;

/** What the files are previewed on. */
type Ground = { readonly documents: readonly WorldDocument[]; readonly deploymentOf: (key: string) => KubeObject | undefined };

async function againstFiles(io: CliIo, flags: PreviewFlags, against: readonly string[]): Promise<Found> {
  const read = await readResourceFiles(io, against);
  const [problem] = read.problems;
  if (problem !== undefined) return err(`--against ${problem.file}: ${problem.message}`);
  const own = await readResourceFiles(
    io,
    flags.filename.filter((path) => path !== "-"),
  );
  const documents = read.documents.map(({ value, file }): WorldDocument => ({ value, from: file }));
  const found = new Map([...own.documents, ...read.documents].flatMap(({ value }) => deploymentsIn(value, flags.namespace ?? "default")));
  return preview(io, flags, { documents, deploymentOf: (key) => found.get(key) });
}

function againstCluster(io: CliIo, given: PreviewFlags): Promise<Found> {
  return withCluster(io, given, async (client, { namespace }) => {
    const flags = namespace === undefined ? given : { ...given, fallbackNamespace: namespace };
    const resources = await readLatticeResources(client, io.signal);
    if (!resources.ok) return resources;
    const shareable = await readShareable(client, io.signal);
    if (!shareable.ok) return shareable;
    for (const note of [...resources.value.notes, ...shareable.value.notes]) io.stderr(`warning: ${note}\n`);
    const documents = [...resources.value.value, ...shareable.value.value];
    const loaded = await readWorld(io, flags.filename, flags, documents);
    if (!loaded.ok) return loaded;
    const live = await readTargets(client, loaded.value, io.signal);
    if (!live.ok) return live;
    const more = [...live.value.values()].map((object): WorldDocument => ({
      value: object as unknown as Json,
      from: describeObject(object),
    }));
    const names = new Set(more.map(({ from }) => from));
    const others = documents.filter(({ from }) => !names.has(from));
    return preview(io, flags, { documents: [...others, ...more], deploymentOf: (key) => live.value.get(key) });
  });
}

/** The Deployments that services of the files name. */
async function readTargets(client: KubeClient, { world, places }: FilesWorld, signal: AbortSignal) {
  const found = new Map<string, KubeObject>();
  for (const key of places.keys()) {
    const compiled = world.compile(key);
    const target = compiled.ok ? compiled.value.workloadPatch?.target : undefined;
    if (target === undefined) continue;
    const answer = await client.get<KubeObject>(deployments, target, { signal });
    if (answer.ok) found.set(keyOfTarget(target), { ...answer.value, apiVersion: "apps/v1", kind: "Deployment" });
    else if (answer.error.kind !== "not-found") return err(`Deployment ${keyOfTarget(target)}: ${answer.error.message}`);
  }
  return ok(found);
}

async function preview(io: CliIo, flags: PreviewFlags, { documents, deploymentOf }: Ground): Promise<Found> {
  const loaded = await readWorld(io, flags.filename, flags, documents);
  if (!loaded.ok) return loaded;
  const without = await readWorld(io, [], flags, documents);
  if (!without.ok) return without;
  const { world, places } = loaded.value;
  const [before, after] = [compileAll(without.value.world), compileAll(world)];
  const problems = allProblems(loaded.value, { errors: new Map([...after.errors].filter(([key]) => places.has(key))) });
  if (problems.length > 0) printProblems(io, problems);
  if (problems.length > 0) return ok(undefined);
  const services: ServicePreview[] = [];
  for (const key of places.keys()) {
    const shown = servicePreview(key, loaded.value, deploymentOf, timestamp(io.clock));
    if (shown?.ok === false) return shown;
    if (shown !== undefined) services.push(shown.value);
  }
  if (services.length === 0) return err("no service of the files has spec.workloadRef; lattice diff shows what other services change");
  const patched = { before: before.patched, after: after.patched };
  const sides = [before, after].map(({ namespaces, objects }) => [...namespaces, ...objects]);
  const { flows } = diffObjects(sides[0] ?? [], sides[1] ?? [], { trustDomain: (namespace) => world.trustDomainOf(namespace), patched });
  return ok({ services, flows });
}

/** undefined: the service is not in patch mode. */
function servicePreview(
  key: string,
  { world }: FilesWorld,
  deploymentOf: Ground["deploymentOf"],
  at: string,
): Result<ServicePreview, string> | undefined {
  const compiled = world.compile(key);
  const patch = compiled.ok ? compiled.value.workloadPatch : undefined;
  if (patch === undefined) return undefined;
  const deployment = keyOfTarget(patch.target);
  const live = deploymentOf(deployment);
  if (live === undefined) return ok({ service: key, deployment });
  const shown = previewWorkloadPatch(live, patch, at);
  return shown.ok ? ok({ service: key, deployment, preview: shown.value }) : err(`${key}: ${shown.error.message}`);
}

function keyOfTarget({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** By `namespace/name`. A List is read, too, as `kubectl get -o yaml` prints it. */
function deploymentsIn(value: Json, fallback: string): readonly (readonly [string, KubeObject])[] {
  const items = field(value, "items");
  if (Array.isArray(items)) return (items as readonly Json[]).flatMap((item) => deploymentsIn(item, fallback));
  const metadata = field(value, "metadata");
  const [name, namespace] = [field(metadata, "name"), field(metadata, "namespace") ?? fallback];
  if (!isJsonObject(value) || value["kind"] !== "Deployment" || typeof name !== "string" || typeof namespace !== "string") return [];
  return [[`${namespace}/${name}`, value as unknown as KubeObject]];
}
