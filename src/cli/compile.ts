/**
 * `lattice compile`: compiles files to objects, without a cluster. With an error anywhere nothing is printed, so that an incomplete set is
 * never applied.
 */
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fromPromise, type Result } from "#base";
import { compileAll, compileClusters, documentWarnings, problemsOf, type CompiledClusters, type CompiledWorld } from "#compile";
import { describeObject, fieldAt, formatYaml, formatYamlDocuments, keyText, type KubeObject } from "#kube";
import { createFolder, writePrivateFile } from "#pki";
import { reportError, reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { formatProblem, inFileOrder, type LocatedProblem } from "./located-problems.ts";
import { readWorld, type FilesWorld, type SecretFlags, type WorldFlags } from "./world-files.ts";

export type CompileFlags = WorldFlags &
  SecretFlags & {
    readonly filename: readonly string[];
    readonly output: "yaml" | "json" | "dir";
    readonly out?: string;
    readonly force?: boolean;
    readonly workloadsOnly?: boolean;
  };

export async function compile(io: CliIo, flags: CompileFlags): Promise<ExitCode> {
  if (flags.output === "dir" && flags.out === undefined) return reportFailure(io, "-o dir needs --out FOLDER, the folder to write to");
  if (flags.output !== "dir" && flags.out !== undefined)
    return reportFailure(io, "--out is for -o dir; redirect standard output for other formats");
  const loaded = await readWorld(io, flags.filename, { ...flags, partialDocuments: true });
  if (!loaded.ok) return reportFailure(io, loaded.error);
  const compiled = compileAll(loaded.value.world);
  const clusters = compileClusters(loaded.value);
  const problems = allProblems(loaded.value, compiled);
  printWarnings(io, loaded.value, [...warningsOf(loaded.value, compiled), ...missingPods(compiled)]);
  if (problems.length > 0) {
    printProblems(io, problems);
    return loaded.value.unreadable ? 2 : 1;
  }
  const objects = chosenObjects(compiled, clusters, flags.workloadsOnly === true);
  if (objects.length === 0) return reportError(io, "the files hold no service and no cluster, so there is nothing to compile");
  for (const name of clusters.names) io.stderr(`note: LatticeCluster ${name}: ${WITHOUT_BOOTSTRAP}\n`);
  if (flags.output === "dir") return writeFolder(io, flags.out ?? "", objects, flags.force === true);
  io.stdout(
    flags.output === "json"
      ? `${JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }, null, 2)}\n`
      : formatYamlDocuments(objects),
  );
  return 0;
}

const WITHOUT_BOOTSTRAP =
  "the script that connects the cluster to its parent is not part of this output; the cell adds it when it creates the cluster";

function chosenObjects(services: CompiledWorld, clusters: CompiledClusters, workloadsOnly: boolean): readonly KubeObject[] {
  if (!workloadsOnly) return [...services.namespaces, ...services.objects, ...clusters.objects];
  return [...services.objects, ...clusters.objects.filter(({ kind }) => kind !== "Namespace")];
}

/** Without an autoscaler, Flagger takes the first number of pods from the Deployment, which is applied without one. */
function missingPods({ compiled }: CompiledWorld): readonly string[] {
  const scaled = new Set(compiled.flatMap(({ object }) => (object.kind === "HorizontalPodAutoscaler" ? [keyText(object.metadata)] : [])));
  return compiled.flatMap(({ object: { kind, metadata }, once }) => {
    const replicas = fieldAt(once, "spec", "replicas");
    if (kind !== "Deployment" || typeof replicas !== "number" || replicas < 2 || scaled.has(keyText(metadata))) return [];
    const { namespace = "default", name } = metadata;
    const why = "since compiled output leaves replicas out to be safe to apply again";
    const command = `kubectl scale -n ${namespace} deployment/${name}-primary --replicas=${replicas}`;
    return [
      `${namespace}/${name}: Flagger starts ${name}-primary with 1 pod and not ${replicas}, ${why}; give spec.replicas.max, or run once: ${command}`,
    ];
  });
}

/** Problems of the files and of the services and clusters in them, in the order of the files and of their lines. */
export function allProblems(loaded: FilesWorld, compiled: Pick<CompiledWorld, "errors">): readonly LocatedProblem[] {
  return inFileOrder([...problemsOf(loaded, compiled), ...compileClusters(loaded).problems].map(loaded.locate));
}

export function printProblems(io: CliIo, problems: readonly LocatedProblem[]): void {
  for (const problem of problems) io.stderr(formatProblem("error", problem));
  io.stderr(`${problems.length === 1 ? "1 error" : `${problems.length} errors`}; nothing was compiled\n`);
}

/** The edges of a document that was read in part are unknown. */
function warningsOf(loaded: FilesWorld, compiled: CompiledWorld): readonly string[] {
  if (loaded.incomplete.size === 0) return compiled.warnings;
  return documentWarnings(loaded, compiled).map(({ from, path, message }) => `${from}: ${path}: ${message}`);
}

export function printWarnings(io: CliIo, { leftOut }: Pick<FilesWorld, "leftOut">, warnings: readonly string[]): void {
  const names = leftOut.map(({ object, from }) => `${describeObject(object)} (${from})`);
  const others = names.length === 0 ? [] : [`left out, as these are not compiled: ${names.join(", ")}`];
  for (const text of [...others, ...warnings]) io.stderr(`warning: ${text}\n`);
}

async function writeFolder(io: CliIo, folder: string, objects: readonly KubeObject[], force: boolean): Promise<ExitCode> {
  const home = resolve(io.cwd, folder);
  const there = await fromPromise(readdir(home), () => undefined);
  if (there.ok && there.value.length > 0 && !force)
    return reportFailure(io, `${folder} is not empty; choose another folder, or use --force to write into it`);
  for (const [file, object] of fileNames(objects)) {
    const path = join(home, file);
    const written = await writeOne(path, formatYaml(object));
    if (!written.ok) return reportFailure(io, written.error);
  }
  io.stdout(`${objects.length} objects in ${folder}\n`);
  return 0;
}

async function writeOne(path: string, text: string): Promise<Result<void, string>> {
  const made = createFolder(dirname(path), 0o777);
  // Secrets are among the objects
  return made.ok ? writePrivateFile(path, text) : made;
}

/**
 * `shop/deployment-api.yaml`. A Namespace sorts before what is in it, so that `kubectl apply -R -f` creates it first; a name does not
 * depend on other objects, so that version control shows which objects changed.
 */
function fileNames(objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  const files = new Map<string, KubeObject>();
  for (const object of objects) {
    const { kind, metadata, apiVersion } = object;
    const namespace = kind === "Namespace" ? metadata.name : (metadata.namespace ?? "default");
    const name = kind === "Namespace" ? "00-namespace" : `${kind.toLowerCase()}-${metadata.name}`;
    const plain = `${namespace}/${name}.yaml`;
    files.set(files.has(plain) ? `${namespace}/${name}.${apiVersion.replace(/\/.*$/, "")}.yaml` : plain, object);
  }
  return files;
}
