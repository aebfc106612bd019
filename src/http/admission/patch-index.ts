/**
 * The workload patches of this cluster, by the Deployment that they are for. A review is answered from here, without a request.
 *
 * Patches come from ConfigMaps of the operator's namespace, which only administrators write. One that is not readable, or whose name is not that of
 * its Deployment, is logged once and has no effect; so is one for a system namespace, where nothing is ever patched.
 */
import { err, type Logger, type Result } from "#base";
import { fieldAt, parseDnsLabel, parseDnsSubdomain, type KubeObject } from "#kube";
import { parseWorkloadPatch, WORKLOAD_PATCH_KEY, workloadPatchName, type WorkloadPatch, type WorkloadTarget } from "#workload-patch";

export type PatchIndexOptions = {
  /** The operator's namespace. */
  readonly home: string;
  readonly logger: Logger;
  /** The set of targets has changed. */
  readonly onTargets?: () => void;
};

export class PatchIndex {
  readonly #options: PatchIndexOptions;
  /** By ConfigMap. */
  readonly #patches = new Map<string, WorkloadPatch>();
  /** By Deployment, as "namespace/name". */
  readonly #byTarget = new Map<string, WorkloadPatch>();
  /** By ConfigMap, the problem that was logged. */
  readonly #problems = new Map<string, string>();

  constructor(options: PatchIndexOptions) {
    this.#options = options;
  }

  find(namespace: string, name: string): WorkloadPatch | undefined {
    return this.#byTarget.get(`${namespace}/${name}`);
  }

  /** In the order of their names, so that equal sets give equal objects. */
  targets(): readonly WorkloadTarget[] {
    return [...this.#byTarget].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { target }]) => target);
  }

  /** The problems of ConfigMaps that have no effect. */
  get ignored(): number {
    return this.#problems.size;
  }

  put(map: KubeObject): void {
    const { name } = map.metadata;
    const read = this.#read(map);
    const before = this.#patches.get(name);
    if (!read.ok) {
      if (this.#problems.get(name) !== read.error)
        this.#options.logger.warn("a workload patch has no effect", { configMap: name, reason: read.error });
      this.#problems.set(name, read.error);
      return this.#forget(name);
    }
    this.#problems.delete(name);
    this.#patches.set(name, read.value);
    this.#byTarget.set(keyOf(read.value.target), read.value);
    if (before === undefined) this.#options.onTargets?.();
  }

  remove(name: string): void {
    this.#problems.delete(name);
    this.#forget(name);
  }

  #forget(name: string): void {
    const before = this.#patches.get(name);
    if (before === undefined) return;
    this.#patches.delete(name);
    this.#byTarget.delete(keyOf(before.target));
    this.#options.onTargets?.();
  }

  #read(map: KubeObject): Result<WorkloadPatch, string> {
    const text = fieldAt(map, "data", WORKLOAD_PATCH_KEY);
    if (typeof text !== "string") return err(`data["${WORKLOAD_PATCH_KEY}"]: is missing`);
    const patch = parseWorkloadPatch(text);
    if (!patch.ok) return patch;
    const { target } = patch.value;
    if (!parseDnsLabel(target.namespace).ok || !parseDnsSubdomain(target.name).ok)
      return err("target: must be the namespace and the name of a Deployment");
    if (isSystemNamespace(target.namespace, this.#options.home))
      return err(`target: Deployments of namespace ${target.namespace} are never patched`);
    if (map.metadata.name !== workloadPatchName(target))
      return err(`metadata.name: must be ${workloadPatchName(target)}, that of the patch for ${keyOf(target)}`);
    return patch;
  }
}

/** A webhook for these could stop the cluster, or the operator itself. */
function isSystemNamespace(namespace: string, home: string): boolean {
  return namespace === home || namespace.startsWith("kube-");
}

function keyOf({ namespace, name }: WorkloadTarget): string {
  return `${namespace}/${name}`;
}
